"""``kind = "schemas"``: hand-written definitions, one JSON file each, and the functions that serve them.

A file with ``inputSchema`` is a tool definition whole; any other is the JSON Schema of the arguments,
and its ``title`` and ``description`` are the tool's. A tool without a ``name`` has that of its file. Schemas may
be of any dialect that `discern_server.schema.normalize` knows, said by ``$schema`` or by the source's
``dialect``, and may refer into other files of the folder. What becomes of them is self-contained 2020-12. The
function of a tool is the one of its name in the module that ``handlers`` names (``-`` and ``.`` read as
``_``), a `discern_server.Handler`: ``(args, ctx)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from itertools import chain
from pathlib import Path
from typing import Any

from discern_server.catalog import ToolDefinition
from discern_server.handler import Handler
from discern_server.jsontext import JsonText, JsonTextError, read_json
from discern_server.project import SchemasSource
from discern_server.result import Diagnostic
from discern_server.sources import SourceError
from discern_server.sources.importing import function_of, import_module, lifespan_of, open_lifespan, shown_path


class Folder:
    """The JSON files of a folder as a `discern_server.sources.Source`."""

    def __init__(self, config: SchemasSource, root: Path) -> None:
        self._config = config
        self._root = root
        self._findings: dict[str, list[Diagnostic]] = {}

    def definitions(self) -> list[ToolDefinition]:
        """A definition for each file, in the order of the file names."""
        from discern_server.sources.folder_definitions import definition_in

        definitions: list[ToolDefinition] = []
        faults: list[Diagnostic] = []
        for file in self._files():
            shown = self._shown(file)
            try:
                definition, findings = definition_in(_json_in(file, shown), file, shown, self._config)
            except SourceError as error:
                faults += error.diagnostics
            else:
                definitions.append(definition)
                self._findings[shown] = findings
        if faults:
            raise SourceError(faults)
        return definitions

    def findings(self) -> tuple[Diagnostic, ...]:
        """What means nothing in the dialect of a schema that `definitions` has read."""
        return tuple(chain.from_iterable(self._findings.values()))

    def handlers(self) -> Mapping[str, Handler]:
        """The function of each tool; none where the source names no module. The schemas are not looked at."""
        if self._config.handlers is None:
            return {}
        module = import_module(self._config.handlers, self._config.path, self._root)
        lifespan_of(self._config.lifespan, self._config.path, self._root)
        handlers: dict[str, Handler] = {}
        faults: list[Diagnostic] = []
        for file in self._files():
            try:
                name = _name_in(file, self._shown(file))
                handlers[name] = function_of(module, re.sub(r"[-.]", "_", name), self._root)
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

    def _shown(self, file: Path) -> str:
        """What diagnostics call `file`."""
        return shown_path(str(file), self._root) or file.name


def is_whole(value: Any) -> bool:
    """Whether what a file holds is a tool definition whole, not the schema of its arguments alone."""
    return isinstance(value, Mapping) and "inputSchema" in value


def _name_in(file: Path, shown: str) -> str:
    """The name of the tool in `file`, which diagnostics call `shown`."""
    value = _json_in(file, shown).value
    name = value.get("name") if is_whole(value) else None
    return name if isinstance(name, str) else file.stem


def _json_in(file: Path, shown: str) -> JsonText:
    try:
        return read_json(file.read_bytes())
    except OSError as error:
        message = f"cannot read the file: {error.strerror or error}"
        raise SourceError([Diagnostic(rule="folder.file", message=message, path=shown)]) from error
    except JsonTextError as error:
        raise SourceError(fault.within(shown) for fault in error.diagnostics) from error
