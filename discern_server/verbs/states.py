"""What handlers need open while a project is served: each sees what its own source, or its own table, opened."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeAlias

from discern_server.handler import Handler, RequestContext

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]


class States:
    """Collects what is to be opened, and gives each handler its own. What two of them name alike is opened once."""

    def __init__(self) -> None:
        self._opens: dict[Hashable, Open] = {}

    def bound(self, handler: Handler, key: Hashable, opens: Open) -> Handler:
        """`handler`, with what `opens` yields as its ``ctx.state``; things to open are told apart by `key`."""
        self._opens.setdefault(key, opens)
        return _with_state(handler, list(self._opens).index(key))

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[tuple[Any, ...]]:
        """Everything open, in the order in which it was first asked for."""
        async with AsyncExitStack() as stack:
            yield tuple([await stack.enter_async_context(opens()) for opens in self._opens.values()])


class _OwnContext:
    """The context of a request as one handler sees it: with its own state."""

    __slots__ = ("_ctx", "state")

    def __init__(self, ctx: RequestContext, index: int) -> None:
        self._ctx = ctx
        self.state = ctx.state[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


def _with_state(handler: Handler, index: int) -> Handler:
    if inspect.iscoroutinefunction(handler):

        async def serve_async(args: dict[str, Any], ctx: RequestContext) -> Any:
            return await handler(args, _OwnContext(ctx, index))

        return serve_async

    def serve(args: dict[str, Any], ctx: RequestContext) -> Any:
        return handler(args, _OwnContext(ctx, index))

    return serve
