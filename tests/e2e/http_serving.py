"""A server process that speaks HTTP on a free port of the loopback interface."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discern_server.wire.http import HttpServer, standard_headers
from discern_server.wire.messages import encode
from discern_server.wire.stdio import StdioServer

_ANNOUNCEMENT = "Serving MCP at "


class Served:
    """A running server: its process, and its endpoint."""

    def __init__(self, process: StdioServer) -> None:
        self.process = process
        self.url = process.stderr.partition(_ANNOUNCEMENT)[2].partition(";")[0]
        self.http = HttpServer(self.url)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def at(self, path: str) -> HttpServer:
        """Another path of the same server."""
        return HttpServer(f"http://127.0.0.1:{self.port}{path}")

    def open(self, message: Mapping[str, Any], head: str | None = None) -> socket.socket:
        """A connection over which `message` was posted, with the headers it asks for or with those of `head`."""
        if head is None:
            head = "".join(f"{name}: {value}\r\n" for name, value in standard_headers(message).items())
        body = encode(message)
        connection = socket.create_connection(("127.0.0.1", self.port), 20)
        host = f"Host: 127.0.0.1:{self.port}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{host}{head}\r\n".encode() + body)
        return connection


def read_until(connection: socket.socket, text: bytes = b"") -> bytes:
    """What comes until `text` is in it, or to the end where it is not."""
    received = b""
    while not (text and text in received) and (chunk := connection.recv(65536)):
        received += chunk
    return received


@contextlib.contextmanager
def serving_command(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Run `command` until it says where it listens; it is ended afterwards."""
    with StdioServer(command, env=env) as process:
        process.give_up()  # an HTTP server does not end with its standard input
        process.wait_for_stderr(_ANNOUNCEMENT)
        process.wait_for_stderr("ends it")
        yield Served(process)


@contextlib.contextmanager
def serving(script: str, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Run `script`, which lies beside this file, on any free port."""
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments, "http", "0"]
    with serving_command(command, env=env) as served:
        yield served
