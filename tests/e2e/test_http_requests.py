"""Requests over HTTP: streams, cancellation, mirrored headers, limits, hosts and origins."""

from __future__ import annotations

import concurrent.futures
import json
import socket

import pytest

from discern_server.wire.http import standard_headers
from discern_server.wire.messages import initialize, modern_request, request
from tests.e2e.bounded import PATIENCE_S
from tests.e2e.http_serving import Served, read_until, serving

ANSWERS = ["auto", "json", "stream"]


@pytest.fixture(scope="module", params=ANSWERS)
def served(request):
    with serving("wire_server.py", "--answers", request.param) as served:
        yield served


@pytest.fixture(scope="module")
def auto():
    with serving("wire_server.py") as served:
        yield served


@pytest.fixture(scope="module")
def streaming():
    with serving("wire_server.py", "--answers", "stream") as served:
        yield served


@pytest.fixture
def server(served):
    return served.http


def call(name: str, arguments: dict, *, id: int = 1, **meta: object) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments, "_meta": meta}, id=id)


# --- what comes back ----------------------------------------------------------------------------------


@pytest.mark.requirement(35, 76, 84, 85)
def test_a_request_that_asks_for_progress_is_answered_with_a_stream(auto, streaming):
    for served in (auto, streaming):
        answer = served.http.ask(call("slow", {"seconds": 0}, progressToken="p"))
        assert answer.is_event_stream
        assert answer.header("x-accel-buffering") == "no"
        notes = [message["params"] for message in answer.messages if "method" in message]
        assert [note["progress"] for note in notes] == [1, 2, 3, 4]
        assert {note["progressToken"] for note in notes} == {"p"}
        assert answer.messages[-1]["result"]["content"][0]["text"] == "slow done"


@pytest.mark.requirement(76)
def test_a_request_that_asks_for_nothing_is_answered_with_json(server):
    answer = server.ask(call("echo", {"text": "x"}))
    assert answer.header("content-type") == "application/json"


def test_a_client_that_accepts_json_alone_gets_json_where_it_asks_for_progress(auto):
    message = call("slow", {"seconds": 0}, progressToken="p")
    answer = auto.http.ask(message, headers={"Accept": "application/json"})
    assert answer.status == 200
    assert answer.header("content-type") == "application/json"


def test_an_accept_header_in_two_lines_is_one(streaming):
    message = call("echo", {"text": "x"})
    head = "".join(f"{name}: {value}\r\n" for name, value in standard_headers(message).items() if name != "Accept")
    accepts = "Accept: application/json\r\nAccept: text/event-stream\r\n"
    with streaming.open(message, head + accepts) as connection:
        assert read_until(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.requirement(81)
def test_white_space_around_a_header_is_no_part_of_it(auto):
    message = call("echo", {"text": "x"})
    head = "".join(f"{name}: \t {value} \t\r\n" for name, value in standard_headers(message).items())
    with auto.open(message, head) as connection:
        assert read_until(connection).startswith(b"HTTP/1.1 200 ")


@pytest.mark.requirement(55, 79)
def test_an_unknown_method_is_404_and_a_failing_tool_tells_nothing(server):
    answer = server.ask(modern_request("no/such"))
    assert (answer.status, answer.response(1)["error"]["code"]) == (404, -32601)
    answer = server.ask(call("boom", {}))
    assert (answer.status, answer.response(1)["result"]["isError"]) == (200, True)
    assert b"secret" not in answer.body


@pytest.mark.requirement(52, 65)
@pytest.mark.parametrize(
    "message",
    [
        modern_request("tools/call", {"arguments": {}}),
        modern_request("tools/call", {"name": "echo", "arguments": []}),
        modern_request("tools/list", {"_meta": {"io.modelcontextprotocol/logLevel": "loud"}}),
    ],
    ids=["no name", "arguments that are no object", "no log level"],
)
def test_a_request_that_is_not_as_its_method_asks_is_refused(server, message):
    answer = server.ask(message)
    assert (answer.status, answer.response(1)["error"]["code"]) == (400, -32602)


@pytest.mark.requirement(19)
def test_requests_are_served_at_the_same_time(server):
    calls = [call("slow", {"seconds": 0.4}, id=number) for number in range(1, 9)]
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        answers = list(pool.map(server.ask, calls))
    for number, answer in enumerate(answers, 1):
        assert answer.response(number)["result"]["content"][0]["text"] == "slow done"


# --- cancellation: the client goes away ---------------------------------------------------------------


@pytest.fixture(params=ANSWERS)
def fresh(request):
    """A server of its own for each test: what it logs is then the test's."""
    with serving("wire_server.py", "--answers", request.param, "--legacy", "serve") as served:
        yield served


def leave_while_slow_runs(served: Served, message: dict) -> None:
    with served.open(message):
        served.process.wait_for_stderr("slow started: 60 s")
    served.process.wait_for_stderr("slow cancelled")


@pytest.mark.requirement(30, 32)
def test_a_client_that_leaves_cancels_its_request(fresh):
    leave_while_slow_runs(fresh, call("slow", {"seconds": 60}))


@pytest.mark.requirement(30, 32)
def test_a_client_that_leaves_a_stream_cancels_its_request(fresh):
    leave_while_slow_runs(fresh, call("slow", {"seconds": 60}, progressToken=1))


def test_a_legacy_client_that_leaves_cancels_its_request(fresh):
    leave_while_slow_runs(fresh, request("tools/call", {"name": "slow", "arguments": {"seconds": 60}}))


@pytest.mark.requirement(32)
def test_a_client_that_leaves_cancels_no_request_but_its_own(fresh):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(fresh.http.ask, call("slow", {"seconds": 1}))
        leave_while_slow_runs(fresh, call("slow", {"seconds": 60}))
        assert other.result(PATIENCE_S).response(1)["result"]["content"][0]["text"] == "slow done"


def test_a_client_that_leaves_within_its_body_leaves_nothing_behind(fresh):
    with socket.create_connection(("127.0.0.1", fresh.port), PATIENCE_S) as connection:
        head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n{{".encode())
    assert fresh.http.ask(call("echo", {"text": "x"})).status == 200
    assert "Traceback" not in fresh.process.stderr


# --- headers that mirror arguments --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("region", "header", "status"),
    [
        ("us-west1", "us-west1", 200),
        ("us-west1", "=?base64?dXMtd2VzdDE=?=", 200),
        ("us-west1", None, 400),
        ("us-west1", "eu-west1", 400),
        ("us-west1", "=?base64?dXMtd2VzdDE?=", 400),
    ],
)
@pytest.mark.requirement(82, 83)
def test_an_argument_that_is_mirrored_into_a_header_must_agree_with_it(server, region, header, status):
    answer = server.ask(call("where", {"region": region}), headers={"Mcp-Param-Region": header})
    assert answer.status == status
    if status == 400:
        assert answer.response(1)["error"]["code"] == -32020


@pytest.mark.requirement(82)
def test_a_parameter_header_that_no_argument_asks_for_is_ignored(server):
    answer = server.ask(call("echo", {"text": "x"}), headers={"Mcp-Param-Region": "us-west1"})
    assert answer.status == 200


@pytest.mark.requirement(87)
def test_a_session_id_is_neither_read_nor_given(server):
    for message in (modern_request("server/discover"), modern_request("no/such"), initialize()):
        answer = server.ask(message, headers={"Mcp-Session-Id": "stale", "Last-Event-ID": "7"})
        assert answer.header("mcp-session-id") is None


# --- limits, hosts, origins, other paths --------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused(server):
    answer = server.ask(call("echo", {"text": "a" * (4 << 20)}))
    assert answer.status == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://localhost:{port}"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
    ids=str,
)
@pytest.mark.requirement(74)
def test_only_loopback_hosts_and_origins_are_served_by_default(served, headers, status):
    told = {name: value.replace("{port}", str(served.port)) for name, value in headers.items()}
    for message in (modern_request("tools/list"), initialize()):
        answer = served.http.ask(message, headers=told)
        assert answer.status == (400 if status == 200 and message["method"] == "initialize" else status)


def test_a_load_balancer_is_told_that_the_server_serves(served):
    answer = served.at("/health").exchange("GET", headers={"Host": "10.0.0.1"})
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})


def test_other_paths_are_not_found_and_a_slash_at_the_end_is_no_other_path(served):
    assert served.at("/").exchange("POST").status == 404
    assert served.at("/mcp/x").ask(modern_request("tools/list")).status == 404
    assert served.at("/mcp/").ask(modern_request("tools/list")).status == 200
