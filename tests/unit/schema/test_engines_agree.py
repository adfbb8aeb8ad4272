"""Both engines give one verdict on whatever is made up, and what they find wrong is told and is there."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from discern_server.schema.pointer import parse, resolve
from discern_server.schema.validate import compile_validator

NAMES = st.sampled_from(["a", "b", "ab", "é"])
COUNTS = st.integers(0, 3)
TYPES = st.sampled_from(["string", "integer", "number", "object", "array", "null", "boolean"])
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 2, 1.0, 0.3, 10**20, "", "a", "ab", "a\n", "é", "\u0663"]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def schemas_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, min_size=1, max_size=2)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "$ref": st.sampled_from(["#/$defs/tree", "#/$defs/union"]),
        "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=2, unique=True)),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": st.sampled_from([0, 0.5, 2]),
        "exclusiveMaximum": st.sampled_from([1, 1.5]),
        "multipleOf": st.sampled_from([1, 2, 0.1]),
        "minLength": COUNTS,
        "pattern": st.sampled_from(["^a$", r"^\w+$", r"\d", "[^a]", r"^\p{L}*$"]),
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "propertyNames": inner,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
        "dependentSchemas": named,
        "prefixItems": several,
        "items": inner,
        "unevaluatedItems": inner,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "uniqueItems": st.booleans(),
        "maxItems": COUNTS,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }
    pairs = st.one_of([st.tuples(st.just(keyword), values) for keyword, values in keywords.items()])
    return st.lists(pairs, min_size=1, max_size=4).map(dict)


SCHEMAS = st.recursive(st.one_of(st.booleans(), st.just({"type": "string"})), schemas_of, max_leaves=6)
DEFINITIONS = {
    "tree": {"properties": {"a": {"$ref": "#/$defs/union"}}},
    "union": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/tree"}, "minItems": 1}]},
}


@settings(max_examples=150, deadline=None)
@given(schemas_of(SCHEMAS), st.lists(VALUES, min_size=1, max_size=5))
def test_both_engines_give_one_verdict_and_tell_what_is_wrong(schema, values):
    schema = {**schema, "$defs": DEFINITIONS}
    fast = compile_validator(schema, engine="jsonschema-rs")
    reference = compile_validator(schema, engine="jsonschema")
    for value in values:
        verdict = fast.is_valid(value)
        assert reference.is_valid(value) is verdict
        for validator in (fast, reference):
            found = validator.diagnose(value)
            assert (found == ()) is verdict
            for diagnostic in found:
                resolve(value, parse(diagnostic.path or ""))
                assert diagnostic.message
