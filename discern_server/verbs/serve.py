"""``discern serve``: the project's own tools.

The files in ``schemas/`` are what is served, as they stand. The sources are asked for their handlers alone: generating
anew at every start would cost time, and let an update of a generator stop a server whose files and code fit each
other. Whether the files are current is for ``discern check``, in CI. A file that nothing can serve, and a handler
that has no file, are refused here, with what to run, rather than on a call.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discern_server.catalog import Catalog, CatalogError
from discern_server.handler import Handler, RequestContext
from discern_server.project import LegacyPolicy, Project
from discern_server.result import Diagnostic, DiscernResult, failure
from discern_server.verbs.projects import project_with_schemas
from discern_server.verbs.sources import OpenSource, handlers_of, open_sources

if TYPE_CHECKING:
    from discern_server.protocol.factory import ServerFactory


def project_factory(root: Path) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    """A factory for the tools of the project in the folder `root`, and its policy; else why they cannot be served.

    The project's folder becomes the working directory: hosts start servers anywhere, and what handlers
    read by a relative path should not depend on it.
    """
    project = project_with_schemas("serve", root)
    if isinstance(project, DiscernResult):
        return project
    os.chdir(project.root)
    sources = open_sources(project)
    handlers, faults = handlers_of(sources)
    if faults:
        return failure("serve", "invalid_sources", "the sources have faults", diagnostics=faults)
    if not handlers:
        message = "there is nothing to serve: no source has a tool"
        return failure("serve", "no_definitions", message, hints=("discern help sources",))
    missing = tuple(_without_file(name) for name in handlers if not (project.schemas / f"{name}.json").is_file())
    if missing:
        hints = ("discern accept writes the definitions; then serve again",)
        return failure("serve", "stale", "schemas/ lacks definitions", diagnostics=missing, hints=hints)
    try:
        catalog = Catalog.load(project.schemas)
    except CatalogError as error:
        message = "the definitions cannot be used"
        return failure("serve", "invalid_definitions", message, diagnostics=error.diagnostics)
    unserved = tuple(_without_handler(name) for name in catalog.names if name not in handlers)
    if unserved:
        return failure("serve", "no_handler", "there are definitions that nothing serves", diagnostics=unserved)
    return _factory(project, catalog, _with_states(handlers, sources), sources), project.server.legacy


def _factory(
    project: Project, catalog: Catalog, handlers: dict[str, Handler], sources: Sequence[OpenSource]
) -> ServerFactory:
    from discern_server.protocol.factory import ServerFactory
    from discern_server.protocol.surface import Surface

    server = project.server
    surface = Surface(
        server.name,
        server.version,
        catalog,
        {name: handlers[name] for name in catalog.names},
        title=server.title,
        instructions=server.instructions,
    )

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[tuple[Any, ...]]:
        async with AsyncExitStack() as stack:
            yield tuple([await stack.enter_async_context(opened.source.lifespan()) for opened in sources])

    return ServerFactory(surface, lifespan=lifespan)


def _without_file(name: str) -> Diagnostic:
    return Diagnostic(
        rule="schemas.missing",
        message=f"{name} has no file",
        path=f"schemas/{name}.json",
        fix="run discern accept, and check the file in",
    )


def _without_handler(name: str) -> Diagnostic:
    return Diagnostic(
        rule="serve.handler",
        message=f"{name} has no handler",
        path=f"schemas/{name}.json",
        fix="give its source a handlers module with a function of that name (discern help sources)",
    )


# --- each source's handlers see what its own lifespan opened ------------------------------------------


def _with_states(
    handlers: Mapping[str, tuple[OpenSource, Handler]], sources: Sequence[OpenSource]
) -> dict[str, Handler]:
    places = {id(opened): index for index, opened in enumerate(sources)}
    return {name: _with_state(handler, places[id(opened)]) for name, (opened, handler) in handlers.items()}


class _SourceContext:
    """The context of a request as the handlers of one source see it: with that source's state."""

    __slots__ = ("_ctx", "state")

    def __init__(self, ctx: RequestContext, index: int) -> None:
        self._ctx = ctx
        self.state = ctx.state[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


def _with_state(handler: Handler, index: int) -> Handler:
    if inspect.iscoroutinefunction(handler):

        async def serve_async(args: dict[str, Any], ctx: RequestContext) -> Any:
            return await handler(args, _SourceContext(ctx, index))

        return serve_async

    def serve(args: dict[str, Any], ctx: RequestContext) -> Any:
        return handler(args, _SourceContext(ctx, index))

    return serve
