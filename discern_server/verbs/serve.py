"""``discern serve``: the project's own tools.

The files in ``schemas/`` are what is served. Before anything is, the sources are asked what they generate
and which handlers they have: a definition that is not current, or that nothing can serve, is refused here, with
what to run, rather than on a call.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discern_server.catalog import Catalog, CatalogError
from discern_server.handler import Handler, RequestContext
from discern_server.project import LegacyPolicy, Project
from discern_server.result import Diagnostic, DiscernResult, failure
from discern_server.verbs.drift import FileState, findings
from discern_server.verbs.generate import Generated, OpenSource, generate_from, open_sources
from discern_server.verbs.survey import Survey, survey

if TYPE_CHECKING:
    from discern_server.protocol.factory import ServerFactory


def project_factory(root: Path) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    """A factory for the tools of the project in the folder `root`, and its policy; else why they cannot be served.

    The project's folder becomes the working directory: hosts start servers anywhere, and what handlers
    read by a relative path should not depend on it.
    """
    sources: list[OpenSource] = []

    def generate_keeping(project: Project) -> Generated:
        os.chdir(project.root)
        sources.extend(open_sources(project))
        return generate_from(sources)

    found = survey("serve", root, generate_keeping)
    if isinstance(found, DiscernResult):
        return found
    refusal = _refusal(found)
    if refusal is not None:
        return refusal
    try:
        catalog = Catalog.load(found.project.schemas)
    except CatalogError as error:
        message = "the definitions cannot be used"
        return failure("serve", "invalid_definitions", message, diagnostics=error.diagnostics)
    handlers = _handlers(sources)
    unserved = tuple(_without_handler(name) for name in catalog.names if name not in handlers)
    if unserved:
        return failure("serve", "no_handler", "there are definitions that nothing serves", diagnostics=unserved)
    return _factory(found.project, catalog, handlers, sources), found.project.server.legacy


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


def _refusal(found: Survey) -> DiscernResult | None:
    generated = found.generated
    faults = (*generated.faults, *generated.handler_faults)
    if faults:
        return failure("serve", "invalid_sources", "the sources have faults", diagnostics=faults)
    stale = [entry for entry in found.files if entry.state not in (FileState.CURRENT, FileState.UNKNOWN)]
    if stale:
        message = "schemas/ is not what the sources generate"
        hints = ("discern accept writes the definitions; then serve again",)
        return failure("serve", "stale", message, diagnostics=tuple(findings(stale)), hints=hints)
    if not found.files:
        message = "there is nothing to serve: no source gives a definition"
        return failure("serve", "no_definitions", message, hints=("discern help sources",))
    return None


def _without_handler(name: str) -> Diagnostic:
    return Diagnostic(
        rule="serve.handler",
        message=f"{name} has no handler",
        path=f"schemas/{name}.json",
        fix="give its source a handlers module with a function of that name (discern help sources)",
    )


# --- each source's handlers see what its own lifespan opened ------------------------------------------


def _handlers(sources: Sequence[OpenSource]) -> dict[str, Handler]:
    return {
        name: _with_state(handler, index)
        for index, opened in enumerate(sources)
        for name, handler in opened.source.handlers().items()
    }


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
