"""The tables of docs/guide/validation.md are true: what each engine says alone, and what we make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from discern_server.schema.engines import EngineName
from discern_server.schema.errors import SchemaError
from discern_server.schema.validate import compile_validator

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "validation.md"


def rows(first_words: str) -> Iterator[Any]:
    """The rows of the table whose header starts with these words: schema, value, and the other cells."""
    lines = iter(GUIDE.read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith(f"| schema | value | {first_words}"))
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        schema, value, *cells = (cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip("|")))
        yield pytest.param(json.loads(schema.strip("`")), literal(value.strip("`")), cells, id=f"{schema} {value}")


def literal(text: str) -> Any:
    return eval(text, {"__builtins__": {}}, {"float": float})  # the guide is ours


def alone(validator: Any, schema: dict[str, Any], value: Any) -> str:
    try:
        return "valid" if validator(schema).is_valid(value) else "invalid"
    except (ValueError, re.error):
        return "error"


def ours(engine: EngineName, schema: dict[str, Any], value: Any) -> str:
    try:
        return "valid" if compile_validator(schema, engine=engine).is_valid(value) else "invalid"
    except SchemaError:
        return "error"


@pytest.mark.parametrize(("schema", "value", "cells"), list(rows("jsonschema-rs")))
def test_where_the_engines_differ_we_do_not(schema, value, cells):
    fast, reference, right, _, verdict = cells
    assert alone(lambda schema: jsonschema_rs.Draft202012Validator(schema, offline=True), schema, value) == fast
    assert alone(jsonschema.Draft202012Validator, schema, value) == reference
    assert ours("jsonschema-rs", schema, value) == ours("jsonschema", schema, value) == verdict
    assert right in (verdict, "either")


@pytest.mark.parametrize(("schema", "value", "cells"), list(rows("with jsonschema-rs")))
def test_where_we_still_differ_the_guide_says_so(schema, value, cells):
    fast, reference, *_ = cells
    assert ours("jsonschema-rs", schema, value) == fast
    assert ours("jsonschema", schema, value) == reference
