"""Sources: where definitions are generated from, and where the handlers of a served project are.

`open_source` turns a source's values in ``discern.toml`` into a `Source`. Opening one is cheap and
touches nothing; each method loads what it needs then. A new kind is a reader in `discern_server.project`
and a row of `_KINDS`; its module is imported when a project uses it, not before.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, Protocol

from discern_server.catalog import ToolDefinition
from discern_server.handler import Handler
from discern_server.project import SourceConfig
from discern_server.result import Diagnostic, DiscernError


class SourceError(DiscernError):
    """A source that cannot give what it is asked for; `diagnostics` tells every fault, in the order of the source."""


class Source(Protocol):
    """Definitions, the handlers that serve them, and what the handlers need open."""

    def definitions(self) -> list[ToolDefinition]:
        """What it describes, in its own order, the same bytes each time.

        Raises:
            SourceError: Something cannot be described; with every fault.
        """

    def findings(self) -> tuple[Diagnostic, ...]:
        """What is worth knowing and keeps nothing from being served: what was left out, what is odd.

        Raises:
            SourceError: As for `definitions`.
        """

    def handlers(self) -> Mapping[str, Handler]:
        """A handler for each tool it can serve, by tool name.

        Raises:
            SourceError: They cannot be had; with every fault.
        """

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        """What its handlers need open while the process serves: what it yields is their ``ctx.state``.

        Raises:
            SourceError: It cannot be had.
        """


_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "python": ("discern_server.sources.python", "PythonModule"),
    "schemas": ("discern_server.sources.folder", "Folder"),
    "openapi": ("discern_server.sources.openapi.source", "OpenApi"),
}


def open_source(config: SourceConfig, root: Path) -> Source:
    """The source that `config` describes, of the project in the folder `root`."""
    module, name = _KINDS[config.kind]
    source: Source = getattr(importlib.import_module(module), name)(config, root)
    return source
