"""The raw HTTP client over real sockets: each exchange ends, and tells how."""

from __future__ import annotations

import itertools
import json
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from discern_server.wire.errors import ConnectError, EndedError, SilenceError, TooMuchError
from discern_server.wire.http import HttpServer
from discern_server.wire.limits import Limits
from discern_server.wire.messages import initialize, modern_request
from tests.e2e.bounded import PATIENT
from tests.e2e.raw_http import Answer, listening, nobody, response, send

RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def until_closed(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def then_hang(*parts: bytes) -> Answer:
    def answer(connection: socket.socket, _request: bytes) -> None:
        for part in parts:
            connection.sendall(part)
        until_closed(connection)

    return answer


def repeat(head: bytes, part: bytes, pause: threading.Event | None = None) -> Answer:
    def answer(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(head)
        for _ in itertools.count():
            connection.sendall(part)
            if pause:
                pause.wait(0.02)

    return answer


def test_a_json_body_is_the_answer():
    with listening(send(response(RESULT))) as url:
        answer = HttpServer(url, limits=PATIENT).ask(modern_request("server/discover"))
    assert (answer.status, answer.fault) == (200, None)
    assert answer.response(1) == json.loads(RESULT)
    assert answer.response(2) is None


def test_the_request_is_sent_as_it_was_asked_for():
    requests = []

    def answer(connection: socket.socket, request: bytes) -> None:
        requests.append(request)
        connection.sendall(response(RESULT))

    with listening(answer) as url:
        server = HttpServer(url, headers={"Authorization": "Bearer s3cret"}, limits=PATIENT)
        server.ask(modern_request("x"), headers={"mcp-method": None, "Accept": "text/html", "Mcp-Extra": "1"})
        server.ask(initialize())
    first, second = (request.decode().partition("\r\n\r\n")[0].lower().split("\r\n") for request in requests)
    assert first[0] == "post /mcp http/1.1"
    assert {"accept: text/html", "mcp-extra: 1", "mcp-protocol-version: 2026-07-28"} <= set(first)
    assert not any(line.startswith("mcp-method") for line in first)
    assert "authorization: bearer s3cret" in first
    assert not any(line.startswith("mcp-") for line in second)
    assert "s3cret" not in str(server.transcript)
    assert "Authorization: (not shown)" in str(server.transcript)


def test_an_event_stream_is_read_up_to_the_response_and_no_further():
    note = b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
    with listening(then_hang(STREAM_HEAD, b": ping\n\n", note, b"data: " + RESULT + b"\n\n")) as url:
        answer = HttpServer(url, limits=PATIENT).ask(modern_request("x"))
    assert answer.fault is None
    assert [message.get("method") for message in answer.messages] == ["notifications/progress", None]
    assert answer.response(1)


def test_a_stream_may_be_left_after_its_headers_or_its_first_event():
    with listening(then_hang(STREAM_HEAD, b"event: endpoint\ndata: /m\n\n")) as url:
        server = HttpServer(url, limits=PATIENT)
        assert server.exchange("GET", max_events=0).status == 200
        assert [event.name for event in server.exchange("GET", max_events=1).events] == ["endpoint"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(then_hang(), id="nothing"),
        pytest.param(then_hang(b"HTTP/1.1 200 OK\r\nContent-"), id="half a head"),
        pytest.param(then_hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"), id="half a body"),
        pytest.param(then_hang(STREAM_HEAD), id="silent stream"),
        pytest.param(repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n", threading.Event()), id="continue for ever"),
        pytest.param(repeat(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", threading.Event()), id="dripping head"),
        pytest.param(repeat(STREAM_HEAD, b": ping\n\n", threading.Event()), id="pings for ever"),
    ],
)
def test_an_answer_that_never_ends_is_bounded_as_a_whole(answer: Answer):
    with listening(answer) as url:
        got = HttpServer(url, limits=PATIENT).ask(modern_request("x"), timeout_s=0.5)
    assert isinstance(got.fault, SilenceError)
    assert got.response(1) is None


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(send(), id="closed at once"),
        pytest.param(send(b"SSH-2.0-OpenSSH_9\r\n"), id="not http"),
        pytest.param(send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"), id="cut body"),
        pytest.param(send(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), id="broken head"),
    ],
)
def test_a_broken_exchange_is_told(answer: Answer):
    with listening(answer) as url:
        assert isinstance(HttpServer(url, limits=PATIENT).ask(modern_request("x")).fault, EndedError)


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", STREAM_HEAD], ids=["chunks", "events"]
)
def test_a_body_without_end_is_not_read_for_ever(head: bytes):
    part = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    with listening(repeat(head, part)) as url:
        answer = HttpServer(url, limits=Limits(answer_s=60, line_bytes=500_000)).ask(modern_request("x"))
    assert isinstance(answer.fault, TooMuchError)
    assert len(answer.body) <= 500_000


def test_a_redirect_is_evidence_and_not_followed():
    moved = response(b"", "307 Temporary Redirect", headers="Location: http://elsewhere.example/\r\n")
    with listening(send(moved)) as url:
        answer = HttpServer(url, limits=PATIENT).ask(modern_request("x"))
    assert (answer.status, answer.header("location")) == (307, "http://elsewhere.example/")


def test_a_compressed_body_is_not_unpacked():
    with listening(send(response(b"\x1f\x8b", headers="Content-Encoding: gzip\r\n"))) as url:
        answer = HttpServer(url, limits=PATIENT).ask(modern_request("x"))
    assert answer.body == b"\x1f\x8b"
    assert answer.messages == ()


def test_nobody_there_is_told():
    with nobody() as port:
        answer = HttpServer(f"http://127.0.0.1:{port}/", limits=PATIENT).ask(modern_request("x"))
    assert isinstance(answer.fault, ConnectError)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1:99999/",
        "http://[::1",
        "http://",
        "http:///mcp",
        "http://two words/",
        "http://\ud800/",
        "http://127.0.0.1/\x00",
        "nothing",
        "",
    ],
)
def test_what_is_no_address_is_told(url: str):
    assert isinstance(HttpServer(url, limits=PATIENT).ask(modern_request("x"), timeout_s=2).fault, ConnectError)


def test_a_header_that_cannot_be_sent_is_told():
    for value in ("two\nlines", "caf\u00e9 \u2603"):
        server = HttpServer("http://127.0.0.1:9/", headers={"Authorization": value}, limits=PATIENT)
        assert server.ask(modern_request("x")).fault is not None


def test_plain_http_behind_https_is_a_fault_of_the_connection():
    with listening(send(b"HTTP/1.1 400 Bad Request\r\n\r\n"), read=lambda connection: connection.recv(9)) as url:
        answer = HttpServer(url.replace("http:", "https:"), limits=PATIENT).ask(modern_request("x"))
    assert isinstance(answer.fault, ConnectError)


def test_a_certificate_that_nobody_vouches_for_is_a_fault_of_the_connection(tmp_path: Path):
    context = self_signed(tmp_path)

    def shake_hands(connection: socket.socket) -> bytes:
        with context.wrap_socket(connection, server_side=True) as secured:
            return secured.recv(1)

    with listening(send(), read=shake_hands) as url:
        answer = HttpServer(url.replace("http:", "https:"), limits=PATIENT).ask(modern_request("x"))
    assert isinstance(answer.fault, ConnectError)
    assert "certificate verify failed" in str(answer.fault)


def self_signed(directory: Path) -> ssl.SSLContext:
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(hours=1))
    pem = serialization.Encoding.PEM
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = directory / "server.pem"
    file.write_bytes(plain + builder.sign(key, hashes.SHA256()).public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_the_transcript_shows_status_and_bodies():
    with listening(send(response(RESULT, headers="Mcp-Session-Id: 7\r\n"))) as url:
        server = HttpServer(url, limits=PATIENT)
        server.ask(initialize())
    lines = [f"{entry.direction} {entry.text}" for entry in server.transcript.entries]
    assert lines[0].startswith("> POST /mcp, Content-Type: application/json")
    assert '"method":"initialize"' in lines[1]
    assert lines[2] == "< HTTP 200, content-type: application/json, mcp-session-id: 7"
    assert lines[3] == f"< {RESULT.decode()}"
