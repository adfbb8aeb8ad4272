"""Arguments for a tool, made from its ``inputSchema`` alone: what a client that knows nothing else could send."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from discern_server.schema.pointer import parse, resolve
from discern_server.schema.validate import compile_validator

_MAX_DEPTH: Final = 6
_TRIES: Final = 12
_FORMATS: Final[Mapping[str, str]] = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:30:00Z",
    "time": "12:30:00Z",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/a",
    "uri-reference": "/a/b",
    "url": "https://example.com/a",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "byte": "aGVsbG8=",
    "base64": "aGVsbG8=",
    "password": "secret",
}


def arguments(schema: Mapping[str, Any], *, full: bool, seed: int = 0) -> dict[str, Any] | None:
    """Arguments that `schema` accepts; with every property where `full`, else with the required ones.

    None where none were found.
    """
    check = compile_validator(schema)
    for attempt in range(_TRIES):
        chance = random.Random(seed * _TRIES + attempt)
        wanted = 0.0 if not full else 1.0 if attempt < _TRIES / 2 else 0.5
        made = _Maker(schema, chance, wanted).value(schema, 0)
        if isinstance(made, dict) and check.is_valid(made):
            return made
    return None


class _Maker:
    """Makes values, an optional property with the probability `wanted`.

    Alternatives are chosen at random, so that another seed may fit where one does not.
    """

    def __init__(self, root: Mapping[str, Any], chance: random.Random, wanted: float) -> None:
        self._root = root
        self._chance = chance
        self._wanted = wanted
        self._full = wanted > 0
        self._makers: Mapping[str, Callable[[Mapping[str, Any], int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": lambda schema, _: self._string(schema),
            "integer": lambda schema, _: self._number(schema, whole=True),
            "number": lambda schema, _: self._number(schema, whole=False),
            "boolean": lambda *_: self._chance.random() < 0.5,
            "null": lambda *_: None,
        }

    def value(self, schema: Any, depth: int) -> Any:
        """A value for a schema."""
        if not isinstance(schema, Mapping):
            return "x"
        schema = self._flat(schema)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._chance.choice(list(schema["enum"]))
        return self._makers[self._type(schema)](schema, depth)

    def _type(self, schema: Mapping[str, Any]) -> str:
        declared = schema.get("type")
        if isinstance(declared, list | tuple):
            named = [name for name in declared if name != "null"] or ["null"]
            return str(self._chance.choice(named))
        if isinstance(declared, str):
            return declared
        return "object" if "properties" in schema else "array" if "items" in schema else "string"

    def _flat(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema with references followed, ``allOf`` merged in, and one of ``anyOf`` and ``oneOf`` chosen."""
        parts = [schema]
        merged: dict[str, Any] = {}
        while parts:
            part = parts.pop()
            if "$ref" in part:
                parts.append(resolve(self._root, parse(part["$ref"][1:])))
            parts += part.get("allOf", ())
            parts += [self._chance.choice(list(part[key])) for key in ("anyOf", "oneOf") if part.get(key)]
            _merge(merged, part)
        return merged

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        names = list(schema.get("required", ()))
        if self._full and depth < _MAX_DEPTH:
            names += [name for name in properties if name not in names and self._chance.random() < self._wanted]
        extra = schema.get("additionalProperties", True)
        made = {name: self.value(properties.get(name, extra), depth + 1) for name in names}
        return {name: value for name, value in made.items() if properties.get(name, extra) is not False}

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        fixed = schema.get("prefixItems", ())
        count = max(schema.get("minItems", 0), len(fixed), 1 if self._full and depth < _MAX_DEPTH else 0)
        count = min(count, schema.get("maxItems", count))
        made = [self.value(fixed[n] if n < len(fixed) else schema.get("items", {}), depth + 1) for n in range(count)]
        if schema.get("uniqueItems"):
            return [item for index, item in enumerate(made) if item not in made[:index]]
        return made

    def _string(self, schema: Mapping[str, Any]) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        if schema.get("contentEncoding") == "base64":
            return "aGVsbG8="
        if "pattern" in schema:
            return _matching(schema["pattern"], least, most)
        text = _FORMATS.get(str(schema.get("format"))) or ("a b&c" if self._full else "word")
        return (text if len(text) <= most else text[:most]).ljust(least, "x")

    def _number(self, schema: Mapping[str, Any], *, whole: bool) -> float:
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        most = schema.get("maximum", schema.get("exclusiveMaximum"))
        step = schema.get("multipleOf", 1)
        low = least if least is not None else min(1, most) if most is not None else 1
        number = -(-low // step) * step
        if number == schema.get("exclusiveMinimum"):
            number += step
        if most is not None and number > most and least is not None:
            number = (least + most) / 2
        return int(number) if whole or number == int(number) else number


def _merge(merged: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if key == "properties":
            for name, schema in value.items():
                held = merged.setdefault(key, {})
                held[name] = {"allOf": [held[name], schema]} if name in held else schema
        elif key == "required":
            merged[key] = [*merged.get(key, ()), *(name for name in value if name not in merged.get(key, ()))]
        elif key not in ("$ref", "allOf", "anyOf", "oneOf"):
            merged.setdefault(key, value)


@lru_cache(maxsize=256)
def _matching(pattern: str, least: int, most: int) -> str:
    """The simplest text that hypothesis finds for a pattern."""
    quiet = settings(
        database=None,
        derandomize=True,
        max_examples=200,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    try:
        texts = st.from_regex(pattern.replace(r"\p{L}", "A-Za-z")).map(lambda text: text.rstrip("\n"))
        return str(find(texts, lambda text: least <= len(text) <= most and text.isprintable(), settings=quiet))
    except (HypothesisException, ValueError, re.error):
        return "x" * max(least, 1)
