"""x-mcp-header: every case by its rules, and the same verdict as the SDK's own check."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.inbound import find_invalid_x_mcp_header

from discern_server.result import Severity
from discern_server.rules import check_definition

STRING = {"type": "string"}


def marked(header: Any = "Region", **schema: Any) -> dict[str, Any]:
    return {**(schema or STRING), "x-mcp-header": header}


def at(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("none", at(a=STRING), []),
    ("string", at(a=marked()), []),
    ("integer", at(a=marked(type="integer")), []),
    ("boolean", at(a=marked(type="boolean")), []),
    ("nested", at(a=at(b=at(c=marked()))), []),
    ("every token character", at(a=marked("!#$%&'*+-.^_`|~09AZaz")), []),
    ("a property of that name", at(**{"x-mcp-header": STRING}), []),
    ("in data", at(a={"type": "string", "default": {"x-mcp-header": 5}, "enum": [{"x-mcp-header": ""}]}), []),
    ("empty", at(a=marked("")), [("header.name", "/a/x-mcp-header")]),
    ("space", at(a=marked("My Region")), [("header.name", "/a/x-mcp-header")]),
    ("newline", at(a=marked("Region\n")), [("header.name", "/a/x-mcp-header")]),
    ("carriage return", at(a=marked("Re\rgion")), [("header.name", "/a/x-mcp-header")]),
    ("colon", at(a=marked("Region:")), [("header.name", "/a/x-mcp-header")]),
    ("not ASCII", at(a=marked("Région")), [("header.name", "/a/x-mcp-header")]),
    ("a number for a name", at(a=marked(5)), [("header.name", "/a/x-mcp-header")]),
    ("null for a name", at(a=marked(None)), [("header.name", "/a/x-mcp-header")]),
    ("number", at(a=marked(type="number")), [("header.type", "/a/type")]),
    ("object", at(a=marked(type="object")), [("header.type", "/a/type")]),
    ("array", at(a=marked(type="array")), [("header.type", "/a/type")]),
    ("null", at(a=marked(type="null")), [("header.type", "/a/type")]),
    ("two types", at(a=marked(type=["string", "null"])), [("header.type", "/a/type")]),
    ("one type in an array", at(a=marked(type=["string"])), [("header.type", "/a/type")]),
    ("no type", at(a=marked(enum=["a"])), [("header.type", "/a/type")]),
    ("twice", at(a=marked(), b=marked("REGION")), [("header.unique", "/b/x-mcp-header")]),
    ("twice, nested", at(a=marked(), b=at(c=marked("region"))), [("header.unique", "/b/properties/c/x-mcp-header")]),
    ("in items", at(a={"type": "array", "items": marked()}), [("header.place", "/a/items/x-mcp-header")]),
    ("in anyOf", at(a={"anyOf": [marked(), STRING]}), [("header.place", "/a/anyOf/0/x-mcp-header")]),
    ("in not", at(a={"not": marked()}), [("header.place", "/a/not/x-mcp-header")]),
    (
        "in additionalProperties",
        at(a={"type": "object", "additionalProperties": marked()}),
        [("header.place", "/a/additionalProperties/x-mcp-header")],
    ),
    (
        "in properties of an alternative",
        at(a={"oneOf": [at(b=marked())]}),
        [("header.place", "/a/oneOf/0/properties/b/x-mcp-header")],
    ),
    (
        "several faults of one",
        at(a={"items": marked("a b", type="number")}),
        [
            ("header.place", "/a/items/x-mcp-header"),
            ("header.name", "/a/items/x-mcp-header"),
            ("header.type", "/a/items/type"),
        ],
    ),
]
OUTSIDE_PROPERTIES: list[tuple[str, dict[str, Any], str]] = [
    ("at the root", {**at(), "x-mcp-header": "Region", "type": "object"}, "/x-mcp-header"),
    ("in $defs", {**at(), "$defs": {"a": marked()}}, "/$defs/a/x-mcp-header"),
    ("in allOf", {**at(), "allOf": [at(a=marked())]}, "/allOf/0/properties/a/x-mcp-header"),
    ("in then", {**at(), "if": True, "then": at(a=marked())}, "/then/properties/a/x-mcp-header"),
    ("in patternProperties", {**at(), "patternProperties": {"^a": marked()}}, "/patternProperties/^a/x-mcp-header"),
    (
        "in dependentSchemas",
        {**at(), "dependentSchemas": {"a": at(b=marked())}},
        "/dependentSchemas/a/properties/b/x-mcp-header",
    ),
]


def header_errors(schema: dict[str, Any]) -> list[tuple[str, str | None]]:
    definition = {"name": "query", "description": "…", "inputSchema": schema}
    return [
        (finding.rule, finding.path)
        for finding in check_definition(definition)
        if finding.rule.startswith("header.") and finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(("schema", "found"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_case_breaks_these_rules(schema, found):
    assert header_errors(schema) == [(rule, f"/inputSchema/properties{path}") for rule, path in found]


@pytest.mark.parametrize(
    ("schema", "path"), [case[1:] for case in OUTSIDE_PROPERTIES], ids=[case[0] for case in OUTSIDE_PROPERTIES]
)
def test_outside_of_properties_it_is_out_of_place(schema, path):
    assert ("header.place", f"/inputSchema{path}") in header_errors(schema)


@pytest.mark.parametrize(
    "schema",
    [case[1] for case in (*CASES, *OUTSIDE_PROPERTIES)],
    ids=[case[0] for case in (*CASES, *OUTSIDE_PROPERTIES)],
)
@pytest.mark.requirement(59)
def test_the_sdk_gives_the_same_verdict(schema):
    assert (find_invalid_x_mcp_header(schema) is None) == (header_errors(schema) == [])


@pytest.mark.parametrize(
    ("keyword", "value"),
    [("maximum", 2**53), ("minimum", -(2**53)), ("const", 2**60), ("enum", [1, 2**53]), ("default", 1e300)],
)
def test_an_integer_that_a_double_does_not_hold_is_named(keyword, value):
    """The specification demands it of values; what the schema itself says of them can be known beforehand."""
    schema = at(a=marked(type="integer", **{keyword: value}))
    assert header_errors(schema) == [("header.safe-integer", f"/inputSchema/properties/a/{keyword}")]
    assert header_errors(at(a=marked(type="integer", **{keyword: 5 if keyword != "enum" else [5]}))) == []
