"""The window between what was read and what was answered: back-pressure and draining.

The SDK's dispatcher takes one message after another, starts a task for each, and cancels them all at the
end of the input. The two streams it reads and writes are structural protocols, so both are wrapped here:

- `WindowedRead` counts each request in, reads no further while too many are open, and at the end of the
  input holds the end back until they are answered, for a bounded time.
- `WindowedWrite` counts each answer out once it is written.

A request that the client cancelled is never answered; the dispatcher says so through
``ServerMessageMetadata.on_request_unanswered``, the only exact signal for it.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, Self

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from discern_server.protocol.parsing import UnreadableError

logger = logging.getLogger(__name__)

_ID_IN_USE: Final = "Invalid request: the request that has this id is still open"

STALLED_CLIENT_S: Final = 10.0
"""How long finished answers wait for a client that has closed its end but does not read."""


class Window:
    """Counts the open requests: those being served, and those whose answer is being written.

    Args:
        size: How many may be open before reading pauses.
        drain_timeout_s: At the end of the input, how long requests may still run, in seconds, counted
            anew from each answer.
    """

    def __init__(self, size: int, drain_timeout_s: float) -> None:
        self._size = size
        self._drain_timeout_s = drain_timeout_s
        self._open: set[RequestId] = set()
        self._writing = 0
        self._standing: set[RequestId] = set()
        self._changed: anyio.Event | None = None

    def opened(self, request_id: RequestId, *, standing: bool = False) -> None:
        """A request was read. A `standing` one, which is meant to stay open, takes no room."""
        self._open.add(request_id)
        if standing:
            self._standing.add(request_id)

    def write_begins(self) -> None:
        """An answer is there."""
        self._writing += 1
        self.wake()

    def write_ends(self, request_id: RequestId) -> None:
        """An answer was written, or could not be."""
        self._writing -= 1
        self.closed(request_id)

    def closed(self, request_id: RequestId) -> None:
        """A request is done with: answered, or cancelled and never to be answered."""
        self._open.discard(request_id)
        self._standing.discard(request_id)
        self.wake()

    def is_open(self, request_id: RequestId) -> bool:
        """Whether the request with this id is not done with yet."""
        return request_id in self._open

    @property
    def has_room(self) -> bool:
        """Whether another request may be read."""
        return len(self._open) - len(self._standing) < self._size

    async def has_room_before_long(self) -> bool:
        """Wait for room after the end of the input: False once nothing has moved for the drain time."""
        return await self._until(lambda: self.has_room)

    async def drained(self) -> None:
        """Wait until all are answered; give up on those that run too long, and on a client that does not read."""
        if not await self._until(lambda: self._running == 0):
            logger.warning("%d requests still ran when the input had ended; they are given up", self._running)
        with anyio.move_on_after(STALLED_CLIENT_S) as scope:
            while self._writing:
                await self.change()
                scope.deadline = anyio.current_time() + STALLED_CLIENT_S

    @property
    def _running(self) -> int:
        return len(self._open) - self._writing

    async def _until(self, reached: Callable[[], bool]) -> bool:
        """Wait until `reached`; False once no request has changed for the drain time with some still running."""
        while not reached():
            patience = self._drain_timeout_s if self._running else STALLED_CLIENT_S
            with anyio.move_on_after(patience) as scope:
                await self.change()
            if scope.cancelled_caught:
                return False
        return True

    async def change(self) -> None:
        """Wait until the window changes. The event is made where there is someone to wait for it, which is seldom."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    def wake(self) -> None:
        """Let whoever waits for a change look again: what it waits for may not come any more."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None


class Stream(Protocol):
    """What the SDK's streams have in common."""

    async def aclose(self) -> None:
        """Close this end."""


class _Wrapper:
    """A stream in front of another: closing it closes the other."""

    def __init__(self, inner: Stream) -> None:
        self.__inner = inner

    async def aclose(self) -> None:
        await self.__inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()


class ReadStream(Stream, Protocol):
    """The SDK's stream of what was read."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or what went wrong with it; raises `anyio.EndOfStream` at the end."""


class WriteStream(Stream, Protocol):
    """The SDK's stream of what is to be written."""

    async def send(self, item: SessionMessage, /) -> None:
        """Hand over one message."""


class WindowedRead(_Wrapper):
    """What was read, counted in by `window`.

    Args:
        inner: The stream to read.
        window: What counts.
        can_send_request: Whether the handler of a request may call back to the client; asked for each request.
        input_ended: Whether the input is known to have ended although messages are still waiting.
        at_end: Called at the end of the input, before the open requests are waited for.
    """

    def __init__(
        self,
        inner: ReadStream,
        window: Window,
        *,
        can_send_request: Callable[[JSONRPCRequest], bool],
        input_ended: Callable[[], bool],
        at_end: Callable[[], None],
    ) -> None:
        super().__init__(inner)
        self._inner = inner
        self._window = window
        self._can_send_request = can_send_request
        self._input_ended = input_ended
        self._at_end = at_end

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context of whoever sent the last message: the dispatcher looks for it under this name."""
        context: contextvars.Context | None = getattr(self._inner, "last_context", None)
        return context

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage | Exception:
        """The next message, once there is room for it."""
        item = await self._next()
        if item is not None:
            return self._counted(item)
        self._at_end()
        await self._window.drained()
        raise anyio.EndOfStream

    async def _next(self) -> SessionMessage | Exception | None:
        """The next message, or None at the end of the input."""
        if not self._window.has_room and not await self._room():
            return None
        try:
            return await self._inner.receive()
        except anyio.EndOfStream:
            return None

    async def _room(self) -> bool:
        while not self._window.has_room:
            if self._input_ended():
                return await self._window.has_room_before_long()
            await self._window.change()
        return True

    def _counted(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if not isinstance(item, SessionMessage):
            return item
        message = item.message
        if isinstance(message, JSONRPCRequest):
            message.id = _exact(message.id)
            if self._window.is_open(message.id):
                # Served beside the first, neither could be told from the other, and only one could be cancelled.
                return UnreadableError(INVALID_REQUEST, _ID_IN_USE, message.id)
            self._window.opened(message.id, standing=message.method == "subscriptions/listen")
            item.metadata = ServerMessageMetadata(
                on_request_unanswered=partial(self._unanswered, message.id),
                can_send_request=self._can_send_request(message),
            )
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            _keep_request_id_exact(message)
        return item

    async def _unanswered(self, request_id: RequestId) -> None:
        self._window.closed(request_id)


class StoppableRead(_Wrapper):
    """A stream whose end can be brought about from outside, although the stream behind is open."""

    def __init__(self, inner: ReadStream) -> None:
        super().__init__(inner)
        self._inner = inner
        self._waiting = anyio.CancelScope()
        self._stopped = False

    async def receive(self) -> SessionMessage | Exception:
        """The next message; raises `anyio.EndOfStream` once it was stopped."""
        with anyio.CancelScope() as self._waiting:
            if not self._stopped:
                return await self._inner.receive()
        raise anyio.EndOfStream

    def stop(self) -> None:
        """End the input here, whatever the stream behind still has to say."""
        self._stopped = True
        self._waiting.cancel()


class WindowedWrite(_Wrapper):
    """What is to be written, counted out of `window` once the transport has taken it."""

    def __init__(self, inner: WriteStream, window: Window) -> None:
        super().__init__(inner)
        self._inner = inner
        self._window = window

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        message = item.message
        if isinstance(message, JSONRPCError):
            _translate_closed(message)
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or message.id is None:
            return await self._inner.send(item)
        self._window.write_begins()
        try:
            return await self._inner.send(item)
        finally:
            self._window.write_ends(message.id)


def _translate_closed(message: JSONRPCError) -> None:
    """Say that the server is stopping in a code that a server may send.

    The SDK answers what it gives up at the end with -32000, which new code should not use (basic/index).
    """
    if message.error.code == CONNECTION_CLOSED:
        message.error = ErrorData(code=INTERNAL_ERROR, message="The server stopped before the request was done")


# --- ids --------------------------------------------------------------------------------------------


class _ExactId(str):
    """A string id that is never taken for the number it looks like.

    The dispatcher treats "5" and 5 as one id when it correlates a cancellation, by ``int(id)``; JSON-RPC does not.
    """

    __slots__ = ()

    def __int__(self) -> int:
        raise ValueError(f"{str(self)!r} is a string id")


def _exact(request_id: RequestId) -> RequestId:
    return _ExactId(request_id) if isinstance(request_id, str) else request_id


def _keep_request_id_exact(message: JSONRPCNotification) -> None:
    if message.params is not None and "requestId" in message.params:
        message.params = {**message.params, "requestId": _exact(message.params["requestId"])}
