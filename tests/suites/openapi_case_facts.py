"""What a case says of schemas and definitions: facts, and instances that have to be valid or not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator, SchemaError

from discern_server.schema.dialects import DRAFT_2020_12, subschemas
from discern_server.schema.frozen import thaw
from discern_server.schema.pointer import parse, resolve
from discern_server.schema.validate import compile_validator
from discern_server.sources.openapi.definitions import Tool
from tests.suites.openapi_requests import same

Fact = Mapping[str, Any]


class Schemas:
    """The schemas that a case speaks of: ``input`` and ``output`` of its tool, or ``schema`` itself."""

    def __init__(self, tool: Tool | None = None, schema: Any = None) -> None:
        self.tool = tool
        self._held: dict[str, Any] = {} if schema is None else {"schema": schema}
        if tool is not None:
            self._held["input"] = thaw(tool.definition.input_schema)
            if tool.definition.output_schema is not None:
                self._held["output"] = thaw(tool.definition.output_schema)

    def get(self, of: str) -> Any:
        """The schema, or None where the tool has none."""
        return self._held.get(of)

    def accepts(self, of: str, instance: Any) -> bool:
        """Whether the schema accepts an instance (2020-12, format not asserted; patterns are ECMA-262's)."""
        return compile_validator(self._held[of], engine="jsonschema").is_valid(instance)


def fact_failures(facts: list[Fact], schemas: Schemas) -> Iterator[str]:
    """The facts that do not hold."""
    for fact in facts:
        check = _FACTS.get(fact["fact"])
        if check is None:
            yield f"the fact {fact['fact']!r} is not known to this runner"
        elif "of" in fact and schemas.get(fact["of"]) is None:
            yield f"{fact['fact']}: there is no {fact['of']} schema"
        elif (failure := check(fact, schemas)) is not None:
            yield f"{fact['fact']} of {fact.get('of', 'the tool')}: {failure}"


def _valid(fact: Fact, schemas: Schemas) -> str | None:
    try:
        Draft202012Validator.check_schema(schemas.get(fact["of"]), format_checker=None)  # patterns are not Python's
    except SchemaError as error:
        return error.message
    return None


def _root_is_object(fact: Fact, schemas: Schemas) -> str | None:
    found = schemas.get(fact["of"]).get("type")
    return None if found == "object" else f"type is {found!r}"


def _self_contained(fact: Fact, schemas: Schemas) -> str | None:
    root = schemas.get(fact["of"])
    for schema in positions(root):
        for keyword in ("$ref", "$dynamicRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str) and not _resolves(reference, root):
                return f"{keyword} {reference} leads to nothing"
    return None


def _resolves(reference: str, root: Any) -> bool:
    if not reference.startswith("#"):
        return False
    try:
        resolve(root, parse(unquote(reference[1:])))
    except (LookupError, ValueError):
        return False
    return True


def _keyword_absent(fact: Fact, schemas: Schemas) -> str | None:
    if any(fact["keyword"] in schema for schema in positions(schemas.get(fact["of"]))):
        return f"{fact['keyword']} is there"
    return None


def _enum_unique(fact: Fact, schemas: Schemas) -> str | None:
    for schema in positions(schemas.get(fact["of"])):
        values = schema.get("enum", [])
        if any(same(one, other) for index, one in enumerate(values) for other in values[:index]):
            return f"enum {values!r} repeats itself"
    return None


def _text_contains(fact: Fact, schemas: Schemas) -> str | None:
    text = json.dumps(schemas.get(fact["of"]), ensure_ascii=False)
    return None if fact["text"] in text else f"{fact['text']!r} is not in it"


def _keys_match(fact: Fact, schemas: Schemas) -> str | None:
    keys = schemas.get(fact["of"]).get("properties", {})
    wrong = [key for key in keys if not re.search(fact["pattern"], key)]
    return f"{wrong!r} do not match" if wrong else None


def _not_exposed(fact: Fact, schemas: Schemas) -> str | None:
    found = list(_properties(fact, schemas))
    return f"there is a property for it: {found[0]!r}" if found else None


def _default_is(fact: Fact, schemas: Schemas) -> str | None:
    defaults = [schema["default"] for schema in _properties(fact, schemas) if "default" in schema]
    if any(same(default, fact["value"]) for default in defaults):
        return None
    return f"the defaults are {defaults!r}, not {fact['value']!r}"


def _serialisable(_fact: Fact, schemas: Schemas) -> str | None:
    assert schemas.tool is not None
    try:
        json.dumps(thaw(schemas.tool.definition.wire), allow_nan=False)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


_FACTS: Mapping[str, Callable[[Fact, Schemas], str | None]] = {
    "valid_2020_12": _valid,
    "root_type_object": _root_is_object,
    "self_contained": _self_contained,
    "keyword_absent": _keyword_absent,
    "enum_unique": _enum_unique,
    "schema_text_contains": _text_contains,
    "property_keys_match": _keys_match,
    "not_exposed": _not_exposed,
    "default_is": _default_is,
    "json_serialisable": _serialisable,
}


# --- looking into schemas ---------------------------------------------------------------------------


def positions(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema object in a schema of 2020-12, itself first."""
    pending = [schema]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            yield found
            pending += [inner for _, inner in subschemas(found, DRAFT_2020_12)]


def _properties(fact: Fact, schemas: Schemas) -> Iterator[Mapping[str, Any]]:
    """The schemas of the tool property for a place and a name, what they are combined of included."""
    assert schemas.tool is not None
    root, binding = schemas.get("input"), schemas.tool.binding
    if fact["in"] == "body":
        if binding.body is not None:
            for schema in _parts(root["properties"][binding.body.argument], root):
                if fact["name"] in schema.get("properties", {}):
                    yield from _parts(schema["properties"][fact["name"]], root)
        return
    for parameter in binding.parameters:
        if (parameter.location, parameter.name) == (fact["in"], fact["name"]):
            yield from _parts(root["properties"][parameter.argument], root)


def _parts(schema: Any, root: Any) -> Iterator[Mapping[str, Any]]:
    pending, seen = [schema], set[int]()
    while pending:
        found = pending.pop()
        if not isinstance(found, dict) or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        if "$ref" in found:
            pending.append(resolve(root, parse(unquote(found["$ref"][1:]))))
        for keyword in ("allOf", "anyOf", "oneOf"):
            pending += found.get(keyword, [])
