"""A server process that speaks HTTP on a free port of the loopback interface."""

from __future__ import annotations

import contextlib
import random
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discern_server.wire.http import HttpServer, standard_headers
from discern_server.wire.messages import encode
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENCE_S, PATIENT

_ANNOUNCEMENT = "Serving MCP at "


class Served:
    """A running server: its process, and its endpoint."""

    def __init__(self, process: StdioServer) -> None:
        self.process = process
        self.url = process.stderr.partition(_ANNOUNCEMENT)[2].partition(";")[0]
        self.http = HttpServer(self.url, limits=PATIENT)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    def at(self, path: str) -> HttpServer:
        """Another path of the same server."""
        return HttpServer(f"http://127.0.0.1:{self.port}{path}", limits=PATIENT)

    def open(self, message: Mapping[str, Any], head: str | None = None) -> socket.socket:
        """A connection over which `message` was posted, with the headers it asks for or with those of `head`."""
        if head is None:
            head = "".join(f"{name}: {value}\r\n" for name, value in standard_headers(message).items())
        body = encode(message)
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
        host = f"Host: 127.0.0.1:{self.port}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{host}{head}\r\n".encode() + body)
        return connection


def read_until(connection: socket.socket, text: bytes = b"") -> bytes:
    """What comes until `text` is in it, or to the end where it is not.

    A server that refuses what it has not read to its end resets the connection after its answer.
    """
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while not (text and text in received) and (chunk := connection.recv(65536)):
            received += chunk
    return received


@contextlib.contextmanager
def serving_command(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Run `command` until it says where it listens; it is ended afterwards."""
    with StdioServer(command, env=env, limits=PATIENT) as process:
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


@contextlib.contextmanager
def uvicorn(module: str, folder: Path) -> Iterator[str]:
    """Run the ``app`` of a module in `folder` with uvicorn; yields where it listens."""
    command = [sys.executable, "-m", "uvicorn", f"{module}:app", "--port", "0"]
    with StdioServer(command, cwd=folder, limits=PATIENT) as process:
        process.give_up()
        process.wait_for_stderr("Press CTRL+C")
        yield re.findall(r"running on (http://\S+)", process.stderr)[0]


def free_ports(count: int) -> int:
    """The first of `count` ports in a row that nobody listens on.

    They are below those that the kernel gives to who asks for any port; two runs at once seldom choose alike.
    """
    blocks = range(20000, 30000, count)
    for first in random.sample(blocks, len(blocks)):
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise OSError(f"no {count} free ports in a row")
