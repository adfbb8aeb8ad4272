"""``discern mcp``: the verbs as MCP tools, for the one project that it is bound to.

Which tools there are is decided for each request from the project file as it is then: a tool whose feature is
off is not registered. The surfaces for the few combinations are made once and shared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discern_server import __version__
from discern_server.catalog import Catalog
from discern_server.handler import RequestScope
from discern_server.project import Features, Project, ProjectError, read_project_file
from discern_server.sources.calling import handler_of
from discern_server.sources.python import tools_of
from discern_server.verbs import tools
from discern_server.verbs.own import own_definitions

if TYPE_CHECKING:
    from discern_server.protocol.factory import ServerFactory
    from discern_server.protocol.surface import Surface

INSTRUCTIONS: Final = (
    "discern manages the tool definitions of one project. Start with discern_status. After a change to a source, "
    "discern_check tells what is stale and discern_accept with dry_run shows what it would write."
)
_GATED: Final = {"discern_map": "map", "discern_accept": "accept"}


def verbs_factory(root: Path) -> ServerFactory:
    """A factory that serves the verbs for the project in the folder `root`, and touches nothing outside it."""
    from discern_server.protocol.factory import ServerFactory
    from discern_server.protocol.surface import Surface

    catalog = Catalog.load(own_definitions())
    handlers = {found.name: handler_of(found) for found in tools_of(tools, root)}

    @cache
    def surface_with(features: Features) -> Surface:
        shown = Catalog.of(found for found in catalog if _is_on(found.name, features))
        return Surface(
            "discern",
            __version__,
            shown,
            {name: handlers[name] for name in shown.names},
            title="discern",
            instructions=INSTRUCTIONS,
        )

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[tools.Bounds]:
        yield tools.Bounds(root=root)

    def surface_for(_scope: RequestScope) -> Surface:
        return surface_with(features_of(root))

    return ServerFactory(surface_for, lifespan=lifespan)


def features_of(root: Path) -> Features:
    """The features that the project file in `root` turns on now; all where it cannot be read.

    A tool that is shown then refuses by itself, and its answer tells what is wrong with the file.
    """
    try:
        return _features_in(read_project_file(root), root)
    except (FileNotFoundError, ProjectError):
        return Features()


@lru_cache(maxsize=1)
def _features_in(text: str, root: Path) -> Features:
    # The file is read for every request; the same text need not be parsed again.
    return Project.parse(text, root).features


def _is_on(tool: str, features: Features) -> bool:
    return tool not in _GATED or bool(getattr(features, _GATED[tool]))
