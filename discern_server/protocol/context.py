"""What a handler may do while it serves one request: `Context`, over the SDK's own request context."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types import LoggingMessageNotification, LoggingMessageNotificationParams

from discern_server.handler import Answer, LogLevel, RequestScope
from discern_server.protocol import rounds

_PROGRESS_BURST: Final = 20
_PROGRESS_PER_SECOND: Final = 20.0


class Context:
    """One request's `RequestContext`: made for it, and worthless after it."""

    def __init__(self, sdk: ServerRequestContext[Any, Any], scope: RequestScope, *, logging: bool = False) -> None:
        self._sdk = sdk
        self._scope = scope
        self._logging = logging

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

    # --- telling the client ------------------------------------------------------------------------

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress on the request's own channel (basic/patterns/progress).

        Silent unless the client sent a token. A value that does not grow is dropped, since it must, and so is
        what goes beyond a burst of 20 and then 20 a second, since a server should limit the rate; the
        last value (``done == total``) always passes.

        From a plain function, which runs in a worker thread: ``anyio.from_thread.run(ctx.progress, 1, 2)``.
        """
        if self._progress_gate.lets_through(done, total):
            await self._sdk.session.report_progress(done, total, None if message is None else _encodable(message))

    async def log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """Send a log entry on the request's own channel (server/utilities/logging).

        Silent unless the surface declares logging and the request asked for this level or a lesser one; silent in
        the handshake revisions. ``data`` is any JSON value and must hold no secrets.
        """
        if not self._logging or self._scope.era == "legacy":
            return
        if level not in allowed_log_levels(self._sdk.protocol_version, self._meta):
            return
        params = LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        await self._sdk.session.send_notification(
            LoggingMessageNotification(params=params), related_request_id=self._sdk.request_id
        )

    @property
    def _meta(self) -> Mapping[str, Any] | None:
        meta: Mapping[str, Any] | None = self._sdk.meta
        return meta

    @cached_property
    def _progress_gate(self) -> _ProgressGate:
        return _ProgressGate()

    # --- asking the client -------------------------------------------------------------------------

    @cached_property
    def rounds(self) -> rounds.Rounds:
        """The questions of this request."""
        return rounds.Rounds(self._sdk)

    async def elicit(self, key: str, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the user for input; see `RequestContext.elicit`.

        Raises:
            MCPError: -32021 where the client cannot ask its user.
        """
        return _answer(await self.rounds.ask(key, rounds.form(message, schema)))

    async def once(self, key: str, work: Callable[[], Any]) -> Any:
        """Do `work` in one round of a call alone; see `RequestContext.once`."""
        return await self.rounds.once(key, work)

    async def elicit_url(self, key: str, message: str, url: str) -> Answer:
        """Ask the user to open `url`; see `RequestContext.elicit_url`."""
        return _answer(await self.rounds.ask(key, rounds.page(message, url)))

    async def sample(self, key: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client's model; see `RequestContext.sample`."""
        answer: Mapping[str, Any] = await self.rounds.ask(key, rounds.sampling(request))
        return answer

    async def roots(self, key: str = "roots") -> Sequence[Mapping[str, Any]]:
        """Ask for the client's roots; see `RequestContext.roots`."""
        answer = await self.rounds.ask(key, rounds.roots())
        found: Sequence[Mapping[str, Any]] = answer["roots"]
        return found


def _answer(wire: Mapping[str, Any]) -> Answer:
    action = wire["action"]
    return Answer(action, (wire.get("content") or {}) if action == "accept" else {})  # only that is checked


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
