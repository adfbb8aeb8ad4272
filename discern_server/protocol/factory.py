"""The factory: a fresh SDK server from a surface, for every request.

One call of `ServerFactory.build` makes one ``mcp.server.lowlevel.Server``, which serves one request and is
garbage after it. What is costly is the surface's and is done once; what outlives a request is the
lifespan's, entered once per process. The server that is built here is the SDK's own, with three things done
through its public seams:

- ``tools/list`` is answered by a middleware, with a page that was rendered and checked beforehand. A
  middleware that does not call on owns the whole result (``mcp.server.runner``), so definitions
  reach the wire exactly as they stand in their file, instead of being sieved through the SDK's models.
- the identity that is stamped on each result is the surface's, not dumped anew from each fresh server.
- the SDK's OpenTelemetry middleware runs only where it can matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Final, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider

from discern_server.handler import RequestScope
from discern_server.protocol.calls import call_tool
from discern_server.protocol.surface import Surface

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens what lives as long as the process; what it yields is ``ctx.state``."""

SurfaceFor: TypeAlias = Callable[[RequestScope], Surface]
"""Chooses the surface of one request. It should hand out shared surfaces: a new one is prepared anew."""


class ServerFactory:
    """Builds a fresh server for every request.

    Args:
        surface: What to serve, or a callable that chooses it from the request's scope. The callable runs
            for every request and should be cheap and free of side effects.
        lifespan: Opens what outlives a request: entered once by whatever serves the factory.
    """

    def __init__(self, surface: Surface | SurfaceFor, *, lifespan: Lifespan | None = None) -> None:
        self._surface_for: SurfaceFor = (lambda _scope: surface) if isinstance(surface, Surface) else surface
        self.lifespan: Lifespan = nullcontext if lifespan is None else lifespan

    def surface_for(self, scope: RequestScope) -> Surface:
        """The surface that a request of this scope is served from."""
        return self._surface_for(scope)

    def build(self, scope: RequestScope) -> Server[Any]:
        """A fresh server for the request of this scope. It serves that request and is thrown away."""
        return _SurfaceServer(self._surface_for(scope), scope)


class _SurfaceServer(Server[Any]):
    """A lowlevel server that shows a surface to one request."""

    def __init__(self, surface: Surface, scope: RequestScope) -> None:
        super().__init__(
            surface.name,
            version=surface.version,
            title=surface.title,
            description=surface.description,
            instructions=surface.instructions,
            website_url=surface.website_url,
            get_tool_input_schema=surface.input_schema,
            on_list_tools=partial(_list_tools, surface),  # type: ignore[arg-type] # a result may be a dict
            on_call_tool=partial(call_tool, surface, scope),  # type: ignore[arg-type]
        )
        self._surface = surface
        self.middleware[:] = (_telemetry, partial(_answer_list_directly, surface))

    @property
    def server_info_stamp(self) -> dict[str, Any]:
        """The identity for the ``_meta`` of a result; the caller owns it."""
        return dict(self._surface.identity)


# --- tools/list -------------------------------------------------------------------------------------


async def _answer_list_directly(
    surface: Surface, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    if ctx.method != "tools/list" or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS or ctx.request_id is None:
        return await call_next(ctx)
    validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
    return {
        **_page(surface, (ctx.params or {}).get("cursor")),
        "_meta": {SERVER_INFO_META_KEY: dict(surface.identity)},
    }


async def _list_tools(surface: Surface, _ctx: ServerRequestContext[Any, Any], params: Any) -> Mapping[str, Any]:
    """The same pages for a handshake revision: there the SDK's model drops what that revision does not know."""
    return dict(_page(surface, None if params is None else params.cursor))


def _page(surface: Surface, cursor: str | None) -> Mapping[str, Any]:
    page = surface.page(cursor)
    if page is None:
        raise MCPError(
            code=INVALID_PARAMS,
            message="Invalid cursor: it is not one that tools/list gave out; call tools/list without a cursor",
        )
    return page


# --- telemetry --------------------------------------------------------------------------------------

_sdk_telemetry: Final = Server("telemetry").middleware[0]


async def _telemetry(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The SDK's OpenTelemetry middleware, where there is a tracer or an incoming trace to carry on."""
    if (ctx.meta and "traceparent" in ctx.meta) or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        return await _sdk_telemetry(ctx, call_next)
    return await call_next(ctx)
