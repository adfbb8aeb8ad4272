"""A listening socket that answers with bytes: what no HTTP library would send."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

Answer = Callable[[socket.socket, bytes], None]


def send(*parts: bytes) -> Answer:
    """Answer with these bytes and close."""

    def answer(connection: socket.socket, _request: bytes) -> None:
        for part in parts:
            connection.sendall(part)

    return answer


def response(body: bytes, status: str = "200 OK", content_type: str = "application/json", headers: str = "") -> bytes:
    """A whole response with its length."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


@contextlib.contextmanager
def listening(answer: Answer, *, read: Callable[[socket.socket], bytes] | None = None) -> Iterator[str]:
    """Serve each connection with `answer(connection, read(connection))` on a thread; yields the URL."""
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(
            target=_accept, args=(listener, answer, read or read_request, connections), daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join(5)


@contextlib.contextmanager
def nobody() -> Iterator[int]:
    """A port that is taken and refuses every connection: nobody else can come to listen on it meanwhile."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        yield silent.getsockname()[1]


def _accept(
    listener: socket.socket, answer: Answer, read: Callable[[socket.socket], bytes], connections: list[socket.socket]
) -> None:
    threads = []
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            connections.append(connection)
            threads.append(threading.Thread(target=_serve, args=(connection, answer, read), daemon=True))
            threads[-1].start()
    for thread in threads:
        thread.join(5)


def _serve(connection: socket.socket, answer: Answer, read: Callable[[socket.socket], bytes]) -> None:
    with connection, contextlib.suppress(OSError):
        answer(connection, read(connection))


def read_request(connection: socket.socket) -> bytes:
    """One request with its body, as bytes."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields.get(b"content-length", 0)):
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionError("the client went away")
    return chunk
