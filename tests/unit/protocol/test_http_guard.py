"""Bounds on the head of a request, on a real socket, with both of uvicorn's protocols."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from discern_server.protocol.http_guard import guarded

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def serving(protocol: type, head_timeout_s: float) -> Iterator[int]:
    config = uvicorn.Config(
        app, http=guarded(protocol, head_timeout_s=head_timeout_s), lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received


PROTOCOLS = pytest.mark.parametrize("protocol", [HttpToolsProtocol, H11Protocol])


@PROTOCOLS
@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: a"], ids=["nothing", "half a head"])
def test_a_connection_on_which_no_head_is_completed_is_closed(protocol, begun):
    with serving(protocol, 0.2) as port, connected(port) as connection:
        connection.sendall(begun)
        assert rest_of(connection) == b""


@PROTOCOLS
def test_half_a_head_after_a_whole_request_is_closed_too(protocol):
    with serving(protocol, 0.2) as port, connected(port) as connection:
        connection.sendall(REQUEST)
        assert connection.recv(65536).startswith(b"HTTP/1.1 204")
        connection.sendall(REQUEST[:10])
        assert rest_of(connection) == b""


@PROTOCOLS
def test_between_requests_a_connection_is_kept(protocol):
    with serving(protocol, 0.2) as port, connected(port) as connection, connected(port) as closed_meanwhile:
        connection.sendall(REQUEST)
        assert connection.recv(65536).startswith(b"HTTP/1.1 204")
        assert rest_of(closed_meanwhile) == b""
        connection.sendall(REQUEST)
        assert connection.recv(65536).startswith(b"HTTP/1.1 204")


def send_head_without_end(connection: socket.socket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nX: ")
    for _ in range(1024):  # 64 MiB: far more than sockets hold
        connection.sendall(b"a" * 65536)


@PROTOCOLS
@pytest.mark.parametrize("before", [b"", REQUEST], ids=["the first", "a pipelined one"])
def test_a_head_without_end_is_refused_and_the_connection_closed(protocol, before):
    with serving(protocol, 30) as port, connected(port) as connection:
        connection.sendall(before)
        with pytest.raises(ConnectionError):
            send_head_without_end(connection)
