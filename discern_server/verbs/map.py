"""``discern map``: the tool table, or one definition whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discern_server.catalog import Catalog, CatalogError, ToolDefinition, thaw
from discern_server.result import DiscernResult, failure
from discern_server.toml import nearest
from discern_server.verbs.drift import FOLDER_NAME
from discern_server.verbs.projects import load_project

_SHORT = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """One tool: its name, its name for people, whether it only reads, and the first line of its description."""

    name: str
    title: str
    read_only: bool
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapData:
    """The tool table; or, where a tool was named, its definition whole as it stands in its file."""

    tools: list[ToolRow] | None = None
    definition: dict[str, Any] | None = None


def map_tools(root: Path, name: str | None = None) -> DiscernResult:
    """The tools of the project in the folder `root` as its files define them; or the one called `name`, whole."""
    project = load_project("map", root)
    if isinstance(project, DiscernResult):
        return project
    if not any(project.schemas.glob("*.json")):
        return _answer("there are no definitions yet", {"tools": []}, "discern accept writes them")
    try:
        catalog = Catalog.load(project.schemas)
    except CatalogError as error:
        message = f"the definitions in {FOLDER_NAME} cannot be used"
        return failure("map", "invalid_definitions", message, diagnostics=error.diagnostics)
    if name is None:
        count = len(catalog)
        return _answer(f"{count} {'tool' if count == 1 else 'tools'}", {"tools": [asdict(_row(d)) for d in catalog]})
    if name in catalog:
        return _answer(name, {"definition": thaw(catalog[name].wire)})
    guess = nearest(name, catalog.names)
    hint = f"did you mean {guess}?" if guess else "discern map lists them"
    return failure("map", "unknown_tool", f"there is no tool {name!r}", hints=(hint,))


def _answer(message: str, data: dict[str, Any], *hints: str) -> DiscernResult:
    return DiscernResult(ok=True, verb="map", message=message, data=data, hints=hints)


def _row(definition: ToolDefinition) -> ToolRow:
    annotations = definition.annotations or {}
    first_line = (definition.description or "").partition("\n")[0]
    return ToolRow(
        name=definition.name,
        title=definition.title or annotations.get("title") or "",
        read_only=annotations.get("readOnlyHint") is True,
        description=first_line if len(first_line) <= _SHORT else first_line[: _SHORT - 3] + "...",
    )
