"""Rules of a definition's two schemas: valid in their dialect, self-contained, within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.rules.rule import Rule
from discern_server.schema.dialects import DRAFT_2020_12, OPENAPI_31, OPENAPI_32, Dialect, find_dialect
from discern_server.schema.engines import meets_its_metaschema
from discern_server.schema.errors import SchemaError
from discern_server.schema.validate import Validator, compile_validator, is_plain
from discern_server.schema.words import show

_TOOL: Final = '{{"name": "refund", "description": "…", "inputSchema": {}}}'


def _tool(schema: str) -> str:
    return _TOOL.format(schema)


DIALECT: Final = Rule(
    id="schema.dialect",
    demand="A `$schema` names a dialect that is known: draft-04, 06, 07, 2019-09, 2020-12, OpenAPI 3.1 or 3.2.",
    reason="basic/index, JSON Schema Usage: an unsupported dialect is an error, not a guess. Without `$schema` a "
    "schema is 2020-12.",
    fix="leave $schema out, and write the schema in 2020-12",
    bad=_tool('{"type": "object", "$schema": "https://example.com/mine"}'),
    good=_tool('{"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"}'),
)
INVALID: Final = Rule(
    id="schema.invalid",
    demand="A schema is valid by the meta-schema of its dialect.",
    reason="basic/index, JSON Schema Usage: schemas MUST be valid according to their declared or default dialect.",
    fix="write the keyword as its dialect has it",
    bad=_tool('{"type": "object", "properties": {"amount": {"type": "numbr"}}}'),
    good=_tool('{"type": "object", "properties": {"amount": {"type": "number"}}}'),
)
REFERENCE: Final = Rule(
    id="schema.reference",
    demand="A reference leads to a place in the same schema.",
    reason="basic/index, `$ref` Resolution: clients MUST NOT fetch what a reference names, and reject a schema whose "
    "references they cannot resolve.",
    fix="put the schema it refers to under $defs, and refer to that",
    bad=_tool('{"type": "object", "properties": {"of": {"$ref": "https://example.com/id.json"}}}'),
    good=_tool('{"type": "object", "properties": {"of": {"$ref": "#/$defs/id"}}, "$defs": {"id": {"type": "string"}}}'),
)
LOOP: Final = Rule(
    id="schema.loop",
    demand="A reference does not lead back to its own schema for the same value.",
    reason="2020-12 Core, section 9.4.1: checking any value would never end.",
    fix="refer to it from a property or an item, or leave the reference out",
    bad=_tool('{"type": "object", "allOf": [{"$ref": "#"}]}'),
    good=_tool('{"type": "object", "properties": {"parent": {"$ref": "#"}}}'),
)
PATTERN: Final = Rule(
    id="schema.pattern",
    demand="A pattern is an ECMA-262 regular expression, and of moderate size.",
    reason="2020-12 Core, section 6.4. One that cannot be compiled here could not be checked.",
    fix="mend the expression",
    bad=_tool('{"type": "object", "properties": {"code": {"pattern": "["}}}'),
    good=_tool('{"type": "object", "properties": {"code": {"pattern": "[0-9]"}}}'),
)
BOUNDS: Final = Rule(
    id="schema.bounds",
    demand="A schema with all that it refers to stays within bounds of depth, number of subschemas, and size.",
    reason="basic/index, Composition-Keyword Resource Use: a schema must not tie up who validates with it.",
    fix="make it smaller",
)
IDENTIFIER: Final = Rule(
    id="schema.id",
    demand="An identifier is a URI reference that no other part of the schema has.",
    reason="2020-12 Core, section 8.2: references could otherwise not be resolved.",
    fix="leave the identifier out: a self-contained schema needs none",
    bad=_tool('{"type": "object", "properties": {"a": {"$id": "http://[bad"}}}'),
    good=_tool('{"type": "object", "properties": {"a": {}}}'),
)
SCHEMA_RULES: Final = (DIALECT, INVALID, REFERENCE, LOOP, PATTERN, BOUNDS, IDENTIFIER)

_BY_ID: Final = {rule.id: rule for rule in SCHEMA_RULES}


def check_schemas(definition: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is wrong with the ``inputSchema`` and ``outputSchema`` of a plain `definition`."""
    for member in ("inputSchema", "outputSchema"):
        schema = definition.get(member)
        if isinstance(schema, dict):
            for finding in _check_schema(schema):
                yield replace(finding, path=f"/{member}{finding.path or ''}")


def _check_schema(schema: dict[str, Any]) -> Iterator[Diagnostic]:
    declared = schema.get("$schema", DRAFT_2020_12.uri)
    dialect = find_dialect(declared) if isinstance(declared, str) else None
    if dialect is None or dialect.uri is None:
        yield DIALECT.at("/$schema", f"the dialect {show(declared)} is not known")
        return
    if is_plain(schema) and _compiles(schema):
        return
    broken = _broken_by_metaschema(schema, dialect)
    if broken:
        # Which alternative of the meta-schema came closest is of no use to anyone; what is wrong with it is.
        told = [each for each in broken if each.rule not in ("anyOf", "oneOf")]
        yield from (INVALID.at(each.path or "", each.message, each.fix) for each in told or broken)
        return
    try:
        found = [] if is_plain(schema) else _leaving_references(schema)
        if not found:
            compile_validator(schema).compile()
    except SchemaError as error:
        found = list(map(_ruled, error.diagnostics))
    yield from found


def _broken_by_metaschema(schema: dict[str, Any], dialect: Dialect) -> tuple[Diagnostic, ...]:
    if dialect == DRAFT_2020_12 and meets_its_metaschema(schema):
        return ()  # most are; to say what is wrong with one takes a meta-schema that is put together first
    # The dialects of OpenAPI only add annotations, and their meta-schemas are not at hand.
    uri = DRAFT_2020_12.uri if dialect in (OPENAPI_31, OPENAPI_32) else dialect.uri
    return _metaschema(str(uri)).diagnose(schema)


def _compiles(schema: dict[str, Any]) -> bool:
    """Whether the engine takes a plain `schema`: it holds it against the meta-schema itself, and quickly.

    Which it does not take, and why, is for the meta-schema of the dialect to say.
    """
    try:
        compile_validator(schema).compile()
    except SchemaError:
        return False
    return True


def _ruled(finding: Diagnostic) -> Diagnostic:
    """A finding of the schema package, which has a rule for each bound, under the rule that it belongs to here."""
    rule = _BY_ID.get(finding.rule) or (BOUNDS if finding.rule.startswith(BOUNDS.id) else INVALID)
    return rule.at(finding.path or "", finding.message, finding.fix)


@cache
def _metaschema(uri: str) -> Validator:
    return compile_validator({"$ref": uri})


def _leaving_references(schema: dict[str, Any]) -> list[Diagnostic]:
    # Most schemas have no reference; those that have pay for what follows one.
    from discern_server.rules.references import leaving_references

    return [REFERENCE.at(path, message) for path, message in leaving_references(schema)]
