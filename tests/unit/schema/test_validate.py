"""Validation: verdicts, and diagnostics that a model can act on, the same from both engines."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from discern_server.schema.engines import EngineName
from discern_server.schema.errors import SchemaError
from discern_server.schema.validate import Validator, compile_validator

ENGINES: tuple[EngineName, ...] = ("jsonschema-rs", "jsonschema")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def told(validator: Validator, instance: Any) -> list[tuple[str, str | None, str, str | None]]:
    return [(d.rule, d.path, d.message, d.fix) for d in validator.diagnose(instance)]


def test_a_valid_instance_has_no_diagnostics(engine):
    validator = compile_validator(MappingProxyType({"type": "object", "required": ("a",)}), engine=engine)
    assert validator.is_valid({"a": 1})
    assert validator.diagnose({"a": 1}) == ()


def test_a_missing_and_a_misspelt_property_are_named(engine):
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number", "description": "In euros."}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert told(compile_validator(schema, engine=engine), {"amuont": 3}) == [
        ("additionalProperties", "/amuont", '"amuont" is not a known property', 'did you mean "amount"?'),
        ("required", "", '"amount" is missing', 'add "amount" (a number; In euros.)'),
    ]


def test_of_alternatives_the_closest_is_explained(engine):
    schema = {
        "oneOf": [
            {"title": "Card", "properties": {"kind": {"const": "card"}, "number": {"type": "string"}}},
            {"title": "Bank", "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}}},
        ]
    }
    assert told(compile_validator(schema, engine=engine), {"kind": "bank", "iban": 5, "number": 1}) == [
        ("oneOf", "", "matches none of the 2 alternatives; alternative 2 (Bank) comes closest", None),
        ("type", "/iban", "expected a string, got the number 5", None),
    ]


def test_what_is_no_json_is_told_and_never_reaches_an_engine(engine):
    validator = compile_validator({"type": "object"}, engine=engine)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    instance = {"half": "\ud800", "not a number": float("nan"), "long": 10**5000, "set": {1}}
    assert [d.rule for d in validator.diagnose(instance)] == ["json.unicode", "json.number", "json.number", "json.type"]
    assert [d.rule for d in validator.diagnose({"deep": deep})] == ["json.depth"]
    assert not validator.is_valid({"deep": deep})


def test_a_schema_that_is_none_is_a_schema_error(engine):
    with pytest.raises(SchemaError):
        compile_validator({"type": "objekt"}, engine=engine).compile()
