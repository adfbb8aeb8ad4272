"""The client's side of one HTTP exchange: its body, and whether it is still there.

ASGI tells that a client has left through the same channel as its body, and only to who asks. In SSE mode
the SDK asks; with a plain JSON answer nobody does, and a handler would work on for a client that is gone.
`cancel_when_client_leaves` asks then. It begins to ask after a moment, since a task for it would cost a
quarter of a fast call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Final

import anyio
from starlette.types import Message, Receive

_WATCH_AFTER_S: Final = 0.05


class BodyTooLargeError(Exception):
    """The body is larger than is accepted."""


class ClientLeftError(Exception):
    """The client left before its body was complete."""


async def read_body(receive: Receive, declared_bytes: str | None, max_bytes: int) -> bytes:
    """The whole body.

    Args:
        receive: The ASGI channel.
        declared_bytes: The value of ``Content-Length``, by which a body may be refused before it is read.
        max_bytes: How large it may be.

    Raises:
        BodyTooLargeError: It is larger.
        ClientLeftError: It never became complete.
    """
    if declared_bytes is not None and declared_bytes.isdecimal() and float(declared_bytes) > max_bytes:
        raise BodyTooLargeError
    chunks = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientLeftError
        chunks += message.get("body", b"")
        if len(chunks) > max_bytes:
            raise BodyTooLargeError
        if not message.get("more_body", False):
            return bytes(chunks)


def replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives `body`, and then what `receive` gives."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


@contextlib.contextmanager
def cancel_when_client_leaves(receive: Receive) -> Iterator[None]:
    """Cancel what runs inside when the client leaves. The body must have been read; asyncio only."""
    watcher: asyncio.Task[None] | None = None
    loop = asyncio.get_running_loop()

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    def begin() -> None:
        nonlocal watcher
        watcher = loop.create_task(watch())

    timer = loop.call_later(_WATCH_AFTER_S, begin)
    try:
        with anyio.CancelScope() as scope:
            yield
    finally:
        timer.cancel()
        if watcher is not None:
            watcher.cancel()
