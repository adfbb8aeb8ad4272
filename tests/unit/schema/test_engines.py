"""The fast engine's own copy of the meta-schema: asked first, and right where it says yes."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.schema.engines import meets_its_metaschema
from discern_server.schema.validate import compile_validator

METASCHEMA = compile_validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "numbr"},
        {"type": ["string", "string"]},
        {"properties": {"a": 5}},
        {"$defs": {"a": {"minimum": "1"}}, "$ref": "#/$defs/a"},
        {"$ref": 5},
        {"required": ["a", "a"]},
        {"anyOf": []},
        {"multipleOf": 0},
        {"$anchor": "not an anchor"},
        {"$id": "a#b"},
        {"unevaluatedProperties": {"pattern": 1}},
        {"$schema": "https://example.com/unknown"},
    ],
    ids=str,
)
def test_it_accepts_no_schema_that_is_invalid_or_not_known(schema: dict[str, Any]):
    assert not meets_its_metaschema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/a", "$defs": {"a": True}},
        {"properties": {"$ref": {"type": "string"}}, "unknown": 5},
        {"definitions": {"a": {"nullable": True}}, "dependencies": {"a": ["b"]}},
        {"$id": "https://example.com/a", "$defs": {"b": {"$id": "b", "$anchor": "c"}}},
    ],
    ids=str,
)
def test_what_it_accepts_the_published_one_accepts(schema: dict[str, Any]):
    assert meets_its_metaschema(schema)
    assert METASCHEMA.is_valid(schema)
