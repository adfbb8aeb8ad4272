"""``tools/call`` over HTTP: calls per second on eight connections that are kept open."""

from __future__ import annotations

import json
import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from benchmarks import calls, definitions, environments, peers
from benchmarks.client import Batch, cpu_s
from benchmarks.environments import SERVERS
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "tools/call over HTTP, eight connections"
CONNECTIONS: Final = 8
OURS_H11: Final = "discern-server, the parser of the SDK as shipped"
OURS_UVLOOP: Final = "discern-server on uvloop"
SDK_APP: Final = "SDK streamable_http_app"
HANDLER: Final = "TypeScript SDK createMcpHandler"
HANDLER_JSON_SCHEMA: Final = "TypeScript SDK createMcpHandler, fromJsonSchema"
HANDLER_ONCE: Final = "TypeScript SDK createMcpHandler, zod schemas made once"
_FIRST_CALLS: Final = 500
_STARTS_WITHIN_S: Final = 30.0
_ANSWERS_WITHIN_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    Attributes:
        rounds: How often each server has its turn.
        batch: The calls of a turn.
        slow_batch: The calls of a turn where a peer is slow.
        starts: How many new processes of each server are measured.
    """

    rounds: int
    batch: int
    slow_batch: int
    starts: int


FULL: Final = Size(rounds=15, batch=1_000, slow_batch=160, starts=7)
QUICK: Final = Size(rounds=5, batch=400, slow_batch=40, starts=2)

COMMANDS: Final[dict[str, Callable[[Path, int], list[str]]]] = {
    peers.OURS: lambda tools, port: _python("ours", "ours_http.py", tools, port),
    OURS_H11: lambda tools, port: _python("ours", "ours_http.py", tools, port, "h11"),
    OURS_UVLOOP: lambda tools, port: _python("uvloop", "ours_http.py", tools, port),
    SDK_APP: lambda tools, port: _python("sdk", "sdk_http.py", tools, port),
    HANDLER: lambda tools, port: _typescript(tools, port, "zod"),
    HANDLER_JSON_SCHEMA: lambda tools, port: _typescript(tools, port, "json-schema"),
    HANDLER_ONCE: lambda tools, port: _typescript(tools, port, "zod-once"),
}


def _python(environment: str, script: str, tools: Path, port: int, *options: str) -> list[str]:
    return [environments.python(environment), str(SERVERS / script), str(tools), str(port), *options]


def _typescript(tools: Path, port: int, schemas: str) -> list[str]:
    return [*environments.typescript("http.mjs"), str(tools), str(port), schemas]


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about HTTP."""
    few, many = definitions.write_tools(directory, 10), definitions.write_tools(directory, 1_000)
    ten = _measure(size, size.batch, {name: (name, few) for name in COMMANDS})
    thousand = _measure(size, size.slow_batch, {name: (name, many) for name in (peers.OURS, HANDLER)})
    sizes = _measure(size, size.batch, {"ten": (peers.OURS, few), "1,000": (peers.OURS, many)})
    first = alternate(size.starts, {name: _first_calls(name, few) for name in (peers.OURS, HANDLER)})
    return [
        _row("ten tools", ten, peers.OURS, SDK_APP, bar=1.6),
        _row("ten tools", ten, OURS_H11, SDK_APP),
        _row("ten tools", ten, OURS_UVLOOP, SDK_APP),
        _row("ten tools", ten, peers.OURS, HANDLER, bar=8.0),
        _row(f"ten tools, the first {_FIRST_CALLS} calls of a process", first, peers.OURS, HANDLER),
        _row("ten tools", ten, peers.OURS, HANDLER_JSON_SCHEMA),
        _row("ten tools", ten, peers.OURS, HANDLER_ONCE),
        _row("1,000 tools", thousand, peers.OURS, HANDLER, bar=100.0),
        Row(
            group=GROUP,
            what="1,000 tools beside ten: time per call",
            ours=f"1,000 tools: {_rate(sizes['1,000'])}",
            theirs=f"ten: {_rate(sizes['ten'])}",
            value=ratios(*([batch.wall_s for batch in sizes[name]] for name in ("1,000", "ten"))),
            cpu=ratios(*([batch.cpu_s for batch in sizes[name]] for name in ("1,000", "ten"))),
            bar=1.05,
        ),
    ]


def _measure(size: Size, batch: int, servers: Mapping[str, tuple[str, Path]]) -> dict[str, list[Batch]]:
    """Batches of calls to each server, which is named with its command and its tools."""
    with ExitStack() as stack:
        subjects = {}
        for name, (command, tools) in servers.items():
            server = stack.enter_context(HttpServer(COMMANDS[command], tools))
            server.calls(range(calls.WARM_UP_CALLS))
            subjects[name] = _batches(server, batch)
        return alternate(size.rounds, subjects)


def _batches(server: HttpServer, count: int) -> Callable[[int], Batch]:
    return lambda number: server.calls(range(number * count, (number + 1) * count))


def _first_calls(name: str, tools: Path) -> Callable[[int], Batch]:
    def measure(_number: int) -> Batch:
        with HttpServer(COMMANDS[name], tools) as server:
            return server.calls(range(_FIRST_CALLS))

    return measure


def _row(what: str, measured: dict[str, list[Batch]], subject: str, peer: str, *, bar: float | None = None) -> Row:
    ours, theirs = measured[subject], measured[peer]
    return Row(
        group=GROUP,
        what=f"{what}: how many times as fast",
        ours=f"{subject}: {_rate(ours)}",
        theirs=f"{peer}: {_rate(theirs)}",
        value=ratios([batch.wall_s for batch in theirs], [batch.wall_s for batch in ours]),
        cpu=ratios([batch.cpu_s for batch in theirs], [batch.cpu_s for batch in ours]),
        bar=bar,
        at_least=True,
    )


def _rate(batches: Sequence[Batch]) -> str:
    return f"{Spread.of([len(batch.answers) / batch.wall_s for batch in batches]).median:,.0f}/s"


class HttpServer:
    """A server process that listens on a free port of the loopback interface, and the connections to it."""

    def __init__(self, command: Callable[[Path, int], list[str]], tools: Path) -> None:
        port = _free_port()
        self._host = f"127.0.0.1:{port}"
        self._process = subprocess.Popen(
            command(tools, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        self._connections = [_Connection(_connect(port)) for _ in range(CONNECTIONS)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        for connection in self._connections:
            connection.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def calls(self, numbers: Sequence[int]) -> Batch:
        """Make the calls with these numbers, one at a time on each connection, and check the answers afterwards."""
        requests = iter([self._request(definitions.call(number)) for number in numbers])
        responses: list[bytes] = []
        cpu = cpu_s(self._process.pid)
        start = time.perf_counter()
        with selectors.DefaultSelector() as selector:
            for connection, request in zip(self._connections, requests, strict=False):
                selector.register(connection, selectors.EVENT_READ, connection)
                connection.ask(request)
            while selector.get_map():
                ready = selector.select(_ANSWERS_WITHIN_S)
                if not ready:
                    raise TimeoutError(f"no answer within {_ANSWERS_WITHIN_S:g} s: {self._process.args!r}")
                for key, _ in ready:
                    _go_on(selector, key.data, requests, responses)
        took = time.perf_counter() - start
        batch = Batch(took, cpu_s(self._process.pid) - cpu, [_body(response) for response in responses])
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


class _Connection:
    """A connection that is kept open, with at most one request on it."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._received = b""

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> None:
        self._received = b""
        self._socket.sendall(request)

    def receive(self) -> bytes | None:
        """The whole response, or None while more of it is to come."""
        part = self._socket.recv(1 << 16)
        if not part:
            raise EOFError("the server closed a connection")
        self._received += part
        return self._received if _is_whole(self._received) else None


def _go_on(
    selector: selectors.BaseSelector, connection: _Connection, requests: Iterator[bytes], responses: list[bytes]
) -> None:
    """Take what has come on a connection; where its response is whole, send the next request."""
    response = connection.receive()
    if response is None:
        return
    responses.append(response)
    request = next(requests, None)
    if request is None:
        selector.unregister(connection)
    else:
        connection.ask(request)


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
