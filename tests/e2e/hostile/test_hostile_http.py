"""Servers over HTTP that mean harm, or are broken: each gets a verdict, with evidence, in bounded time."""

from __future__ import annotations

import base64
import itertools
import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from discern_server.result import serialize
from discern_server.verbs.era import era
from discern_server.wire.checks import Outcome
from discern_server.wire.expectation import Expectation
from discern_server.wire.limits import Limits
from discern_server.wire.probe import probe_url
from discern_server.wire.report import Report, report_on
from tests.e2e.bounded import within
from tests.e2e.hostile.server import VERSION, HalfCharacters, Server, error
from tests.e2e.raw_http import Answer, listening, nobody, response, send

PATIENT = Limits(answer_s=60, total_s=300, line_bytes=1_000_000, output_bytes=3_000_000)
FAIR = replace(PATIENT, answer_s=3)
"""For those that say something, and then nothing."""
BRIEF = replace(PATIENT, answer_s=1)
"""For those that keep silent, however long one waits."""
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
STATUS = {200: "200 OK", 202: "202 Accepted", 400: "400 Bad Request", 403: "403 Forbidden", 404: "404 Not Found"}

Respond = Callable[[int, dict[str, Any] | None], bytes]


def whole(status: int, body: dict[str, Any] | None) -> bytes:
    return response(json.dumps(body).encode() if body else b"", STATUS[status])


def good(respond: Respond = whole) -> Answer:
    """A server that keeps the rules, answering by `respond(status, body)`."""

    def answer(connection: socket.socket, request: bytes) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        first, *lines = head.decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        if first.startswith("get"):
            connection.sendall(response(b"", "405 Method Not Allowed", headers="Allow: POST\r\n"))
        elif "origin" in headers:
            connection.sendall(whole(403, None))
        else:
            connection.sendall(respond(*decide(json.loads(body), headers)))

    return answer


def decide(message: dict[str, Any], headers: Mapping[str, str]) -> tuple[int, dict[str, Any] | None]:
    if "id" not in message:
        return 202, None
    answer = Server().answer(message)
    meta = message.get("params", {}).get("_meta", {})
    mirrored = (headers.get("mcp-protocol-version"), headers.get("mcp-method"))
    if VERSION in meta and mirrored != (meta[VERSION], message["method"]):
        answer = error(-32020, "headers and body differ")
    code = answer.get("error", {}).get("code")
    status = {None: 200, -32601: 404}.get(code, 400)
    return status, {"jsonrpc": "2.0", "id": message["id"], **answer}


def as_event(status: int, body: dict[str, Any] | None) -> bytes:
    if status != 200:
        return whole(status, body)
    return STREAM + b": hello\n\ndata: " + json.dumps(body).encode() + b"\n\n"


def report(answer: Answer, limits: Limits = PATIENT) -> Report:
    with listening(answer) as url:
        evidence = within(300, lambda: probe_url(url, limits=limits))
    return report_on(evidence, Expectation(revision="2026-07-28", legacy="reject"))


def failed(told: Report) -> set[str]:
    return {check.id for check, finding in told.findings if finding.outcome is Outcome.FAIL}


def hang(*parts: bytes) -> Answer:
    def answer(connection: socket.socket, _request: bytes) -> None:
        for part in parts:
            connection.sendall(part)
        while connection.recv(65536):
            pass

    return answer


def endless(head: bytes, part: bytes, pause_s: float = 0) -> Answer:
    pause = threading.Event()

    def answer(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(head)
        for _ in itertools.count():
            connection.sendall(part)
            pause.wait(pause_s)

    return answer


@pytest.mark.parametrize("respond", [whole, as_event])
def test_a_good_server_passes_every_check_however_it_answers(respond: Respond):
    told = report(good(respond))
    assert failed(told) == set()
    assert told.ok
    assert (told.verdict.kind, told.verdict.revisions) == ("modern-only", ("2026-07-28",))
    assert told.call == ("now", "called now")


def test_a_stream_that_goes_on_after_its_response_is_left():
    pings = threading.Event()

    def answer(connection: socket.socket, request: bytes) -> None:
        good(as_event)(connection, request)
        for _ in itertools.count():
            connection.sendall(b": ping\n\n")
            pings.wait(0.01)

    told = report(answer)
    assert told.verdict.kind == "modern-only"
    assert failed(told) == set()


@pytest.mark.parametrize(
    ("answer", "limits", "evidence"),
    [
        pytest.param(hang(), BRIEF, "no answer: waited 1 s for the response", id="silence"),
        pytest.param(hang(b"HTTP/1.1 200 OK\r\nContent-Le"), BRIEF, "waited 1 s for the response", id="half a head"),
        pytest.param(hang(STREAM), FAIR, "200 no answer: waited 3 s for the rest", id="a silent stream"),
        pytest.param(endless(STREAM, b": ping\n\n", 0.01), FAIR, "waited 3 s for the rest", id="pings for ever"),
        pytest.param(endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.01), BRIEF, "waited 1 s", id="headers for ever"),
    ],
)
def test_what_never_answers_is_no_server_once_its_time_is_over(answer: Answer, limits: Limits, evidence: str):
    assert_no_server(report(answer, limits), evidence)


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        pytest.param(endless(STREAM, b"data: " + b"x" * 99_999 + b"\n\n"), "body exceeds", id="events for ever"),
        pytest.param(endless(STREAM, b"data: {}\n\n" * 9999), "discover: 200 ", id="small ones for ever"),
        pytest.param(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536), "body exceeds", id="a body for ever"),
        pytest.param(send(), "the output ended", id="closed"),
        pytest.param(send(b"SSH-2.0-OpenSSH_9.9\r\n"), "the output ended", id="ssh"),
        pytest.param(send(response(b"<html>")), "200 no JSON-RPC: <html>", id="a web page"),
        pytest.param(send(response(b"[]")), "200 no JSON-RPC: []", id="a list"),
        pytest.param(send(response(b'{"id":1,"result":{}}', "500 Oops")), "500 a result without", id="a lone result"),
        pytest.param(send(response(b"", "204 No Content")), "204 nothing", id="nothing at all"),
        pytest.param(
            send(response(b"", "307 Temporary Redirect", headers="Location: /elsewhere\r\n")),
            "307 redirected to /elsewhere",
            id="a redirect",
        ),
        pytest.param(
            send(response(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}")),
            "200 no JSON-RPC",
            id="nested beyond reason",
        ),
        pytest.param(
            send(response(b"\x1f\x8b\x08", headers="Content-Encoding: gzip\r\n")), "200 no JSON-RPC", id="unasked gzip"
        ),
    ],
)
def test_what_is_no_server_gets_that_verdict_with_the_evidence(answer: Answer, evidence: str):
    assert_no_server(report(answer), evidence)


def assert_no_server(told: Report, evidence: str) -> None:
    assert told.verdict.kind == "not-mcp"
    assert evidence in told.verdict.reason
    assert told.diagnostics[0].rule == "era.not-mcp"


SECRET = "hunter2"


@pytest.mark.parametrize("place", ["http://user:{}@127.0.0.1:{}/mcp", "http://127.0.0.1:{1}/mcp?api_key={0}"])
def test_a_secret_in_the_url_is_used_and_not_shown(place: str):
    requests: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        requests.append(request)
        good()(connection, request)

    with listening(answer) as url:
        told = era(place.format(SECRET, urlsplit(url).port), transcript=True)
    assert told.data is not None
    assert told.data["verdict"] == "modern-only"
    assert "***" in told.data["target"]
    assert SECRET not in json.dumps(serialize(told))
    used = (SECRET.encode(), base64.b64encode(f"user:{SECRET}".encode()))
    assert all(any(form in request for form in used) for request in requests)


@pytest.mark.parametrize(("name", "value"), [("Authorization", f"Bearer {SECRET}\n"), ("X-Key", f"{SECRET}é")])
def test_a_header_that_cannot_be_sent_is_named_without_its_value(name: str, value: str):
    with nobody() as port:
        told = era(f"http://127.0.0.1:{port}/mcp", headers={name: value}, transcript=True)
    assert told.error == "unreachable"
    assert f"the value of the header {name} has a character that no header may have" in (told.message or "")
    assert SECRET not in json.dumps(serialize(told))


def test_where_a_redirect_leads_is_told_without_the_secrets_in_it():
    elsewhere = f"Location: https://a:{SECRET}@example.com/?code={SECRET}\r\n"
    told = report(send(response(b"", "302 Found", headers=elsewhere)))
    assert_no_server(told, "302 redirected to https://***@example.com/?code=***")
    assert SECRET not in "\n".join(told.transcript())


def test_half_characters_go_back_as_they_came():
    seen: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        _head, _, body = request.partition(b"\r\n\r\n")
        message = json.loads(body) if body else {}
        if message.get("method") != "tools/list":
            good()(connection, request)
            return
        seen.append(body)
        reply = {"jsonrpc": "2.0", "id": message["id"], **HalfCharacters().answer(message)}
        connection.sendall(whole(200, reply))

    told = report(answer)
    assert told.verdict.kind == "modern-only"
    assert told.tool_count == 2
    assert any(b'"cursor":"\\ud800"' in body for body in seen)


def test_nobody_there_is_told():
    with nobody() as port:
        told = report_on(probe_url(f"http://127.0.0.1:{port}/mcp", limits=PATIENT), Expectation())
    assert told.verdict.kind == "not-mcp"
    assert told.verdict.reason.startswith(f"cannot connect to http://127.0.0.1:{port}/mcp: ")


def test_one_that_goes_away_halfway_is_judged_by_what_it_said():
    """The listener is closed after the two openings; what comes then is told as not asked."""
    seen = itertools.count(1)
    over = threading.Event()

    def answer(connection: socket.socket, request: bytes) -> None:
        if next(seen) > 8:
            over.set()
            return
        good()(connection, request)

    told = report(answer)
    assert over.is_set()
    assert told.verdict.kind == "modern-only"


def test_the_first_transport_of_all_is_told_as_legacy():
    """HTTP+SSE of 2024-11-05: POST is refused, GET opens a stream whose first event says where to post."""

    def answer(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"GET"):
            hang(STREAM + b"event: endpoint\ndata: /messages?session=1\n\n")(connection, request)
        else:
            connection.sendall(response(b"Method Not Allowed", "405 Method Not Allowed", "text/plain"))

    told = report(answer)
    assert (told.verdict.kind, told.verdict.revisions) == ("legacy-only", ("2024-11-05",))


def test_credentials_reach_the_server_and_no_record():
    def answer(connection: socket.socket, request: bytes) -> None:
        if b"authorization: bearer s3cret\r\n" not in request.lower():
            connection.sendall(response(b"", "401 Unauthorized", headers="WWW-Authenticate: Bearer\r\n"))
        else:
            good()(connection, request)

    assert report(answer).verdict.kind == "not-mcp"
    with listening(answer) as url:
        told = report_on(probe_url(url, headers={"Authorization": "Bearer s3cret"}, limits=PATIENT), Expectation())
    assert told.verdict.kind == "modern-only"
    assert "s3cret" not in "\n".join(told.transcript())
