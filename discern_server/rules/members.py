"""Rules of a definition's members: its name, what it must have, and the types of the rest."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.rules.rule import Rule
from discern_server.rules.shapes import COMMON, TEXT
from discern_server.schema.pointer import pointer
from discern_server.schema.validate import Validator, compile_validator
from discern_server.schema.words import show

OBJECT: Final = Rule(
    id="definition.object",
    demand="A definition is a JSON object.",
    reason="server/tools, Tool.",
    fix='write {"name": …, "inputSchema": {"type": "object"}}',
    bad='["refund"]',
    good='{"name": "refund", "inputSchema": {"type": "object"}}',
)
NAME: Final = Rule(
    id="definition.name",
    demand="A tool's name is 1 to 128 of the characters A-Z a-z 0-9 _ . -",
    reason="server/tools, Tool Names. The page says SHOULD; here it is an error, since a client that insists drops the "
    "tool, and since the name is a file's name, too.",
    fix="name it with 1 to 128 of A-Z a-z 0-9 _ . -",
    bad='{"name": "refund payment", "inputSchema": {"type": "object"}}',
    good='{"name": "refund_payment", "inputSchema": {"type": "object"}}',
)
INPUT_SCHEMA: Final = Rule(
    id="definition.input-schema",
    demand="A tool has an inputSchema, and it is an object.",
    reason="server/tools, Tool: it must be a valid JSON Schema object, not null, also for a tool without parameters.",
    fix='add "inputSchema": {"type": "object", "additionalProperties": false}',
    bad='{"name": "now"}',
    good='{"name": "now", "inputSchema": {"type": "object", "additionalProperties": false}}',
)
INPUT_OBJECT: Final = Rule(
    id="definition.input-object",
    demand='The root of inputSchema says "type": "object".',
    reason='Schema reference, Tool.inputSchema: arguments are always an object, and "type": "object" is required '
    "at the root. Clients drop a tool without it.",
    fix='add "type": "object" to inputSchema',
    bad='{"name": "refund", "inputSchema": {"properties": {}}}',
    good='{"name": "refund", "inputSchema": {"type": "object", "properties": {}}}',
)
OUTPUT_SCHEMA: Final = Rule(
    id="definition.output-schema",
    demand="An outputSchema is an object. It may describe any JSON value, not objects only.",
    reason="Schema reference, Tool.outputSchema. true and false are JSON Schemas, and no values for this member.",
    fix="make it a JSON Schema object, or leave it out",
    bad='{"name": "now", "inputSchema": {"type": "object"}, "outputSchema": true}',
    good='{"name": "now", "inputSchema": {"type": "object"}, "outputSchema": {"type": "string"}}',
)
MEMBER: Final = Rule(
    id="definition.member",
    demand="The members that the protocol knows have the types it gives them.",
    reason="Schema reference, Tool, ToolAnnotations, Icon. Clients with typed readers drop the whole tool.",
    fix="give it the type that the protocol has for it",
    bad='{"name": "now", "title": ["Now"], "inputSchema": {"type": "object"}}',
    good='{"name": "now", "title": "Now", "inputSchema": {"type": "object"}}',
)
MISSPELT: Final = Rule(
    id="definition.misspelt",
    demand="A member that the protocol does not know is not named nearly as one that it does.",
    reason="Unknown members are sent as they stand, and ignored by clients: an `outputschema` is no schema at all.",
    fix="spell it as the protocol does",
    bad='{"name": "now", "inputSchema": {"type": "object"}, "outputschema": {}}',
    good='{"name": "now", "inputSchema": {"type": "object"}, "outputSchema": {}}',
    severity=Severity.WARNING,
)
DESCRIPTION: Final = Rule(
    id="definition.description",
    demand="A tool has a description.",
    reason="Models choose a tool by it.",
    fix="say what the tool does, when to use it and what it answers",
    bad='{"name": "now", "inputSchema": {"type": "object"}}',
    good='{"name": "now", "description": "The time of the server, in UTC.", "inputSchema": {"type": "object"}}',
    severity=Severity.WARNING,
)

MEMBER_RULES: Final = (
    OBJECT,
    NAME,
    INPUT_SCHEMA,
    INPUT_OBJECT,
    OUTPUT_SCHEMA,
    MEMBER,
    MISSPELT,
    DESCRIPTION,
)

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_HINT: Final = {"type": "boolean"}
_MEMBERS: Final[Mapping[str, Any]] = {
    **COMMON,
    "annotations": {
        "type": "object",
        "properties": {
            "title": TEXT,
            "readOnlyHint": _HINT,
            "destructiveHint": _HINT,
            "idempotentHint": _HINT,
            "openWorldHint": _HINT,
        },
    },
}
_MOST_MEMBERS: Final = 50
"""Members whose spelling is looked at: comparing costs time, and definitions may be anyone's."""

_KNOWN: Final = ("name", "inputSchema", "outputSchema", *_MEMBERS)


def check_members(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is wrong with the members of `definition`, apart from what its schemas say."""
    yield from _check_name(definition)
    yield from _check_input_schema(definition)
    output = definition.get("outputSchema", {})
    if not isinstance(output, Mapping):
        yield OUTPUT_SCHEMA.at("/outputSchema", f"outputSchema is an object, not {show(output)}")
    for finding in _members().diagnose({key: value for key, value in definition.items() if key in _MEMBERS}):
        yield MEMBER.at(finding.path or "", finding.message, finding.fix)
    yield from _check_spelling(definition)
    if not definition.get("description"):
        yield DESCRIPTION.at("/description", "there is no description")


@cache
def _members() -> Validator:
    return compile_validator({"type": "object", "properties": _MEMBERS})


def _check_name(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    name = definition.get("name")
    if "name" not in definition:
        yield NAME.at("/name", "the name is missing")
    elif not isinstance(name, str):
        yield NAME.at("/name", f"a name is a text, not {show(name)}")
    elif not _NAME.fullmatch(name):
        yield NAME.at("/name", f"{show(name)} is no name for a tool")


def _check_input_schema(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    schema = definition.get("inputSchema")
    if "inputSchema" not in definition:
        yield INPUT_SCHEMA.at("/inputSchema", "inputSchema is missing")
    elif not isinstance(schema, Mapping):
        yield INPUT_SCHEMA.at("/inputSchema", f"inputSchema is an object, not {show(schema)}")
    elif schema.get("type") != "object":
        found = f"it is {json.dumps(schema['type'])}" if "type" in schema else "it is missing"
        yield INPUT_OBJECT.at("/inputSchema/type", f'the root of inputSchema needs "type": "object"; {found}')


def _check_spelling(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    spelt = {_plain(name): name for name in _KNOWN}
    for key in islice(definition, _MOST_MEMBERS):
        if key in _KNOWN:
            continue
        near = difflib.get_close_matches(_plain(key), spelt, 1, cutoff=0.85)
        if near:
            known = spelt[near[0]]
            message = f"{show(key)} means nothing to the protocol; {show(known)} does"
            yield MISSPELT.at(pointer([key]), message, f"name it {show(known)}")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name[:40].lower())
