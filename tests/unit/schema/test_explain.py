"""What a failed validation says: one table of values and words, the same from both engines."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.schema.validate import compile_validator

# schema, value, and (rule, path, message, fix) of each finding
Finding = tuple[str, str, str, str | None]
CASES: dict[str, tuple[Any, Any, list[Finding]]] = {
    "a number as text": (
        {"type": "integer"},
        "12",
        [("type", "", 'expected an integer, got "12"', "give the integer itself, not text that holds it")],
    ),
    "an object as text": (
        {"type": "object"},
        '{"a": 1}',
        [("type", "", 'expected an object, got "{\\"a\\": 1}"', "give the object itself, not text that holds it")],
    ),
    "null": (
        {"type": ["string", "integer"]},
        None,
        [("type", "", "expected a string or an integer, got null", "leave it out, or give a value")],
    ),
    "another type": ({"type": "string"}, True, [("type", "", "expected a string, got true", "give a string")]),
    "required": (
        {"required": ["a"], "properties": {"a": {"type": "string", "description": "Who."}}},
        {},
        [("required", "", '"a" is missing', 'add "a" (a string; Who.)')],
    ),
    "dependentRequired": (
        {"dependentRequired": {"a": ["b", "c"]}},
        {"a": 1, "c": 1},
        [("dependentRequired", "", '"b" is missing, which "a" needs', 'add "b"')],
    ),
    "a property too many": (
        {"properties": {"from": {}, "to": {}}, "additionalProperties": False},
        {"x": 1},
        [("additionalProperties", "/x", '"x" is not a known property', 'leave it out; known are "from", "to"')],
    ),
    "a property where there is none": (
        {"additionalProperties": False},
        {"x": 1},
        [("additionalProperties", "/x", '"x" is not a known property', "leave it out")],
    ),
    "unevaluated": (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"a": 1, "x": 1},
        [("unevaluatedProperties", "/x", '"x" is not a known property', 'leave it out; known are "a"')],
    ),
    "unevaluated, beside what is described elsewhere": (
        {"$ref": "#/$defs/a", "properties": {"b": {}}, "unevaluatedProperties": False, "$defs": {"a": {}}},
        {"x": 1},
        [("unevaluatedProperties", "/x", '"x" is not a known property', "leave it out")],
    ),
    "a property name": (
        {"propertyNames": {"pattern": "^[a-z]+$"}},
        {"A/b": 1},
        [("pattern", "/A~1b", 'not a good property name: "A/b" does not match the pattern "^[a-z]+$"', None)],
    ),
    "enum": (
        {"enum": ["red", "green", None]},
        "gren",
        [("enum", "", '"gren" is not one of "red", "green", null', 'use "green"')],
    ),
    "enum, nothing near": ({"enum": [1, 2]}, "x", [("enum", "", '"x" is not one of 1, 2', None)]),
    "const": ({"const": 5}, 6, [("const", "", "the number 6 is not 5", "use 5")]),
    "minimum": ({"minimum": 3}, 1, [("minimum", "", "the number 1 is less than 3", "give 3 or more")]),
    "exclusiveMaximum": (
        {"exclusiveMaximum": 3},
        3,
        [("exclusiveMaximum", "", "the number 3 is not less than 3", "give less than 3")],
    ),
    "multipleOf": (
        {"multipleOf": 0.1},
        0.35,
        [("multipleOf", "", "the number 0.35 is not a multiple of 0.1", "give a multiple of 0.1")],
    ),
    "maxLength": ({"maxLength": 1}, "abc", [("maxLength", "", '"abc" is too long', "give at most 1 characters")]),
    "pattern": (
        {"pattern": "^a$"},
        "b",
        [("pattern", "", '"b" does not match the pattern "^a$"', 'give text that matches "^a$"')],
    ),
    "items": (
        {"items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
        ["a", "a"],
        [
            ("minItems", "", "an array of 2 items has too few items", "give at least 3"),
            ("uniqueItems", "", "an array of 2 items holds the same item twice, at 0 and 1", "give each item once"),
        ],
    ),
    "contains, by reference": (
        {"contains": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
        [1],
        [("contains", "", "an array of 1 item has no item that is of the kind described", "add such an item")],
    ),
    "uniqueItems, of which two are one number": (
        {"uniqueItems": True},
        [{"a": 1}, 2, {"a": 1.0}],
        [("uniqueItems", "", "an array of 3 items holds the same item twice, at 0 and 2", "give each item once")],
    ),
    "contains": (
        {"contains": {"type": "string"}},
        [1],
        [("contains", "", 'an array of 1 item has no item that matches {"type": "string"}', "add such an item")],
    ),
    "minContains": (
        {"contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
        ["a", 1],
        [
            (
                "minContains",
                "",
                "an array of 2 items has too few items of the kind that must be there",
                "give at least 2 of them",
            )
        ],
    ),
    "maxContains": (
        {"contains": {"type": "string"}, "minContains": 0, "maxContains": 1},
        ["a", "b"],
        [("maxContains", "", "an array of 2 items has too many items of one kind", "give at most 1 of them")],
    ),
    "maxContains, and none": (
        {"contains": {"type": "string"}, "maxContains": 1},
        [],
        [("contains", "", 'an array of 0 items has no item that matches {"type": "string"}', "add such an item")],
    ),
    "unevaluatedItems": (
        {"prefixItems": [{}], "unevaluatedItems": False},
        [1, 2],
        [("unevaluatedItems", "", "an array of 2 items has more items than are described", "leave out the last ones")],
    ),
    "minProperties": (
        {"minProperties": 2},
        {"a": 1},
        [("minProperties", "", "an object with 1 property has too few properties", "give at least 2")],
    ),
    "not": (
        {"not": {"type": "object"}},
        {},
        [
            (
                "not",
                "",
                'an object with 0 properties matches {"type": "object"}, which is not allowed here',
                "give another value",
            )
        ],
    ),
    "false": ({"properties": {"a": False}}, {"a": 1}, [("false", "/a", "nothing is allowed here", "leave it out")]),
    "if": (
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"a": 1},
        [("required", "", '"b" is missing', 'add "b"')],
    ),
    "alternatives by type alone": (
        {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]},
        [],
        [("anyOf", "", "expected a string or an integer or null, got an array of 0 items", None)],
    ),
    "one alternative": (
        {"anyOf": [{"required": ["a"]}]},
        {},
        [
            ("anyOf", "", "does not match; alternative 1 comes closest", None),
            ("required", "", '"a" is missing', 'add "a"'),
        ],
    ),
    "an alternative by reference": (
        {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/Card"}], "$defs": {"Card": {"required": ["number"]}}},
        {},
        [
            ("oneOf", "", "matches none of the 2 alternatives; alternative 2 (Card) comes closest", None),
            ("required", "", '"number" is missing', 'add "number"'),
        ],
    ),
    "alternatives inside of alternatives": (
        {
            "anyOf": [
                {"type": "string"},
                {"properties": {"a": {"anyOf": [{"type": "object", "required": ["b"]}, {"type": "null"}]}}},
            ]
        },
        {"a": {}},
        [
            ("anyOf", "", "matches none of the 2 alternatives; alternative 2 comes closest", None),
            ("anyOf", "/a", "matches none of the 2 alternatives; alternative 1 comes closest", None),
            ("required", "/a", '"b" is missing', 'add "b"'),
        ],
    ),
    "the tag of a union": (
        {
            "oneOf": [
                {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["lives"]},
                {"properties": {"kind": {"enum": ["dog", "wolf"]}}},
            ]
        },
        {"kind": "wofl"},
        [("oneOf", "/kind", '"wofl" is not one of "cat", "dog", "wolf"', 'use "wolf"')],
    ),
    "alternatives that are values": (
        {"anyOf": [{"const": 1}, {"enum": ["on", "off"]}, {"type": "null"}]},
        "1",
        [("anyOf", "", '"1" is not one of 1, "on", "off", null', "use 1")],
    ),
    "no alternative is allowed": (
        {"anyOf": [False, False]},
        1,
        [
            ("anyOf", "", "matches none of the 2 alternatives; alternative 1 comes closest", None),
            ("false", "", "nothing is allowed here", "leave it out"),
        ],
    ),
    "two alternatives of which one is allowed": (
        {"oneOf": [{"type": "string"}, {"type": "integer"}, {"minimum": 1}]},
        3,
        [
            (
                "oneOf",
                "",
                "matches alternative 2, alternative 3; exactly one is allowed",
                "make it match only one of them",
            )
        ],
    ),
    "the same said twice": (
        {"allOf": [{"required": ["a"]}, {"required": ["a"]}]},
        {},
        [("required", "", '"a" is missing', 'add "a"')],
    ),
}


@pytest.mark.parametrize("engine", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize(("schema", "value", "findings"), CASES.values(), ids=CASES)
def test_a_failure_is_told_in_these_words(schema, value, findings, engine):
    found = compile_validator(schema, engine=engine).diagnose(value)
    assert [(each.rule, each.path, each.message, each.fix) for each in found] == findings


def test_the_place_in_the_schema_is_told_through_each_reference():
    schema = {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"items": {"type": "string"}}}}
    (found,) = compile_validator(schema, engine="jsonschema-rs").diagnose({"a": [1]})
    assert (found.path, found.schema_path) == ("/a/0", "/properties/a/$ref/items/type")


def test_a_limit_is_kept_and_the_order_is_that_of_the_value():
    found = compile_validator({"additionalProperties": {"type": "string"}}).diagnose({"b": 1, "a": 1, "c": 1}, limit=2)
    assert [each.path for each in found] == ["/a", "/b"]


@pytest.mark.parametrize(
    "text", ["[" * 5_000, "1" * 5_000, "1" * 50_000, "\ud83d".encode("utf-16", "surrogatepass").hex()]
)
def test_text_that_is_no_json_for_a_number_is_told_as_any_other(text):
    (found,) = compile_validator({"type": "integer"}).diagnose(text)
    assert found.fix == "give an integer"


def test_a_part_with_an_identifier_of_its_own_is_explained_too():
    schema = {
        "$id": "https://example.com/root",
        "properties": {"a": {"$ref": "part"}},
        "$defs": {"part": {"$id": "part", "properties": {"b": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"enum": ["x"]}}}},
    }
    for engine in ("jsonschema-rs", "jsonschema"):
        (found,) = compile_validator(schema, engine=engine).diagnose({"a": {"b": "y"}})
        assert (found.rule, found.path, found.message) == ("enum", "/a/b", '"y" is not one of "x"')
