"""The SDK's HTTP session manager, made to serve each request from the server that was built for it.

The manager was written for one server that lives as long as the process, and reads it from its public
attribute ``app`` for each request; how it answers it reads from ``json_response``. Both are properties
here, and what they give is the request's own: `FreshServers.serve` sets it, for the length of one request.
No session is ever made: of the manager's paths only those without state are used.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from discern_server.protocol.factory import ServerFactory

# Host and Origin are checked before the body is read (http_security), so not a second time by the manager.
_CHECKED_BEFORE: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)


@dataclass(slots=True)
class _Exchange:
    server: Server[Any] | None
    json_response: bool


_exchange: Final[ContextVar[_Exchange | None]] = ContextVar("discern_server HTTP exchange", default=None)


class FreshServers(StreamableHTTPSessionManager):
    """Serves each request from a server of its own. ``run()`` enters the factory's lifespan."""

    def __init__(self, factory: ServerFactory, *, max_body_bytes: int) -> None:
        self._only_lifespan: Server[Any] = Server("lifespan", lifespan=lambda _server: factory.lifespan())
        super().__init__(
            self._only_lifespan,
            stateless=True,
            security_settings=_CHECKED_BEFORE,
            max_request_body_size=max_body_bytes,
        )

    async def serve(
        self, server: Server[Any], scope: Scope, receive: Receive, send: Send, *, json_response: bool
    ) -> None:
        """Answer one request from `server`, with plain JSON or, where it has to say more, a stream of events."""
        exchange = _Exchange(server, json_response)
        token = _exchange.set(exchange)
        try:
            await self.handle_request(scope, receive, send)
        finally:
            _exchange.reset(token)
            # Timers that the SDK has cancelled lie in the event loop for seconds, each with a copy of the context.
            exchange.server = None

    @property
    def app(self) -> Server[Any]:
        """The server of the request that is being served; outside of one, the one that holds the lifespan."""
        exchange = _exchange.get()
        return self._only_lifespan if exchange is None or exchange.server is None else exchange.server

    @app.setter
    def app(self, _value: Server[Any]) -> None:
        """Ignored: the SDK's constructor sets it."""

    @property
    def json_response(self) -> bool:
        """How the request that is being served is answered."""
        exchange = _exchange.get()
        return exchange is None or exchange.json_response

    @json_response.setter
    def json_response(self, _value: bool) -> None:
        """Ignored: the SDK's constructor sets it."""
