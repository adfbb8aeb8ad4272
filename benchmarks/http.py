"""``tools/call`` over HTTP: time per call on one connection that is kept open."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from benchmarks import definitions, environments, peers
from benchmarks.client import Batch, cpu_s
from benchmarks.environments import SERVERS
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "tools/call over HTTP"
HANDLER: Final = "TypeScript SDK createMcpHandler"
HANDLER_ONCE: Final = "TypeScript SDK createMcpHandler, validators made once"
SDK_APP: Final = "SDK streamable_http_app"
_STARTS_WITHIN_S: Final = 30.0
_ANSWERS_WITHIN_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    batch: int
    slow_batch: int


FULL: Final = Size(rounds=15, batch=200, slow_batch=20)
QUICK: Final = Size(rounds=5, batch=100, slow_batch=5)

COMMANDS: Final[dict[str, Callable[[Path, int], list[str]]]] = {
    peers.OURS: lambda tools, port: _python("ours", "ours_http.py", tools, port),
    SDK_APP: lambda tools, port: _python("sdk", "sdk_http.py", tools, port),
    HANDLER: lambda tools, port: [*environments.typescript("http.mjs"), str(tools), str(port)],
    HANDLER_ONCE: lambda tools, port: [*environments.typescript("http.mjs"), str(tools), str(port), "--once"],
}


def _python(environment: str, script: str, tools: Path, port: int) -> list[str]:
    return [environments.python(environment), str(SERVERS / script), str(tools), str(port)]


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about HTTP."""
    ten = _measure(size, definitions.write_tools(directory, 10), size.batch, [*COMMANDS])
    many = _measure(size, definitions.write_tools(directory, 1_000), size.slow_batch, [peers.OURS, HANDLER])
    return [
        _row("ten tools", SDK_APP, ten, bar=1.6),
        _row("ten tools", HANDLER, ten, bar=8.0),
        _row("ten tools", HANDLER_ONCE, ten),
        _row("1,000 tools", HANDLER, many, bar=100.0),
    ]


def _measure(size: Size, tools: Path, batch: int, names: Sequence[str]) -> dict[str, list[Batch]]:
    with ExitStack() as stack:
        subjects = {}
        for name in names:
            server = stack.enter_context(HttpServer(COMMANDS[name], tools))
            server.calls(range(batch))
            subjects[name] = _batches(server, batch)
        return alternate(size.rounds, subjects)


def _batches(server: HttpServer, count: int) -> Callable[[int], Batch]:
    return lambda number: server.calls(range(number * count, (number + 1) * count))


def _row(what: str, peer: str, measured: dict[str, list[Batch]], *, bar: float | None = None) -> Row:
    ours, theirs = measured[peers.OURS], measured[peer]
    return Row(
        group=GROUP,
        what=f"{what}: how many times as fast",
        ours=f"{peers.OURS}: {_rate(ours)}",
        theirs=f"{peer}: {_rate(theirs)}",
        value=ratios([batch.wall_s for batch in theirs], [batch.wall_s for batch in ours]),
        cpu=ratios([batch.cpu_s for batch in theirs], [batch.cpu_s for batch in ours]),
        bar=bar,
        at_least=True,
    )


def _rate(batches: Sequence[Batch]) -> str:
    return f"{Spread.of([len(batch.answers) / batch.wall_s for batch in batches]).median:,.0f}/s"


class HttpServer:
    """A server process that listens on a free port of the loopback interface, and one connection to it."""

    def __init__(self, command: Callable[[Path, int], list[str]], tools: Path) -> None:
        port = _free_port()
        self._host = f"127.0.0.1:{port}"
        self._process = subprocess.Popen(
            command(tools, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        self._connection = _connect(port)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._connection.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def calls(self, numbers: Sequence[int]) -> Batch:
        """Make the calls with these numbers one by one, and check the answers afterwards."""
        requests = [self._request(definitions.call(number)) for number in numbers]
        cpu = cpu_s(self._process.pid)
        start = time.perf_counter()
        answers = [self._ask(request) for request in requests]
        batch = Batch(
            time.perf_counter() - start, cpu_s(self._process.pid) - cpu, [_body(answer) for answer in answers]
        )
        definitions.check_calls(numbers, batch.answers)
        return batch

    def _request(self, line: bytes) -> bytes:
        body = line.strip()
        head = [
            "POST /mcp HTTP/1.1",
            f"Host: {self._host}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
            f"Mcp-Protocol-Version: {definitions.REVISION}",
            "Mcp-Method: tools/call",
            f"Mcp-Name: {json.loads(body)['params']['name']}",
        ]
        return "\r\n".join(head).encode("ascii") + b"\r\n\r\n" + body

    def _ask(self, request: bytes) -> bytes:
        """Send one request; return the whole response."""
        self._connection.sendall(request)
        received = b""
        while not _is_whole(received):
            part = self._connection.recv(1 << 16)
            if not part:
                raise EOFError(f"the server left: {self._process.args!r}")
            received += part
        return received


def _is_whole(response: bytes) -> bool:
    head, found, body = response.partition(b"\r\n\r\n")
    if not found:
        return False
    length = _content_length(head)
    return body.endswith(b"0\r\n\r\n") if length is None else len(body) >= length


def _content_length(head: bytes) -> int | None:
    """What the header says; None for a body in chunks."""
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.split(b"\r\n", 1)[0]) if found else None


def _body(response: bytes) -> bytes:
    head, _, body = response.partition(b"\r\n\r\n")
    if _content_length(head) is not None:
        return body
    chunks = []
    while body:
        size, _, body = body.partition(b"\r\n")
        chunks.append(body[: int(size, 16)])
        body = body[int(size, 16) + 2 :]
    return b"".join(chunks)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _connect(port: int) -> socket.socket:
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=_ANSWERS_WITHIN_S)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
