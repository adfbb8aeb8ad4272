"""Limits of known clients and of the model APIs behind them: warnings, each of which a project can switch.

The protocol allows all of it. A tool that exceeds such a limit is served, and dropped, or refused with
the whole request, by some.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.rules.rule import Rule
from discern_server.schema.dialects import DRAFT_2020_12, subschemas
from discern_server.schema.pointer import Token, pointer
from discern_server.schema.words import show

MOST_NAME: Final = 64
MOST_DEPTH: Final = 10
MOST_BYTES: Final = 32 * 1024

_COMPOSITION: Final = ("oneOf", "anyOf", "allOf")


def _tool(schema: str, name: str = "refund") -> str:
    return f'{{"name": "{name}", "description": "…", "inputSchema": {schema}}}'


_ANY: Final = '{"type": "object"}'
_LONG: Final = "refund_the_payment_that_the_customer_named_in_the_last_conversation"

NAME_LENGTH: Final = Rule(
    id="client.name-length",
    demand=f"A tool's name has at most {MOST_NAME} characters.",
    reason="OpenAI's API and those modelled on it refuse longer names; some hosts put a server's name before it, too.",
    fix=f"shorten the name to {MOST_NAME} characters, better to 40",
    bad=_tool(_ANY, _LONG),
    good=_tool(_ANY),
    severity=Severity.WARNING,
)
NAME_CHARACTERS: Final = Rule(
    id="client.name-characters",
    demand="A tool's name has no dot.",
    reason="Model APIs allow letters, digits, _ and - only. Some hosts rename the tool, some fail.",
    fix="write _ for the dot",
    bad=_tool(_ANY, "billing.refund"),
    good=_tool(_ANY, "billing_refund"),
    severity=Severity.WARNING,
)
PROPERTY_KEY: Final = Rule(
    id="client.property-key",
    demand=f"A property's key is 1 to {MOST_NAME} of A-Z a-z 0-9 _ . -",
    reason="Anthropic's API refuses the whole request otherwise.",
    fix="rename the property",
    bad=_tool('{"type": "object", "properties": {"filter[state]": {"type": "string"}}}'),
    good=_tool('{"type": "object", "properties": {"filter_state": {"type": "string"}}}'),
    severity=Severity.WARNING,
)
TOP_LEVEL_COMPOSITION: Final = Rule(
    id="client.top-level-composition",
    demand="The root of inputSchema has no oneOf, anyOf or allOf.",
    reason="Anthropic's API refuses the whole request otherwise.",
    fix="move the alternatives into a property, or say them in the description and check them in the handler",
    bad=_tool('{"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["name"]}]}'),
    good=_tool('{"type": "object", "properties": {"by": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}'),
    severity=Severity.WARNING,
)
REFERENCES: Final = Rule(
    id="client.references",
    demand="inputSchema has no `$ref`.",
    reason="Some hosts and model APIs do not follow references, and show the model a property without a type. A "
    "recursive schema cannot do without.",
    fix="write the schema out where it is used, or switch this rule off",
    bad=_tool('{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}'),
    good=_tool('{"type": "object", "properties": {"a": {"type": "string"}}}'),
    severity=Severity.WARNING,
    is_on=False,
)
DEPTH: Final = Rule(
    id="client.depth",
    demand=f"Arguments nest at most {MOST_DEPTH} levels deep, as far as inputSchema writes them out.",
    reason="Model APIs with strict schemas stop at 5 or 10 levels, and models lose track before.",
    fix="make the arguments flatter",
    bad=_tool('{"type": "object", "properties": {"a": ' * 11 + _ANY + "}}" * 11),
    good=_tool('{"type": "object", "properties": {"a": {"type": "string"}}}'),
    severity=Severity.WARNING,
)
SIZE: Final = Rule(
    id="client.size",
    demand=f"A definition has at most {MOST_BYTES // 1024} KiB as compact JSON.",
    reason="Every definition is in the model's context in every turn; this size is some ten thousand tokens.",
    fix="make several tools of it, or shorten descriptions and enums",
    severity=Severity.WARNING,
)
OUTPUT_OBJECT: Final = Rule(
    id="client.output-object",
    demand='The root of an outputSchema says "type": "object".',
    reason="Revisions before 2026-07-28 know no other; their clients drop the tool. For those who serve them, too.",
    fix='wrap the result in an object, and add "type": "object"',
    bad='{"name": "now", "description": "…", "inputSchema": {"type": "object"}, "outputSchema": {"type": "string"}}',
    good='{"name": "now", "description": "…", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}',
    severity=Severity.WARNING,
    is_on=False,
)

CLIENT_RULES: Final = (
    NAME_LENGTH,
    NAME_CHARACTERS,
    PROPERTY_KEY,
    TOP_LEVEL_COMPOSITION,
    REFERENCES,
    DEPTH,
    SIZE,
    OUTPUT_OBJECT,
)

_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_clients(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Where a plain `definition` exceeds what known clients take."""
    name = definition.get("name")
    if isinstance(name, str):
        if len(name) > MOST_NAME:
            yield NAME_LENGTH.at("/name", f"the name has {len(name)} characters")
        if "." in name:
            yield NAME_CHARACTERS.at("/name", f"{show(name)} has a dot")
    schema = definition.get("inputSchema")
    if isinstance(schema, dict):
        yield from _check_root(schema)
        yield from _check_inside(schema)
    output = definition.get("outputSchema")
    if isinstance(output, dict) and output.get("type") != "object":
        yield OUTPUT_OBJECT.at("/outputSchema/type", "the root of outputSchema may be something else than an object")
    size = len(json.dumps(definition, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MOST_BYTES:
        yield SIZE.at("", f"the definition has {size:,} bytes")


def _check_root(schema: dict[str, Any]) -> Iterator[Diagnostic]:
    for keyword in _COMPOSITION:
        if keyword in schema:
            yield TOP_LEVEL_COMPOSITION.at(f"/inputSchema/{keyword}", f"inputSchema has {keyword} at its root")


def _check_inside(root: dict[str, Any]) -> Iterator[Diagnostic]:
    """Property keys, references and depth, in the order of the document; depth is told once."""
    deep: Diagnostic | None = None
    waiting: list[tuple[tuple[Token, ...], Any, int]] = [((), root, 0)]
    while waiting:
        tokens, schema, depth = waiting.pop()
        if not isinstance(schema, dict):
            continue
        place = "/inputSchema" + pointer(tokens)
        yield from _check_schema(schema, place)
        if depth > MOST_DEPTH and deep is None:
            deep = DEPTH.at(place, f"arguments nest deeper than {MOST_DEPTH} levels here")
        inner = [((*tokens, *way), part, depth + _levels(way)) for way, part in subschemas(schema, DRAFT_2020_12)]
        waiting += reversed(inner)
    if deep:
        yield deep


def _check_schema(schema: dict[str, Any], place: str) -> Iterator[Diagnostic]:
    if "$ref" in schema:
        yield REFERENCES.at(f"{place}/$ref", f"there is a reference, {show(schema['$ref'])}")
    properties = schema.get("properties")
    for key in properties if isinstance(properties, dict) else ():
        if not _KEY.fullmatch(key):
            yield PROPERTY_KEY.at(place + pointer(("properties", key)), f"{show(key)} is no key that all clients take")


_INTO: Final = ("properties", "patternProperties", "additionalProperties", "items", "prefixItems")


def _levels(way: tuple[Token, ...]) -> int:
    return int(way[0] in _INTO)
