"""The rules that a tool definition must keep, and the ones that known clients would like it to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.schema.errors import SchemaError
from discern_server.schema.json_value import json_faults
from discern_server.schema.validate import compile_validator

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def check_definition(definition: Any) -> Iterator[Diagnostic]:
    """Every finding about a definition, frozen or plain, by a pointer into it."""
    faults = [Diagnostic(rule=fault.rule, message=fault.message, path=fault.path) for fault in json_faults(definition)]
    if faults:
        yield from faults
        return
    if not isinstance(definition, Mapping):
        yield Diagnostic(rule="definition.object", message="a definition is a JSON object", path="")
        return
    yield from _name_findings(definition)
    yield from _input_findings(definition)
    for key in ("inputSchema", "outputSchema"):
        schema = definition.get(key)
        if isinstance(schema, Mapping):
            yield from _schema_findings(key, schema)
        elif key in definition:
            yield Diagnostic(
                rule="definition.schema", message=f"{key} is not an object", path=f"/{key}", fix="make it a JSON Schema"
            )


def _name_findings(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    name = definition.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield Diagnostic(
            rule="definition.name",
            message=f"not a tool name: {name!r}" if "name" in definition else "the name is missing",
            path="/name",
            fix="name it with 1 to 128 of A-Z a-z 0-9 _ . -",
        )


def _input_findings(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    schema = definition.get("inputSchema")
    if schema is None:
        yield Diagnostic(
            rule="definition.input-schema",
            message="inputSchema is missing",
            path="/inputSchema",
            fix='add "inputSchema": {"type": "object"}',
        )
    elif isinstance(schema, Mapping) and schema.get("type") != "object":
        yield Diagnostic(
            rule="definition.input-object",
            message="arguments are an object, so inputSchema needs type: object at its root",
            path="/inputSchema/type",
            fix='add "type": "object"',
        )


def _schema_findings(key: str, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    try:
        compile_validator(schema).compile()
    except SchemaError as error:
        for finding in error.diagnostics:
            yield Diagnostic(rule=finding.rule, message=finding.message, path=f"/{key}{finding.path}", fix=finding.fix)
