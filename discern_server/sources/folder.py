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
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from discern_server.catalog import ToolDefinition
from discern_server.handler import Handler
from discern_server.jsontext import JsonText, JsonTextError, read_json
from discern_server.project import SchemasSource
from discern_server.result import Diagnostic, Severity
from discern_server.rules import check_definition
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.normalize import normalize
from discern_server.sources import SourceError
from discern_server.sources.importing import function_of, import_module, open_lifespan, shown_path


class Folder:
    """The JSON files of a folder as a `discern_server.sources.Source`."""

    def __init__(self, config: SchemasSource, root: Path) -> None:
        self._config = config
        self._root = root
        self._findings: dict[str, list[Diagnostic]] = {}

    def definitions(self) -> list[ToolDefinition]:
        """A definition for each file, in the order of the file names."""
        definitions: list[ToolDefinition] = []
        faults: list[Diagnostic] = []
        for file in self._files():
            try:
                definitions.append(self._read(file, shown_path(str(file), self._root) or file.name))
            except SourceError as error:
                faults += error.diagnostics
        if faults:
            raise SourceError(faults)
        return definitions

    def findings(self) -> tuple[Diagnostic, ...]:
        """What means nothing in the dialect of a schema that `definitions` has read."""
        return tuple(chain.from_iterable(self._findings.values()))

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

    def _read(self, file: Path, shown: str) -> ToolDefinition:
        """The definition in `file`, which diagnostics call `shown`."""
        document = _json_in(file, shown)
        whole = isinstance(document.value, Mapping) and "inputSchema" in document.value
        definition = {"name": file.stem, **document.value} if whole else _around(document.value, file.stem)
        faults, warnings = self._normalize(definition, file)
        faults = faults or [finding for finding in check_definition(definition) if finding.severity is Severity.ERROR]
        prefix = "" if whole else "/inputSchema"
        if faults:
            raise SourceError(_placed(faults, prefix, document, shown))
        self._findings[shown] = _placed(warnings, prefix, document, shown)
        return ToolDefinition.from_wire(definition)

    def _normalize(self, definition: Any, file: Path) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """Put self-contained 2020-12 in the place of the schemas of `definition`; what forbids it, and what is odd."""
        faults: list[Diagnostic] = []
        warnings: list[Diagnostic] = []
        for key in ("inputSchema", "outputSchema"):
            schema = definition.get(key) if isinstance(definition, dict) else None
            if not isinstance(schema, dict):
                continue
            reported: list[Diagnostic] = []
            try:
                definition[key] = normalize(
                    schema,
                    dialect=self._config.dialect,
                    resolve=_resolver(self._config.directory),
                    base_uri=file.as_uri(),
                    report=reported.append,
                )
            except SchemaError as error:
                faults += (_in_file(fault, f"/{key}", file.as_uri()) for fault in error.diagnostics)
            warnings += (_in_file(finding, f"/{key}", file.as_uri()) for finding in reported)
        return faults, warnings


def _json_in(file: Path, shown: str) -> JsonText:
    try:
        return read_json(file.read_bytes())
    except OSError as error:
        message = f"cannot read the file: {error.strerror or error}"
        raise SourceError([Diagnostic(rule="folder.file", message=message, path=shown)]) from error
    except JsonTextError as error:
        raise SourceError(fault.within(shown) for fault in error.diagnostics) from error


def _placed(findings: list[Diagnostic], prefix: str, document: JsonText, shown: str) -> list[Diagnostic]:
    """Findings about a definition as findings of its file, in which all that is below `prefix` is at the root."""
    inside = (replace(finding, path=(finding.path or "").removeprefix(prefix)) for finding in findings)
    return list(document.placed(inside, shown))


def _in_file(fault: Diagnostic, schema: str, uri: str) -> Diagnostic:
    """`fault`, told by the URI of a file, by a pointer into the file that holds `schema` at that pointer."""
    where, _, inside = (fault.path or "").partition("#")
    if where in ("", uri):
        return replace(fault, path=schema + inside)
    return replace(fault, path=schema, message=f"{where.rpartition('/')[2]}#{inside}: {fault.message}")


def _around(schema: Any, name: str) -> Any:
    """The definition of a tool whose file holds the JSON Schema of its arguments alone."""
    if not isinstance(schema, Mapping):
        return schema
    told = {key: schema[key] for key in ("title", "description") if key in schema}
    return {"name": name, **told, "inputSchema": {key: schema[key] for key in schema if key not in told}}


def _resolver(folder: Path) -> Callable[[str], Any]:
    """Reads the JSON files below `folder` by their URIs, and nothing else."""

    def read(uri: str) -> Any:
        parts = urlsplit(uri)
        path = Path(url2pathname(parts.path)).resolve()
        if parts.scheme != "file" or not path.is_relative_to(folder):
            raise UnresolvableError(f"is outside the folder: {uri}", "copy what it refers to into the folder")
        try:
            return read_json(path.read_bytes()).value
        except (OSError, JsonTextError) as error:
            raise UnresolvableError(f"cannot be read: {path.name}", "name a JSON file of the folder") from error

    return read
