"""Validating the arguments of a call: microseconds for each, in this process."""

from __future__ import annotations

import json
import subprocess
import sys
import timeit
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import environments
from benchmarks.paired import Spread
from benchmarks.rows import Row

GROUP: Final = "validating arguments"

SMALL: Final = (
    {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    {"a": "text", "b": 1},
)

_PROPERTIES: Final[list[dict[str, Any]]] = [
    {"$ref": "#/$defs/address"},
    {"type": "array", "items": {"$ref": "#/$defs/address"}, "maxItems": 10},
    {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[a-z]+$"}, {"type": "null"}]},
    {"type": "string", "enum": ["low", "middle", "high"]},
    {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
]
_VALUES: Final[list[Any]] = [
    {"street": "Main Street", "number": 5, "extra": True},
    [{"street": "Side Street", "number": 6}],
    "text",
    "middle",
    2.5,
]
LARGE: Final = (
    {
        "type": "object",
        "properties": {f"p{number}": _PROPERTIES[number % 5] for number in range(20)},
        "required": [f"p{number}" for number in range(10)],
        "unevaluatedProperties": False,
        "$defs": {
            "address": {
                "type": "object",
                "allOf": [
                    {"properties": {"street": {"type": "string"}}},
                    {"properties": {"number": {"type": "integer"}}},
                ],
                "properties": {"extra": {"type": "boolean"}},
                "required": ["street"],
                "unevaluatedProperties": False,
            }
        },
    },
    {f"p{number}": _VALUES[number % 5] for number in range(20)},
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int


FULL: Final = Size(rounds=15)
QUICK: Final = Size(rounds=7)

_LOOPS: Final = 2_000


def rows(size: Size, _directory: Path) -> list[Row]:
    """The rows about validating, measured in our own environment."""
    command = [environments.python("ours"), "-m", "benchmarks.validation", str(size.rounds)]
    measured = json.loads(subprocess.check_output(command, cwd=environments.ROOT))
    return [
        _row("a small schema", measured["small"], bar=1.0),
        _row("20 properties with $ref, anyOf and unevaluatedProperties", measured["large"], bar=40.0),
    ]


def _row(what: str, microseconds: list[float], *, bar: float) -> Row:
    value = Spread.of(microseconds)
    return Row(group=GROUP, what=what, ours="discern-server", theirs="", value=value, bar=bar, unit=" µs")


def measure(rounds: int) -> dict[str, list[float]]:
    """Microseconds for each validation, by schema: `Validator.diagnose` of good arguments, as every call asks it."""
    from discern_server.schema.validate import compile_validator

    found = {}
    for name, (schema, arguments) in {"small": SMALL, "large": LARGE}.items():
        validator = compile_validator(schema)
        assert not validator.diagnose(arguments)
        timer = timeit.Timer(partial(validator.diagnose, arguments))
        found[name] = [seconds / _LOOPS * 1e6 for seconds in timer.repeat(rounds, _LOOPS)]
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(int(sys.argv[1]))))
