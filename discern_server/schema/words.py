"""How values and lists appear in messages: as JSON, shortened; of objects and arrays only their size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

SHOWN_CHARACTERS: Final = 60
"""How much of a value a message quotes."""

SHOWN_CHOICES: Final = 12
"""How many choices (of an enum, of known properties) a message lists."""


class Secret:
    """Stands for a value that is not shown."""


SECRET: Final = Secret()


def type_name(value: Any) -> str:
    """The JSON Schema name of a value's type; ``integer`` also for 1.0, as the specification has it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def show(value: Any) -> str:
    """A value in a message: scalars as JSON, shortened; of objects and arrays only their size."""
    if isinstance(value, Secret):
        return "a value that is kept secret"
    if isinstance(value, Mapping):
        return f"an object with {count_of(len(value), 'property', 'properties')}"
    if isinstance(value, list | tuple):
        return f"an array of {count_of(len(value), 'item', 'items')}"
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return short(value)
    return f"the number {short(value)}"


def short(value: Any) -> str:
    """A value as JSON, cut off where it is long. Unlike `show`, also what is in objects and arrays: for schemas."""
    if isinstance(value, str):
        return quote(value)
    try:
        return cut(json.dumps(value, ensure_ascii=False), SHOWN_CHARACTERS)
    except (TypeError, ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"


def quote(text: str) -> str:
    """A text in double quotes, cut off where it is long; with escapes where it could not be printed."""
    return json.dumps(cut(text, SHOWN_CHARACTERS), ensure_ascii=not text.isprintable())


def cut(text: str, length: int) -> str:
    """The first `length` characters, of which the last is an ellipsis where there are more."""
    return text if len(text) <= length else text[: length - 1] + "…"


def count_of(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


def listed(words: list[str]) -> str:
    """The first words of a list, and how many more there are."""
    rest = len(words) - SHOWN_CHOICES
    return ", ".join(words[:SHOWN_CHOICES]) + (f" and {rest} more" if rest > 0 else "")


_ARTICLE: Final = {"object": "an object", "array": "an array", "integer": "an integer", "null": "null"}


def any_of(types: list[str]) -> str:
    """JSON Schema types with their articles: ``a string or null``."""
    return " or ".join(_ARTICLE.get(name, f"a {name}") for name in types)
