"""``kind = "python"``: definitions from a module's marked functions, and the handlers that call them.

The signature gives the parameters, the docstring describes the tool and each of them, the annotations
give both schemas, and the mark (`discern_server.tool`) the title and the hints. The module is
imported when the source is asked for something. Describing loads pydantic; handling does only for types that
need it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from discern_server.catalog import CatalogError, ToolDefinition
from discern_server.handler import Handler
from discern_server.project import PythonSource
from discern_server.result import Diagnostic
from discern_server.sources import SourceError
from discern_server.sources.callables import Place, ToolFunction, read
from discern_server.sources.calling import handler_of
from discern_server.sources.importing import import_module, lifespan_of, open_lifespan, shown_path
from discern_server.sources.tool import ToolMark, mark_of


class PythonModule:
    """The marked functions of a module as a `discern_server.sources.Source`."""

    def __init__(self, config: PythonSource, root: Path) -> None:
        self._config = config
        self._root = root

    def definitions(self) -> list[ToolDefinition]:
        """A definition for each marked function, in the order of the module."""
        from discern_server.sources.json_schema import input_schema, output_schema

        definitions: list[ToolDefinition] = []
        faults: list[Diagnostic] = []
        for tool in self._tools:
            try:
                wire = wire_definition(tool, input_schema(tool), output_schema(tool))
                definitions.append(ToolDefinition.from_wire(wire))
            except SourceError as error:
                faults += error.diagnostics
            except CatalogError as error:
                faults += [_placed(finding, tool) for finding in error.diagnostics]
        if faults:
            raise SourceError(faults)
        return definitions

    def findings(self) -> tuple[Diagnostic, ...]:
        """Nothing: what is wrong with it is a fault."""
        return ()

    def handlers(self) -> Mapping[str, Handler]:
        """A handler for each marked function."""
        lifespan_of(self._config.lifespan, self._config.path, self._root)
        return {tool.name: handler_of(tool) for tool in self._tools}

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        """The context manager that ``lifespan`` names; nothing where it names none."""
        return open_lifespan(self._config.lifespan, self._config.path, self._root)

    @cached_property
    def _tools(self) -> list[ToolFunction]:
        module = import_module(self._config.module, self._config.path, self._root)
        return tools_of(module, self._root)


def tools_of(module: ModuleType, root: Path) -> list[ToolFunction]:
    """The marked functions of `module`, in its order; diagnostics show files relative to `root`.

    Raises:
        SourceError: One cannot be described, or there are none.
    """
    tools: list[ToolFunction] = []
    faults: list[Diagnostic] = []
    for function, mark in _marked(module):
        try:
            tools.append(read(function, mark, _place(function, root)))
        except SourceError as error:
            faults += error.diagnostics
    if not tools and not faults:
        fault = Diagnostic(
            rule="python.no-tools",
            message=f"{module.__name__} has no tools",
            path=shown_path(module.__file__, root),
            fix="mark its functions: from discern_server import tool, then @tool",
        )
        raise SourceError([fault])
    if faults:
        raise SourceError(faults)
    return tools


def wire_definition(tool: ToolFunction, inputs: dict[str, Any], outputs: dict[str, Any] | None) -> dict[str, Any]:
    """The definition of `tool` as it stands in its file: what is not said is left out."""
    mark = tool.mark
    hints = {
        "readOnlyHint": mark.read_only,
        "destructiveHint": mark.destructive,
        "idempotentHint": mark.idempotent,
        "openWorldHint": mark.open_world,
    }
    fields = {
        "name": tool.name,
        "title": mark.title,
        "description": tool.doc.description,
        "inputSchema": inputs,
        "outputSchema": outputs,
        "annotations": {name: hint for name, hint in hints.items() if hint is not None} or None,
        "icons": [dict(icon) for icon in mark.icons] if mark.icons else None,
        "_meta": dict(mark.meta) if mark.meta else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _marked(module: ModuleType) -> Iterator[tuple[Any, ToolMark]]:
    """Each marked object once, under whatever names the module has it, in the order of the module."""
    seen: set[int] = set()
    for value in vars(module).values():
        mark = mark_of(value)
        if mark is not None and id(value) not in seen:
            seen.add(id(value))
            yield value, mark


def _placed(finding: Diagnostic, tool: ToolFunction) -> Diagnostic:
    """A finding about a definition as one about the function it was made from."""
    return replace(finding, message=f"{finding.path}: {finding.message}", path=tool.place.file, line=tool.place.line)


def _place(function: Any, root: Path) -> Place:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is not None:
        return Place(file=shown_path(code.co_filename, root) or code.co_filename, line=code.co_firstlineno)
    module = inspect.getmodule(function)
    return Place(file=shown_path(getattr(module, "__file__", None), root) or "discern.toml", line=_line_of(function))


def _line_of(value: Any) -> int | None:
    try:
        return inspect.getsourcelines(value)[1]
    except (OSError, TypeError):
        return None
