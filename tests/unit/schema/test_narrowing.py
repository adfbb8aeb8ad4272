"""In a value too large to collect every failure of, verdicts lead to what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.schema.cost import Cost
from discern_server.schema.local_references import LocalReferences
from discern_server.schema.narrowing import AFFORDABLE
from discern_server.schema.validate import compile_validator

MANY = 30_000
NUMBERS = {"type": "array", "items": {"type": "integer"}}
WRONG = [*range(MANY), "x"]


def cost(schema: Any, value: Any) -> int:
    return Cost(LocalReferences(schema)).of("", value)


def nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


@pytest.mark.parametrize(
    ("schema", "value", "path", "schema_path"),
    [
        pytest.param(NUMBERS, WRONG, f"/{MANY}", "/items/type", id="items"),
        pytest.param(
            {"prefixItems": [{}, NUMBERS]}, [0, WRONG], f"/1/{MANY}", "/prefixItems/1/items/type", id="prefixItems"
        ),
        pytest.param(
            {"properties": {"a/b": NUMBERS}}, {"a/b": WRONG}, f"/a~1b/{MANY}", "/properties/a~1b/items/type", id="key"
        ),
        pytest.param(
            {"properties": {"a": {}}, "additionalProperties": NUMBERS},
            {"a": 0, "b": WRONG},
            f"/b/{MANY}",
            "/additionalProperties/items/type",
            id="additionalProperties",
        ),
        pytest.param({"allOf": [{}, NUMBERS]}, WRONG, f"/{MANY}", "/allOf/1/items/type", id="allOf"),
        pytest.param(
            {"$ref": "#/$defs/n%20n", "$defs": {"n n": NUMBERS}}, WRONG, f"/{MANY}", "/$ref/items/type", id="$ref"
        ),
        pytest.param(
            {"$ref": "#here", "$defs": {"n": {"$anchor": "here", **NUMBERS}}},
            WRONG,
            f"/{MANY}",
            "/$ref/items/type",
            id="anchor",
        ),
        pytest.param(
            {
                "oneOf": [
                    {"type": "object", "properties": {"k": {"const": kind}, "v": NUMBERS}, "required": ["k"]}
                    for kind in ("a", "b")
                ]
            },
            {"k": "b", "v": WRONG},
            f"/v/{MANY}",
            "/oneOf/1/properties/v/items/type",
            id="the alternative whose constant fits",
        ),
    ],
)
def test_the_one_wrong_value_of_many_is_found(schema, value, path, schema_path):
    assert cost(schema, value) > AFFORDABLE
    found = compile_validator(schema, engine="jsonschema-rs").diagnose(value)
    assert [(each.rule, each.path, each.schema_path) for each in found] == [("type", path, schema_path)]


def test_what_is_wrong_with_a_large_value_itself_is_told_beside_what_is_wrong_in_it():
    schema = {
        "properties": {"rows": {**NUMBERS, "maxItems": 5}, "id": {"type": "string", "description": "Whose."}},
        "patternProperties": {"^x-": {}},
        "required": ["id"],
        "additionalProperties": False,
    }
    found = compile_validator(schema, engine="jsonschema-rs").diagnose({"rows": WRONG, "x-a": 1, "rws": 1})
    assert [(each.rule, each.path, each.schema_path, each.fix) for each in found] == [
        ("additionalProperties", "/rws", "/additionalProperties", 'did you mean "rows"?'),
        ("required", "", "/required", 'add "id" (a string; Whose.)'),
        ("maxItems", "/rows", "/properties/rows/maxItems", "give at most 5"),
        ("type", f"/rows/{MANY}", "/properties/rows/items/type", "give an integer"),
    ]


def test_many_properties_too_many_are_told_as_few_are():
    schema = {"properties": {f"name{n}": {} for n in range(1_000)}, "additionalProperties": False}
    found = compile_validator(schema, engine="jsonschema-rs").diagnose({f"nome{n}": n for n in range(MANY)}, limit=1)
    assert [(each.rule, each.path, each.message) for each in found] == [
        ("additionalProperties", "/nome0", '"nome0" is not a known property')
    ]


def test_many_missing_properties_of_a_large_value_are_told_without_a_copy_of_it_for_each():
    schema = {"required": [f"name{n}" for n in range(500)]}
    found = compile_validator(schema, engine="jsonschema-rs").diagnose({"rows": [{"id": n} for n in range(MANY)]})
    assert [(each.rule, each.path) for each in found] == [("required", "")] * 20


def test_what_no_verdict_leads_to_is_at_least_told_with_its_place():
    found = compile_validator({"contains": {"const": -1}}, engine="jsonschema-rs").diagnose(WRONG)
    assert [(each.rule, each.path) for each in found] == [("cost", "")]
    assert found[0].message.endswith("it is not what the schema asks for, and too large to say where")


def test_what_refers_to_what_is_guessed_where_a_part_has_an_identifier_of_its_own():
    schema = {"$ref": "part", "$defs": {"part": {"$id": "part", "items": {"$ref": "#"}, "type": "array"}}}
    assert cost(schema, [1]) < AFFORDABLE < cost(schema, nested(12, 1))
    assert compile_validator(schema, engine="jsonschema-rs").diagnose(nested(12, 1))


def test_the_cost_of_a_recursive_union_grows_with_depth_and_that_of_a_tree_does_not():
    tree = {"items": {"$ref": "#"}}
    assert cost(tree, nested(100, 1)) < AFFORDABLE
    union = {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "minItems": 1}]}
    assert cost(union, nested(3, 1)) < AFFORDABLE < cost(union, nested(20, 1))


def test_the_cost_of_a_wide_object_counts_what_looks_at_one_property():
    narrow = {"properties": {f"p{n}": {"type": "string"} for n in range(1_000)}}
    wide = {"patternProperties": {f"p{n}": {"type": "string"} for n in range(1_000)}}
    value = {f"p{n}": "x" for n in range(100)}
    assert cost(narrow, value) < AFFORDABLE < cost(wide, value)
