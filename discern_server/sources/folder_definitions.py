"""The definition that a file of a ``schemas`` source stands for: its schemas self-contained 2020-12, and checked.

Apart from the source itself, since serving needs its functions and not this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from discern_server.catalog import ToolDefinition
from discern_server.jsontext import JsonText, JsonTextError, read_json
from discern_server.project import SchemasSource
from discern_server.result import Diagnostic, Severity
from discern_server.rules import check_definition
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.normalize import normalize
from discern_server.sources import SourceError
from discern_server.sources.folder import is_whole


def definition_in(
    document: JsonText, file: Path, shown: str, config: SchemasSource
) -> tuple[ToolDefinition, list[Diagnostic]]:
    """The definition that the `document` in `file` stands for, and what is odd about it.

    Args:
        document: What the file holds.
        file: The file; its references are relative to it.
        shown: What diagnostics call it.
        config: The source that it belongs to.

    Raises:
        SourceError: It is no definition that could be served; with every fault.
    """
    whole = is_whole(document.value)
    definition = {"name": file.stem, **document.value} if whole else _around(document.value, file.stem)
    faults, warnings = _normalize(definition, file, config)
    faults = faults or [finding for finding in check_definition(definition) if finding.severity is Severity.ERROR]
    prefix = "" if whole else "/inputSchema"
    if faults:
        raise SourceError(_placed(faults, prefix, document, shown))
    return ToolDefinition.from_wire(definition), _placed(warnings, prefix, document, shown)


def _normalize(definition: Any, file: Path, config: SchemasSource) -> tuple[list[Diagnostic], list[Diagnostic]]:
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
                dialect=config.dialect,
                resolve=_resolver(config.directory),
                base_uri=file.as_uri(),
                report=reported.append,
            )
        except SchemaError as error:
            faults += (_in_file(fault, f"/{key}", file.as_uri()) for fault in error.diagnostics)
        warnings += (_in_file(finding, f"/{key}", file.as_uri()) for finding in reported)
    return faults, warnings


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
