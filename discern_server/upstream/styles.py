"""The styles of OpenAPI parameters: pure functions from a JSON value to what stands on the wire.

The rules are those of RFC 6570, which the OpenAPI Specification (3.2, "Style Values") refers to:

- null is undefined; a list or an object whose members are all undefined, or that has none, is undefined;
- what is undefined is left out, in a list and in an object too (RFC 6570, section 2.3);
- an empty string is a value: ``name=`` in a query, ``;name`` in a matrix.

A number and a boolean are written as JSON writes them (appendix B of OpenAPI 3.1 and 3.2). An object or a list
inside a list or an object, whose writing OpenAPI 3 leaves open, is written as compact JSON;
`deepObject` writes it with further brackets. Swagger 2.0 says how lists in lists are written (`nested`).

Names and values are encoded by the function that is handed in, delimiters of ``spaceDelimited``,
``pipeDelimited`` and ``tabDelimited`` too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from discern_server.upstream.binding import Style
from discern_server.upstream.percent import Encode

Pair: TypeAlias = tuple[str, str]

_DELIMITERS: Final[Mapping[Style, str]] = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}

_LARGEST_PLAIN_INTEGER: Final = 1e21
"""From here on JSON writers use an exponent (ECMA-262, Number::toString)."""


def as_text(value: Any) -> str:
    """A JSON value as the text that stands for it: a string as it is, anything else as JSON.

    A whole number is written as an integer, also where it came as ``3.0``.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_PLAIN_INTEGER:
        return str(int(value))
    return as_json(value)


def as_json(value: Any, *, ascii_only: bool = False) -> str:
    """A JSON value as compact JSON text; with `ascii_only`, other characters are escaped."""
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))


def pairs(
    name: str, value: Any, style: Style, explode: bool, encode: Encode, nested: tuple[Style, ...] = ()
) -> list[Pair]:
    """`value` as name and value pairs, both encoded: a query, a form, cookies. Nothing where it is undefined.

    `nested` are the styles of lists inside the list, the outer ones first.
    """
    value = _defined(value)
    if value is None:
        return []
    if style == "deepObject" and isinstance(value, list | Mapping):
        return [(encode(path), encode(text)) for path, text in _deep(name, value)]
    if explode and isinstance(value, list):
        return [(encode(name), _item(item, encode, nested)) for item in value]
    if explode and isinstance(value, Mapping):
        return [(encode(key), encode(as_text(member))) for key, member in value.items()]
    return [(encode(name), _flat(value, _delimiter(style, encode), encode, nested))]


def segment(
    name: str, value: Any, style: Style, explode: bool, encode: Encode, nested: tuple[Style, ...] = ()
) -> str | None:
    """`value` as one piece of text: in a path or a header. None where it is undefined. `nested` as for `pairs`."""
    value = _defined(value)
    if value is None:
        return None
    if style == "matrix":
        written = pairs(name, value, "form", explode, encode)
        return "".join(f";{key}={text}" if text else f";{key}" for key, text in written)
    prefix, delimiter = "", _delimiter(style, encode)
    if style == "label":
        prefix, delimiter = ".", "." if explode else ","
    if explode and isinstance(value, Mapping):
        members = (f"{encode(key)}={encode(as_text(member))}" for key, member in value.items())
        return prefix + delimiter.join(members)
    return prefix + _flat(value, delimiter, encode, nested)


def _delimiter(style: Style, encode: Encode) -> str:
    return encode(_DELIMITERS[style]) if style in _DELIMITERS else ","


def _flat(value: Any, delimiter: str, encode: Encode, nested: tuple[Style, ...]) -> str:
    """A scalar as text, a list's items and an object's names and values in turn with `delimiter` between."""
    if isinstance(value, Mapping):
        return delimiter.join(encode(text) for key, member in value.items() for text in (key, as_text(member)))
    items = value if isinstance(value, list) else [value]
    return delimiter.join(_item(item, encode, nested) for item in items)


def _item(item: Any, encode: Encode, nested: tuple[Style, ...]) -> str:
    if nested and isinstance(item, list):
        return _flat(item, _delimiter(nested[0], encode), encode, nested[1:])
    return encode(as_text(item))


def _defined(value: Any) -> Any:
    """`value` without its undefined members; None where nothing is left."""
    if isinstance(value, list):
        return [item for item in value if item is not None] or None
    if isinstance(value, Mapping):
        return {key: member for key, member in value.items() if member is not None} or None
    return value


def _deep(path: str, value: Any) -> Iterator[Pair]:
    """Paths with brackets and their texts: ``color[R]``; deeper members with deeper paths.

    The specification defines one level. Below it an object goes on with brackets, a list of scalars repeats its
    path, and a list of lists or objects counts its items, as most servers read it; a list at the top
    has empty brackets.
    """
    value = _defined(value)
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _deep_member(f"{path}[{key}]", member)
    elif isinstance(value, list):
        yield from _deep_items(path, f"{path}[]", value)


def _deep_member(path: str, member: Any) -> Iterator[Pair]:
    if isinstance(member, Mapping):
        yield from _deep(path, member)
    elif isinstance(member, list):
        yield from _deep_items(path, path, _defined(member) or [])
    elif member is not None:
        yield path, as_text(member)


def _deep_items(path: str, repeated: str, items: list[Any]) -> Iterator[Pair]:
    if any(isinstance(item, list | Mapping) for item in items):
        for index, item in enumerate(items):
            yield from _deep_member(f"{path}[{index}]", item)
    else:
        for item in items:
            yield repeated, as_text(item)
