"""HTTP clients that mean harm, or are broken: what they get, and that others are served all the while."""

from __future__ import annotations

import socket

import pytest

from discern_server.wire.http import standard_headers
from discern_server.wire.messages import encode, modern_request
from tests.e2e.bounded import PATIENCE_S
from tests.e2e.http_serving import Served, read_until, serving

LIST = modern_request("tools/list")


@pytest.fixture(scope="module")
def served():
    with serving("wire_server.py") as served:
        yield served


@pytest.fixture(autouse=True)
def others_are_served(served):
    yield
    assert served.http.ask(LIST).status == 200
    assert "Traceback" not in served.process.stderr


def raw(served: Served, head: bytes, body: bytes = b"") -> tuple[int, bytes]:
    """The status and the whole answer to a request of these bytes; ``Connection: close`` is added."""
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n" + body)
        answer = read_until(connection)
    return int(answer.split(b" ", 2)[1]), answer


def post(served: Served, message: dict, *more: bytes, without: str = "") -> tuple[int, bytes]:
    """Post `message` with its headers, less the one called `without`, and with `more`."""
    body = encode(message)
    named = {name: value for name, value in standard_headers(message).items() if name.lower() != without}
    lines = [
        b"POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}".encode(),
        f"Content-Length: {len(body)}".encode(),
        *(f"{name}: {value}".encode() for name, value in named.items()),
        *more,
    ]
    return raw(served, b"".join(line + b"\r\n" for line in lines), body)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT", "PATCH"])
def test_every_method_but_post_is_told_that_there_is_post_alone(served, method):
    status, answer = raw(served, f"{method} /mcp HTTP/1.1\r\nHost: localhost\r\n".encode())
    assert status == 405
    assert b"allow: POST\r\n" in answer


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (b"Host: evil.example", b"host header appears more than once"),
        (b"Authorization: Bearer a\r\nAuthorization: Bearer b", b"authorization header appears more than once"),
        (b"Origin: http://localhost\r\nOrigin: http://evil.example", b"origin header appears more than once"),
        (b"Content-Type: text/plain", b"content-type header appears more than once"),
        (b"Mcp-Method: tools/call", b"-32020"),
        (b"MCP-Protocol-Version: 2025-11-25", b"-32020"),
        (b"Content-Length: 5", b"Invalid HTTP request"),
        (b"Transfer-Encoding: chunked", b"Invalid HTTP request"),
    ],
    ids=lambda value: value.partition(b":")[0].decode(),
)
def test_a_header_that_two_readers_could_take_differently_is_refused(served, header, told):
    status, answer = post(served, LIST, header)
    assert status == 400
    assert told in answer


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        (b"application/json; charset=utf-8", 200),
        (b"Application/JSON", 200),
        (b"application/jsonx", 400),
        (b"application/json-patch+json", 400),
        (b"text/plain", 400),
        (b"", 400),
    ],
)
def test_a_body_is_taken_as_json_alone(served, content_type, status):
    assert post(served, LIST, b"Content-Type: " + content_type, without="content-type")[0] == status


@pytest.mark.parametrize(
    "headers",
    [b"\r\n".join(b"X-%d: a" % number for number in range(3000)), b"X: " + b"a" * 100_000],
    ids=["many", "large"],
)
def test_more_headers_than_anyone_sends_are_refused_at_once(served, headers):
    assert post(served, LIST, headers)[0] == 431


def test_a_head_without_end_is_cut_off(served):
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nX: ")
        with pytest.raises(ConnectionError):
            send_for_ever(connection, b"a" * 65536)


def test_a_body_of_chunks_without_end_is_refused_and_cut_off(served):
    head = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        with pytest.raises(ConnectionError):
            send_for_ever(connection, b"10000\r\n" + b"a" * 65536 + b"\r\n")


def send_for_ever(connection: socket.socket, piece: bytes) -> None:
    for _ in range(1024):  # 64 MiB: far more than sockets hold
        connection.sendall(piece)


@pytest.mark.parametrize("value", [b"caf\xc3\xa9", b"=?base64?%%%?=", b"=?base64?/w==?=", b"\t"])
def test_a_name_header_that_is_no_ascii_or_no_base64_is_a_mismatch(served, value):
    message = modern_request("tools/call", {"name": "café", "arguments": {}})
    status, answer = post(served, message, b"Mcp-Name: " + value, without="mcp-name")
    assert (status, b"-32020" in answer) == (400, True)


def test_as_many_connections_as_one_client_may_open_keep_nobody_out(served):
    """Each of them with half a request."""
    connections = []
    try:
        for _ in range(300):
            connection = socket.create_connection(("127.0.0.1", served.port), PATIENCE_S)
            connections.append(connection)
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
        assert served.http.ask(LIST).status == 200
    finally:
        for connection in connections:
            connection.close()
