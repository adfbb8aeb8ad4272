"""The rule of keywords that mean nothing in the dialect of their schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.rules.rule import Rule
from discern_server.schema.dialects import DRAFT_2020_12
from discern_server.schema.errors import SchemaError
from discern_server.schema.local_references import LocalReferences
from discern_server.schema.pointer import pointer

_TOOL: Final = '{{"name": "refund", "description": "…", "inputSchema": {}}}'

IGNORED: Final = Rule(
    id="schema.ignored",
    demand="A keyword means something in the dialect of its schema.",
    reason="A keyword of another dialect is an annotation: it checks nothing.",
    fix="write what it means in the dialect of the schema",
    bad=_TOOL.format('{"type": "object", "properties": {"a": {"type": "string", "nullable": true}}}'),
    good=_TOOL.format('{"type": "object", "properties": {"a": {"type": ["string", "null"]}}}'),
    severity=Severity.WARNING,
)

DIALECT_RULES: Final = (IGNORED,)

_OF_OLDER_DIALECTS: Final = {
    "nullable": 'add "null" to its type',
    "additionalItems": "write prefixItems for the array, and items for what follows it",
    "$recursiveRef": "write $dynamicRef",
    "$recursiveAnchor": "write $dynamicAnchor",
}


def check_dialects(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The keywords in the schemas of a plain `definition` that mean nothing in their dialect."""
    for member in ("inputSchema", "outputSchema"):
        schema = definition.get(member)
        if isinstance(schema, dict):
            for finding in (*_unknown_to_the_dialect(schema), *_unknown_to_2020_12(schema)):
                yield replace(finding, path=f"/{member}{finding.path or ''}")


def _unknown_to_the_dialect(schema: dict[str, Any]) -> Iterator[Diagnostic]:
    # Only those who ask for warnings pay for what tells them.
    from discern_server.schema.normalize import normalize

    warnings: list[Diagnostic] = []
    with suppress(SchemaError):
        normalize(schema, report=warnings.append)
    return (IGNORED.at(each.path or "", each.message, each.fix) for each in warnings)


def _unknown_to_2020_12(schema: dict[str, Any]) -> Iterator[Diagnostic]:
    if schema.get("$schema", DRAFT_2020_12.uri) != DRAFT_2020_12.uri:
        return
    for place, part in LocalReferences(schema).schemas.items():
        for keyword, fix in _OF_OLDER_DIALECTS.items():
            if keyword in part:
                message = f"{keyword} means nothing in 2020-12, and is ignored"
                yield IGNORED.at(place + pointer([keyword]), message, fix)
