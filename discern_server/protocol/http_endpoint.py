"""The MCP endpoint of the HTTP app: one POST, one request, one fresh server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mcp.server.runner import modern_error_data
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from discern_server.handler import Era, RequestScope
from discern_server.protocol import eras
from discern_server.protocol.events import ListeningStreams
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.http_auth import access_token
from discern_server.protocol.http_disconnect import (
    BodyTooLargeError,
    ClientLeftError,
    cancel_when_client_leaves,
    read_body,
    replay,
)
from discern_server.protocol.http_eras import Admitted, Answer, admit, refusal
from discern_server.protocol.http_manager import FreshServers

logger = logging.getLogger(__name__)

_LISTEN: Final = "subscriptions/listen"
_RETRY_AFTER_S: Final = 1
_STREAM_RANGES: Final = ("text/event-stream", "text/*", "*/*")
_NOT_STARTED: Final = (
    "The MCP app was called before its lifespan was entered. Mounted apps are not started by the app they are mounted "
    "in: pass lifespan=mcp.lifespan to it, or enter mcp.lifespan() within a lifespan of your own."
)


Status: TypeAlias = Literal["starting", "ok", "stopping", "stopped"]


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How the endpoint serves: see `http_app`, which they are named after."""

    legacy: eras.LegacyPolicy
    json_response: bool | None
    max_body_bytes: int
    body_timeout_s: float
    max_in_flight: int

    def __post_init__(self) -> None:
        """Refuse what could never work."""
        eras.checked(self.legacy)
        for name in ("max_body_bytes", "max_in_flight"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.body_timeout_s > 0:
            raise ValueError(f"body_timeout_s must be more than 0, got {self.body_timeout_s}")


class Endpoint:
    """Answers each POST from a server that was built for it.

    Attributes:
        status: Whether requests are served: ``ok``, or ``starting``, ``stopping``, ``stopped``.
    """

    def __init__(self, factory: ServerFactory, options: EndpointOptions) -> None:
        self._factory = factory
        self._options = options
        self._listening: ListeningStreams | None = None
        self._manager: FreshServers | None = None
        self._in_flight = 0
        self._logged_eras: set[Era] = set()
        self.status: Status = "starting"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Enter the factory's lifespan, and serve meanwhile."""
        if self._manager is not None:
            raise RuntimeError("The lifespan of this MCP app is entered already; an app is run once at a time")
        manager = FreshServers(self._factory, max_body_bytes=self._options.max_body_bytes)
        async with manager.run():
            self._manager, self.status = manager, "ok"
            self._listening = self._factory.streams()
            try:
                yield
            finally:
                self._manager, self.status = None, "stopped"

    def begin_shutdown(self) -> None:
        """End this app's subscriptions."""
        self.status = "stopping"
        if self._listening is not None:
            self._listening.shut()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one POST whose ``Host`` and ``Origin`` are good, and whose token where there must be one."""
        if self._manager is None:
            raise RuntimeError(_NOT_STARTED)
        if self._in_flight >= self._options.max_in_flight:
            await _too_busy()(scope, receive, send)
            return
        self._in_flight += 1
        try:
            await self._answer(self._manager, scope, receive, send)
        finally:
            self._in_flight -= 1

    async def _answer(self, manager: FreshServers, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        try:
            async with asyncio.timeout(self._options.body_timeout_s):
                body = await read_body(receive, headers.get("content-length"), self._options.max_body_bytes)
        except BodyTooLargeError:
            message = f"The body is larger than the {self._options.max_body_bytes} bytes that are accepted"
            # The rest of a body that has a length is read and dropped, so that its client sees the answer.
            endless = {} if "content-length" in headers else {"Connection": "close"}
            await Response(message, 413, endless)(scope, receive, send)
            return
        except TimeoutError:
            message = f"The body was not whole within {self._options.body_timeout_s:g} seconds"
            await Response(message, 408, {"Connection": "close"})(scope, receive, send)
            return
        except ClientLeftError:
            return
        admitted = admit(body, headers, legacy=self._options.legacy, token=access_token(scope))
        if isinstance(admitted, Answer):
            await _response(admitted)(scope, receive, send)
        else:
            await self._serve(manager, admitted, body, scope, receive, send)

    async def _serve(
        self, manager: FreshServers, admitted: Admitted, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._log_era(admitted.scope)
        try:
            server = self._factory.build(admitted.scope, self._listening)
        except Exception as error:  # noqa: BLE001 - the caller's callable chose the surface; what it raised is logged
            await _response(refusal(admitted.id, modern_error_data(error)))(scope, receive, send)
            return
        again = replay(body, receive)
        if admitted.scope.method == _LISTEN:
            with self._not_counted():
                await manager.serve(server, scope, again, send, json_response=False)
        elif self._streams(admitted):
            await manager.serve(server, scope, again, send, json_response=False)
        else:
            with cancel_when_client_leaves(receive):
                await manager.serve(server, scope, again, send, json_response=True)

    def _log_era(self, scope: RequestScope) -> None:
        """Say once of each era that it is served, where there is a choice."""
        if self._options.legacy == "serve" and scope.era not in self._logged_eras:
            self._logged_eras.add(scope.era)
            logger.warning("serving clients in the %s era, the first in revision %s", scope.era, scope.revision)

    @contextmanager
    def _not_counted(self) -> Iterator[None]:
        self._in_flight -= 1
        try:
            yield
        finally:
            self._in_flight += 1

    def _streams(self, admitted: Admitted) -> bool:
        if self._options.json_response is None:
            return admitted.wants_stream and _accepts_stream(admitted.scope.headers)
        return not self._options.json_response


def _too_busy() -> Response:
    message = "The server has as many requests open as it may have"
    return Response(message, status_code=503, headers={"Retry-After": str(_RETRY_AFTER_S)})


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, media_type="application/json" if answer.body else None)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; of a name that is repeated, the first value, as the SDK takes it."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def _accepts_stream(headers: Mapping[str, str]) -> bool:
    return any(media_range in headers.get("accept", "").lower() for media_range in _STREAM_RANGES)
