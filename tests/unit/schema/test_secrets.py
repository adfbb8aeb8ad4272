"""A value that a schema marks as secret is in no message, however it is wrong."""

from __future__ import annotations

import pytest

from discern_server.schema.validate import compile_validator

SECRET = "hunter2"
LONG = {"minLength": 10}


@pytest.mark.parametrize("engine", ["jsonschema-rs", "jsonschema"])
@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        pytest.param({"properties": {"pw": {"writeOnly": True, **LONG}}}, {"pw": SECRET}, id="writeOnly"),
        pytest.param({"properties": {"pw": {"format": "password", "enum": ["a"]}}}, {"pw": SECRET}, id="password"),
        pytest.param(
            {"properties": {"pw": {"$ref": "#/$defs/s%20s"}}, "$defs": {"s s": {"writeOnly": True, **LONG}}},
            {"pw": SECRET},
            id="behind $ref",
        ),
        pytest.param({"additionalProperties": {"writeOnly": True, **LONG}}, {"pw": SECRET}, id="without a name"),
        pytest.param(
            {"additionalProperties": {"$ref": "#/$defs/s"}, "$defs": {"s": {"writeOnly": True, "type": "integer"}}},
            {"pw": SECRET},
            id="without a name, behind $ref",
        ),
        pytest.param(
            {"properties": {"pw": {"writeOnly": True}}, "allOf": [{"properties": {"pw": LONG}}]},
            {"pw": SECRET},
            id="marked elsewhere",
        ),
        pytest.param(
            {"properties": {"pws": {"items": {"writeOnly": True, **LONG}}}}, {"pws": [SECRET]}, id="items of an array"
        ),
        pytest.param(
            {"properties": {"pw": {"anyOf": [{"writeOnly": True, **LONG}, {"type": "integer"}]}}},
            {"pw": SECRET},
            id="in an alternative",
        ),
        pytest.param({"properties": {"pw": {"writeOnly": True, "const": "x"}}}, {"pw": f'"{SECRET}"'}, id="JSON text"),
        pytest.param({"type": "array", "properties": {}}, {"pw": SECRET}, id="inside of what is wrong"),
    ],
)
def test_a_secret_is_never_shown(schema, instance, engine):
    diagnostics = compile_validator(schema, engine=engine).diagnose(instance)
    assert diagnostics
    assert SECRET not in repr(diagnostics)


def test_a_value_that_is_no_secret_is_shown():
    schema = {"properties": {"pw": {"writeOnly": True}, "name": LONG}}
    (diagnostic,) = compile_validator(schema).diagnose({"pw": SECRET, "name": "Ada"})
    assert diagnostic.message == '"Ada" is too short'
