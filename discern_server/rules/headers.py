"""Rules of ``x-mcp-header``, which mirrors an argument into an HTTP header ``Mcp-Param-…``.

Source: basic/transports/streamable-http, "Custom Headers from Tool Parameters", revision 2026-07-28. A
client excludes a tool that breaks one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from discern_server.result import Diagnostic, Severity
from discern_server.rules.rule import Rule
from discern_server.schema.dialects import DRAFT_2020_12, subschemas
from discern_server.schema.pointer import Token, pointer
from discern_server.schema.words import show

KEYWORD: Final = "x-mcp-header"

_PAGE: Final = "basic/transports/streamable-http, Custom Headers from Tool Parameters"


def _tool(properties: str) -> str:
    schema = f'{{"type": "object", "properties": {properties}}}'
    return f'{{"name": "query", "description": "…", "inputSchema": {schema}}}'


_GOOD: Final = _tool('{"region": {"type": "string", "x-mcp-header": "Region"}}')

NAME: Final = Rule(
    id="header.name",
    demand="An x-mcp-header is the name of an HTTP field: one or more of A-Z a-z 0-9 and ! # $ % & ' * + - . ^ _ ` | ~",
    reason=f"{_PAGE}: not empty, token syntax (RFC 9110, section 5.6.2), no control characters.",
    fix="name it with letters, digits and hyphens",
    bad=_tool('{"region": {"type": "string", "x-mcp-header": "My Region"}}'),
    good=_GOOD,
)
UNIQUE: Final = Rule(
    id="header.unique",
    demand="Each x-mcp-header of a tool is another name, whatever the case of its letters.",
    reason=f"{_PAGE}. Names of HTTP fields ignore case.",
    fix="give one of them another name",
    bad=_tool(
        '{"from": {"type": "string", "x-mcp-header": "Region"}, "to": {"type": "string", "x-mcp-header": "region"}}'
    ),
    good=_tool('{"from": {"type": "string", "x-mcp-header": "From"}, "to": {"type": "string", "x-mcp-header": "To"}}'),
)
TYPE: Final = Rule(
    id="header.type",
    demand="A property with x-mcp-header has one type: string, integer or boolean.",
    reason=f"{_PAGE}: primitive types, and not number, which languages write in different ways.",
    fix="give the property the type string, integer or boolean",
    bad=_tool('{"limit": {"type": "number", "x-mcp-header": "Limit"}}'),
    good=_tool('{"limit": {"type": "integer", "x-mcp-header": "Limit"}}'),
)
SAFE_INTEGER: Final = Rule(
    id="header.safe-integer",
    demand="An integer property with x-mcp-header names no value beyond 2^53 - 1.",
    reason=f"{_PAGE}: integer values are within the range in which a double is exact.",
    fix="keep its bounds and choices between -9007199254740991 and 9007199254740991, or make it a string",
    bad=_tool('{"id": {"type": "integer", "maximum": 9007199254740992, "x-mcp-header": "Id"}}'),
    good=_tool('{"id": {"type": "integer", "maximum": 9007199254740991, "x-mcp-header": "Id"}}'),
)
PLACE: Final = Rule(
    id="header.place",
    demand="x-mcp-header stands on a property that a chain of `properties` leads to from the root of inputSchema.",
    reason=f"{_PAGE}: statically reachable. A header has to be found without evaluating the schema.",
    fix="move it to a property that is written out, outside of items, alternatives, conditions and $defs",
    bad=_tool('{"regions": {"type": "array", "items": {"type": "string", "x-mcp-header": "Region"}}}'),
    good=_GOOD,
)
SECRET: Final = Rule(
    id="header.secret",
    demand="A property that is marked as secret has no x-mcp-header.",
    reason="server/tools, x-mcp-header: headers are seen by proxies and written to logs.",
    fix="leave x-mcp-header out",
    bad=_tool('{"key": {"type": "string", "writeOnly": true, "x-mcp-header": "Key"}}'),
    good=_tool('{"key": {"type": "string", "writeOnly": true}}'),
    severity=Severity.WARNING,
)

HEADER_RULES: Final = (NAME, UNIQUE, TYPE, SAFE_INTEGER, PLACE, SECRET)

_TCHARS: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES: Final = ("string", "integer", "boolean")
_LARGEST: Final = 2**53 - 1


class _Marked(NamedTuple):
    """A schema that carries the keyword."""

    tokens: tuple[Token, ...]
    schema: Mapping[str, Any]
    is_reachable: bool

    def pointer(self, *more: Token) -> str:
        return "/inputSchema" + pointer((*self.tokens, *more))


def check_headers(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is wrong with the ``x-mcp-header`` annotations of a plain `definition`."""
    names: dict[str, str] = {}
    for marked in _marked_schemas(definition.get("inputSchema")):
        yield from _check_marked(marked)
        header = marked.schema[KEYWORD]
        if isinstance(header, str):
            first = names.setdefault(header.lower(), marked.pointer())
            if first != marked.pointer():
                yield UNIQUE.at(marked.pointer(KEYWORD), f"{show(header)} is taken by {first}")


def _marked_schemas(root: Any) -> Iterator[_Marked]:
    """Every schema with the keyword, in the order of the document. References are not followed."""
    waiting: list[_Marked] = [_Marked((), root, is_reachable=True)]
    while waiting:
        here = waiting.pop()
        if not isinstance(here.schema, dict):
            continue
        if KEYWORD in here.schema:
            yield here._replace(is_reachable=here.is_reachable and here.tokens != ())
        inner = [
            _Marked((*here.tokens, *tokens), schema, here.is_reachable and tokens[0] == "properties")
            for tokens, schema in subschemas(here.schema, DRAFT_2020_12)
        ]
        waiting += reversed(inner)


def _check_marked(marked: _Marked) -> Iterator[Diagnostic]:
    header, kind = marked.schema[KEYWORD], marked.schema.get("type")
    if not marked.is_reachable:
        yield PLACE.at(marked.pointer(KEYWORD), "x-mcp-header stands where no chain of properties leads to")
    if not isinstance(header, str) or not _TCHARS.fullmatch(header):
        yield NAME.at(marked.pointer(KEYWORD), f"{show(header)} is no name of an HTTP field")
    if kind not in _TYPES:
        found = f"not {show(kind)}" if "type" in marked.schema else "and this one has none"
        yield TYPE.at(marked.pointer("type"), f"a property with x-mcp-header is a string, integer or boolean, {found}")
    elif kind == "integer":
        yield from _check_integers(marked)
    if marked.schema.get("writeOnly") is True or marked.schema.get("format") == "password":
        yield SECRET.at(marked.pointer(KEYWORD), "a secret would be sent as an HTTP header")


def _check_integers(marked: _Marked) -> Iterator[Diagnostic]:
    for keyword in (
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "const",
        "enum",
        "default",
        "examples",
    ):
        said = marked.schema.get(keyword)
        for value in said if isinstance(said, list) else [said]:
            if isinstance(value, int | float) and abs(value) > _LARGEST:
                yield SAFE_INTEGER.at(marked.pointer(keyword), f"{show(value)} is beyond what a double holds exactly")
