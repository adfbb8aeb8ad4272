"""What the value of each 2020-12 keyword has to be (the meta-schema of 2020-12, keyword by keyword)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from discern_server.schema.dialects import Shape

_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._]*")
_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def complaint(keyword: str, value: Any) -> str | None:
    """What `keyword` has to be, such as ``a string``, where `value` is not that; None where it is."""
    check = _CHECKS.get(keyword)
    return None if check is None or check[0](value) else check[1]


def misshape(shape: Shape, value: Any) -> str | None:
    """The same for a keyword that holds schemas; those inside an array or object are not looked at."""
    if shape in (Shape.ONE, Shape.ONE_OR_MANY):
        allowed = dict | bool | list if shape is Shape.ONE_OR_MANY else dict | bool
        return None if isinstance(value, allowed) else shape.value
    if shape is Shape.MANY:
        return None if isinstance(value, list) and value else f"{shape.value}, one at least"
    return None if isinstance(value, dict) and all(isinstance(name, str) for name in value) else shape.value


def is_annotation(keyword: str) -> bool:
    """Whether a keyword of the table only tells the reader something."""
    return keyword in _ANNOTATIONS


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    # 2.0 is an integer in JSON Schema.
    return _is_number(value) and value >= 0 and (isinstance(value, int) or value.is_integer())


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_type(value: Any) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _is_names(value) and bool(value) and _TYPES.issuperset(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len({*value}) == len(value)


def _is_anchor(value: Any) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and not value.partition("#")[2]


def _is_object_of_names(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_switches(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_boolean, value.values()))


_Check = tuple[Callable[[Any], bool], str]
_TEXT: Final = (_is_text, "a string")
_SWITCH: Final = (_is_boolean, "a boolean")
_NUMBER: Final = (_is_number, "a number")
_COUNT: Final = (_is_count, "a whole number, zero or more")
_LIST: Final = (_is_list, "an array")
_ANCHOR_NAME: Final = (_is_anchor, "a name of letters, digits and -._ that starts with a letter or _")

_ANNOTATIONS: Final[Mapping[str, _Check]] = {
    "title": _TEXT,
    "description": _TEXT,
    "$comment": _TEXT,
    "format": _TEXT,
    "contentEncoding": _TEXT,
    "contentMediaType": _TEXT,
    "deprecated": _SWITCH,
    "readOnly": _SWITCH,
    "writeOnly": _SWITCH,
    "examples": _LIST,
    "$vocabulary": (_is_switches, "an object of booleans"),
}
_CHECKS: Final[Mapping[str, _Check]] = {
    **_ANNOTATIONS,
    "type": (_is_type, f"one of {', '.join(sorted(_TYPES))}, or an array of them without repeats"),
    "enum": _LIST,
    "required": (_is_names, "an array of property names without repeats"),
    "dependentRequired": (_is_object_of_names, "an object of arrays of property names without repeats"),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _NUMBER,
    "exclusiveMaximum": _NUMBER,
    "multipleOf": (_is_positive, "a number greater than zero"),
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "minContains": _COUNT,
    "maxContains": _COUNT,
    "minProperties": _COUNT,
    "maxProperties": _COUNT,
    "uniqueItems": _SWITCH,
    "pattern": _TEXT,
    "$ref": _TEXT,
    "$dynamicRef": _TEXT,
    "$schema": _TEXT,
    "$id": (_is_id, "a URI without a fragment"),
    "$anchor": _ANCHOR_NAME,
    "$dynamicAnchor": _ANCHOR_NAME,
}
