"""A real HTTP server on loopback that answers from a script and remembers what it was asked."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first field of this name."""
        return next((text for field, text in self.headers if field.lower() == name.lower()), None)


Script = Callable[["Handler"], None]


def reply(status: int = 200, body: bytes | str = b"{}", *, gzipped: bool = False, **headers: str) -> Script:
    """Answer so; header names are given with underscores."""
    content = body.encode() if isinstance(body, str) else body

    def answer(handler: Handler) -> None:
        fields = {"Content-Type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        data = gzip.compress(content) if gzipped else content
        if gzipped:
            fields["Content-Encoding"] = "gzip"
        handler.send_response(status)
        for name, text in fields.items():
            handler.send_header(name, text)
        if status not in (204, 304):
            handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if status not in (204, 304) and handler.command != "HEAD":
            handler.wfile.write(data)

    return answer


def drop(handler: Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def handle_one_request(self) -> None:
        """Read a request, note it, answer what the script says."""
        try:
            self.raw_requestline = self.rfile.readline(65_537)
        except ConnectionResetError:
            self.raw_requestline = b""
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        length = int(self.headers.get("Content-Length") or 0)
        seen = Seen(self.command, self.path, tuple(self.headers.items()), self.rfile.read(length))
        self.server.seen.append(seen)
        self.server.arrived.set()
        try:
            self.server.next_script()(self)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.set()
            self.close_connection = True

    def wait_for_hang_up(self) -> None:
        """Wait until the client closes its side; `Server.hung_up` is set then."""
        self.connection.settimeout(PATIENCE_S)
        try:
            ended = self.rfile.read(1) == b""
        except ConnectionResetError:
            ended = True
        if ended:
            self.server.hung_up.set()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A loopback server with a script: an answer for each request in turn, the last one for ever."""

    daemon_threads = True

    def __init__(self, *scripts: Script) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[Seen] = []
        self.arrived = threading.Event()
        self.half_sent = threading.Event()
        self.hung_up = threading.Event()
        self._scripts: Queue[Script] = Queue()
        self._last: Script = scripts[-1] if scripts else reply()
        for script in scripts:
            self._scripts.put(script)

    @property
    def url(self) -> str:
        """Its origin."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_script(self) -> Script:
        """What is answered now."""
        try:
            return self._scripts.get_nowait()
        except Empty:
            return self._last


@contextmanager
def serving(*scripts: Script) -> Iterator[Server]:
    """A server that answers `scripts`, for as long as the block runs."""
    server = Server(*scripts)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
