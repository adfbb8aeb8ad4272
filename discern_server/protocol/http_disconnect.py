"""The client's side of one HTTP exchange: its body, and whether it is still there.

ASGI tells that a client has left through the same channel as its body, and only to who asks. In SSE mode
the SDK asks; with a plain JSON answer nobody does, and a handler would work on for a client that is gone.
`cancel_when_client_leaves` asks then. It begins to ask after a moment, since a task for it would cost a
quarter of a fast call.
"""

from __future__ import annotations

import asyncio
import contextvars
from types import TracebackType
from typing import Final

import anyio
from starlette.types import Message, Receive

_WATCH_AFTER_S: Final = 0.05
# A timer that was cancelled lies in the loop until it would have been due, and keeps its context all the while.
_EMPTY: Final = contextvars.Context()


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


class cancel_when_client_leaves:  # noqa: N801 - it reads as what it does
    """A ``with`` block that is cancelled when the client leaves. The body must have been read; asyncio only."""

    __slots__ = ("_receive", "_scope", "_timer", "_watcher")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, self._begin, context=_EMPTY)
        self._scope = anyio.CancelScope()
        self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        return bool(self._scope.__exit__(kind, error, trace))

    def _begin(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._scope.cancel()
