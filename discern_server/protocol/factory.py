"""The factory: a fresh SDK server from a surface, for every request.

One call of `ServerFactory.build` makes one ``mcp.server.lowlevel.Server``, which serves one request and is
garbage after it. What is costly is the surface's and is done once; what outlives a request is the
lifespan's, entered once per process, or the factory's: the subscription bus and the keys that seal what a client
carries from round to round. The server that is built here is the SDK's own, with three things done
through its public seams:

- the list methods are answered by a middleware, with a page that was rendered and checked beforehand. A
  middleware that does not call on owns the whole result (``mcp.server.runner``), so definitions
  reach the wire exactly as they stand in their file, instead of being sieved through the SDK's models.
- the identity that is stamped on each result is the surface's, not dumped anew from each fresh server.
- the SDK's OpenTelemetry middleware runs only where it can matter.
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mcp.server.caching import CacheHint as SdkCacheHint
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    DiscoverResult,
    LoggingCapability,
    RequestParams,
    ServerCapabilities,
)
from mcp_types.methods import INPUT_REQUIRED_METHODS, validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider

from discern_server.handler import RequestScope
from discern_server.protocol.calls import call_tool
from discern_server.protocol.params import name_faults
from discern_server.protocol.rounds import SealedRounds
from discern_server.protocol.scopes import granted_to
from discern_server.protocol.state_keys import key_ring
from discern_server.protocol.surface import Surface

if TYPE_CHECKING:
    from discern_server.protocol.events import ListeningStreams, Subscriptions

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
        subscriptions: Serves ``subscriptions/listen``, and is where changes are published:
            ``await subscriptions.tools_changed()``. None: the server declares no such thing.
        state_keys: The key ring that seals ``requestState``, each key 32 bytes of secret randomness or more: the
            first seals, all open. Replicas share it. None takes it from ``DISCERN_STATE_KEYS`` (separated by
            white space), or makes a key of this process alone.

    Attributes:
        notify: The `subscriptions` that were given.

    Raises:
        ValueError: A key that is too short or there twice; no message repeats one.
        TypeError: One key instead of a list of keys, or one that is neither bytes nor text.
    """

    def __init__(
        self,
        surface: Surface | SurfaceFor,
        *,
        lifespan: Lifespan | None = None,
        subscriptions: Subscriptions | None = None,
        state_keys: Sequence[bytes | str] | None = None,
    ) -> None:
        self._surface_for: SurfaceFor = (lambda _scope: surface) if isinstance(surface, Surface) else surface
        self._state_keys = key_ring(state_keys)
        self._sealed: dict[str, SealedRounds] = {}
        self.lifespan: Lifespan = nullcontext if lifespan is None else lifespan
        self.notify = subscriptions

    def streams(self) -> ListeningStreams | None:
        """A group for the listening streams of a client that is served from now on; None without `notify`."""
        return None if self.notify is None else self.notify.streams()

    def build(self, scope: RequestScope, streams: ListeningStreams | None = None) -> Server[Any]:
        """A fresh server for the request of this scope. It serves that request and is thrown away.

        Args:
            scope: What is known of the request.
            streams: Where ``subscriptions/listen`` opens its stream; None for a group of its own.
        """
        surface = self._surface_for(scope).visible_to(granted_to(scope.token))
        return _SurfaceServer(surface, scope, self._sealed_rounds(surface.name), streams or self.streams())

    def _sealed_rounds(self, audience: str) -> SealedRounds:
        sealed = self._sealed.get(audience)
        if sealed is None:
            sealed = self._sealed[audience] = SealedRounds(self._state_keys, audience)
        return sealed


class _SurfaceServer(Server[Any]):
    """A lowlevel server that shows a surface to one request."""

    def __init__(
        self, surface: Surface, scope: RequestScope, sealed: SealedRounds, streams: ListeningStreams | None
    ) -> None:
        super().__init__(
            surface.name,
            version=surface.version,
            title=surface.title,
            description=surface.description,
            instructions=surface.instructions,
            website_url=surface.website_url,
            cache_hints=_discover_hint(surface) if scope.method == "server/discover" else None,
            get_tool_input_schema=surface.mirrored_schema,
            **_handlers(surface, scope),
            on_subscriptions_listen=None if streams is None else partial(streams.listen, surface),
        )
        self._surface = surface
        self.middleware[:] = _middleware(surface, scope, sealed)
        # The SDK registers a method of its own here, by which a server refers to itself: it would then be garbage
        # that only the cyclic collector frees, thousands of them a second.
        self.add_request_handler("server/discover", RequestParams, partial(_discover, weakref.ref(self)))

    @property
    def server_info_stamp(self) -> dict[str, Any]:
        """The identity for the ``_meta`` of a result; the caller owns it."""
        return dict(self._surface.identity)

    def get_capabilities(self, *args: Any, **options: Any) -> ServerCapabilities:
        """As the SDK derives them from the handlers, and logging where the surface sends log entries."""
        capabilities = super().get_capabilities(*args, **options)
        if self._surface.logging and options.get("protocol_version") in MODERN_PROTOCOL_VERSIONS:
            capabilities.logging = LoggingCapability()
        return capabilities


async def _discover(
    server: weakref.ref[_SurfaceServer], ctx: ServerRequestContext[Any, Any], _params: RequestParams | None
) -> DiscoverResult:
    """As the SDK answers ``server/discover``."""
    found = server()
    assert found is not None, "a server lives as long as its request"
    return DiscoverResult(
        supported_versions=list(MODERN_PROTOCOL_VERSIONS),
        capabilities=found.get_capabilities(protocol_version=ctx.protocol_version),
        instructions=found.instructions,
    )


def _middleware(surface: Surface, scope: RequestScope, sealed: SealedRounds) -> tuple[ServerMiddleware[Any], ...]:
    """What stands before the handlers, outermost first; what has nothing to do with this request is left out."""
    if scope.method in INPUT_REQUIRED_METHODS:
        return (name_faults, _telemetry, sealed)
    return (name_faults, _telemetry, partial(_answer_list_directly, surface))


def _discover_hint(surface: Surface) -> Mapping[Any, SdkCacheHint]:
    hint = surface.cache_hint("server/discover")
    return {"server/discover": SdkCacheHint(ttl_ms=hint.ttl_ms, scope=hint.scope)}


# --- handlers ---------------------------------------------------------------------------------------


def _handlers(surface: Surface, scope: RequestScope) -> dict[str, Any]:
    """The SDK's ``on_...`` handlers of what the surface has; what it has not is not declared.

    A request is given the one that serves its method. All of them are there for a request that asks what there is,
    since the SDK derives the capabilities from the handlers: ``server/discover``, and the handshake.
    """
    methods = (scope.method,) if scope.method in _HANDLERS else _HANDLERS
    handlers = {}
    for method in methods:
        if method in surface.methods:
            keyword, handler = _HANDLERS[method]
            handlers[keyword] = partial(handler, surface, scope)
    return handlers


# --- lists ------------------------------------------------------------------------------------------


async def _answer_list_directly(
    surface: Surface, ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    if not ctx.method.endswith("/list") or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return await call_next(ctx)
    if ctx.request_id is None or surface.pages(ctx.method) is None:
        return await call_next(ctx)
    validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
    return {
        **_page(surface, ctx.method, (ctx.params or {}).get("cursor")),
        "_meta": {SERVER_INFO_META_KEY: dict(surface.identity)},
    }


async def _list(
    surface: Surface, scope: RequestScope, _ctx: ServerRequestContext[Any, Any], params: Any
) -> dict[str, Any]:
    """The same pages for a handshake revision: there the SDK's model drops what that revision does not know."""
    return dict(_page(surface, scope.method, None if params is None else params.cursor))


def _page(surface: Surface, method: str, cursor: str | None) -> Mapping[str, Any]:
    pages = surface.pages(method)
    page = None if pages is None else pages.page(cursor)
    if page is None:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"Invalid cursor: it is not one that {method} gave out; call {method} without a cursor",
        )
    return page


def _imported_on_use(module: str, name: str) -> Callable[..., Any]:
    """The function `name` of the module `module` of this package, which surfaces without its kind do without."""

    def call(*arguments: Any) -> Any:
        return getattr(importlib.import_module(f"{__package__}.{module}"), name)(*arguments)

    return call


_HANDLERS: Final[Mapping[str, tuple[str, Callable[..., Any]]]] = {
    "tools/list": ("on_list_tools", _list),
    "tools/call": ("on_call_tool", call_tool),
    "prompts/list": ("on_list_prompts", _list),
    "prompts/get": ("on_get_prompt", _imported_on_use("prompting", "get_prompt")),
    "resources/list": ("on_list_resources", _list),
    "resources/templates/list": ("on_list_resource_templates", _list),
    "resources/read": ("on_read_resource", _imported_on_use("reading", "read_resource")),
    "completion/complete": ("on_completion", _imported_on_use("completing", "complete")),
}
"""By method: under which name the SDK's server takes its handler, and the handler."""


# --- telemetry --------------------------------------------------------------------------------------

_sdk_telemetry: Final = Server("telemetry").middleware[0]


async def _telemetry(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The SDK's OpenTelemetry middleware, where there is a tracer or an incoming trace to carry on."""
    if (ctx.meta and "traceparent" in ctx.meta) or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        return await _sdk_telemetry(ctx, call_next)
    return await call_next(ctx)
