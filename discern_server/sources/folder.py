"""``kind = "schemas"``: hand-written definitions, one JSON file each, and the functions that serve them.

A file with ``inputSchema`` is a tool definition whole; any other is the JSON Schema of the arguments,
and its ``title`` and ``description`` are the tool's. A tool without a ``name`` has that of its file. The
function of a tool is the one of its name in the module that ``handlers`` names (``-`` and ``.`` read as
``_``), a `discern_server.Handler`: ``(args, ctx)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from discern_server.catalog import ToolDefinition
from discern_server.handler import Handler
from discern_server.jsontext import JsonTextError, read_json
from discern_server.project import SchemasSource
from discern_server.result import Diagnostic, Severity
from discern_server.rules import check_definition
from discern_server.sources import SourceError
from discern_server.sources.importing import function_of, import_module, open_lifespan, shown_path


class Folder:
    """The JSON files of a folder as a `discern_server.sources.Source`."""

    def __init__(self, config: SchemasSource, root: Path) -> None:
        self._config = config
        self._root = root

    def definitions(self) -> list[ToolDefinition]:
        """A definition for each file, in the order of the file names."""
        definitions: list[ToolDefinition] = []
        faults: list[Diagnostic] = []
        for file in self._files():
            try:
                definitions.append(_read(file, shown_path(str(file), self._root) or file.name))
            except SourceError as error:
                faults += error.diagnostics
        if faults:
            raise SourceError(faults)
        return definitions

    def findings(self) -> tuple[Diagnostic, ...]:
        """Nothing: what is wrong with it is a fault."""
        return ()

    def handlers(self) -> Mapping[str, Handler]:
        """The function of each tool; none where the source names no module."""
        if self._config.handlers is None:
            return {}
        module = import_module(self._config.handlers, self._config.path, self._root)
        handlers: dict[str, Handler] = {}
        faults: list[Diagnostic] = []
        for definition in self.definitions():
            try:
                handlers[definition.name] = function_of(module, re.sub(r"[-.]", "_", definition.name), self._root)
            except SourceError as error:
                faults += error.diagnostics
        if faults:
            raise SourceError(faults)
        return handlers

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        """The context manager that ``lifespan`` names; nothing where it names none."""
        return open_lifespan(self._config.lifespan, self._config.path, self._root)

    def _files(self) -> list[Path]:
        folder = self._config.directory
        try:
            files = sorted(file for file in folder.iterdir() if file.suffix == ".json" and file.is_file())
        except OSError as error:
            message, fix = f"cannot read the folder: {error.strerror or error}", "name a folder of JSON files"
        else:
            if files:
                return files
            message, fix = "the folder has no file that ends in .json", "add one file for each tool"
        path = shown_path(str(folder), self._root)
        raise SourceError([Diagnostic(rule="folder.files", message=message, path=path, fix=fix)])


def _read(file: Path, shown: str) -> ToolDefinition:
    """The definition in `file`, which diagnostics call `shown`."""
    try:
        document = read_json(file.read_bytes())
    except OSError as error:
        message = f"cannot read the file: {error.strerror or error}"
        raise SourceError([Diagnostic(rule="folder.file", message=message, path=shown)]) from error
    except JsonTextError as error:
        raise SourceError(fault.within(shown) for fault in error.diagnostics) from error
    whole = isinstance(document.value, Mapping) and "inputSchema" in document.value
    definition = {"name": file.stem, **document.value} if whole else _around(document.value, file.stem)
    faults = [finding for finding in check_definition(definition) if finding.severity is Severity.ERROR]
    if faults:
        prefix = "" if whole else "/inputSchema"
        inside = (replace(fault, path=(fault.path or "").removeprefix(prefix)) for fault in faults)
        raise SourceError(document.placed(inside, shown))
    return ToolDefinition.from_wire(definition)


def _around(schema: Any, name: str) -> Any:
    """The definition of a tool whose file holds the JSON Schema of its arguments alone."""
    if not isinstance(schema, Mapping):
        return schema
    told = {key: schema[key] for key in ("title", "description") if key in schema}
    return {"name": name, **told, "inputSchema": {key: schema[key] for key in schema if key not in told}}
