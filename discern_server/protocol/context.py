"""What a handler may do while it serves one request: `Context`, over the SDK's own request context."""

from __future__ import annotations

import math
import time
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from discern_server.handler import RequestScope

_PROGRESS_BURST: Final = 20
_PROGRESS_PER_SECOND: Final = 20.0


class Context:
    """One request's `RequestContext`: made for it, and worthless after it."""

    __slots__ = ("_progress", "_scope", "_sdk")

    def __init__(self, sdk: ServerRequestContext[Any, Any], scope: RequestScope) -> None:
        self._sdk = sdk
        self._scope = scope
        self._progress: _ProgressGate | None = None

    @property
    def scope(self) -> RequestScope:
        """What is known of the request."""
        return self._scope

    @property
    def request_id(self) -> str | int:
        """The JSON-RPC id of the request, its type kept."""
        request_id = self._sdk.request_id
        assert request_id is not None, "a handler serves a request, never a notification"
        return str(request_id) if isinstance(request_id, str) else request_id

    @property
    def state(self) -> Any:
        """What the lifespan yielded: shared by all requests of the process."""
        return self._sdk.lifespan_context

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress on the request's own channel (basic/patterns/progress).

        Silent unless the client sent a token. A value that does not grow is dropped, since it must, and so is
        what goes beyond a burst of 20 and then 20 a second, since a server should limit the rate; the
        last value (``done == total``) always passes.

        From a plain function, which runs in a worker thread: ``anyio.from_thread.run(ctx.progress, 1, 2)``.
        """
        if self._progress is None:
            self._progress = _ProgressGate()
        if self._progress.lets_through(done, total):
            await self._sdk.session.report_progress(done, total, None if message is None else _encodable(message))


class _ProgressGate:
    """Lets values through that grow, at a bounded rate."""

    __slots__ = ("_allowance", "_highest", "_last_time")

    def __init__(self) -> None:
        self._highest = -math.inf
        self._allowance = float(_PROGRESS_BURST)
        self._last_time = time.monotonic()

    def lets_through(self, done: float, total: float | None) -> bool:
        if not math.isfinite(done) or done <= self._highest or (total is not None and not math.isfinite(total)):
            return False
        now = time.monotonic()
        self._allowance = min(_PROGRESS_BURST, self._allowance + (now - self._last_time) * _PROGRESS_PER_SECOND)
        self._last_time = now
        if self._allowance < 1 and done != total:
            return False
        self._allowance -= 1
        self._highest = done
        return True


def _encodable(text: str) -> str:
    """`text` with lone surrogates replaced: they cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
