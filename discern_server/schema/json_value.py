"""What a Python value must be to be a JSON value that every peer can read (RFC 8259, RFC 7493).

Arguments, results and schemas pass here before an engine sees them: an engine may crash on a value
nested without end, take a number of ten thousand digits for infinity, or raise on half a character.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.schema.pointer import Token, pointer

MAX_DEPTH: Final = 200
"""How deep a value may nest. Engines recurse: a thread with a small stack dies at about five times this."""

MAX_VALUES: Final = 2_000_000
"""How many values one may hold: an object that contains itself is stopped here, too."""

MAX_INTEGER_DIGITS: Final = 4300
"""How long an integer may be: Python's own limit for reading one (``sys.set_int_max_str_digits``)."""

MENDS: Final = MappingProxyType(
    {
        "json.depth": "nest less deeply; a recursive schema uses $ref",
        "json.number": "write a number that a double can hold, or a string",
        "json.size": "make several of it",
        "json.type": "turn it into a JSON value first",
        "json.unicode": "write the whole character, or leave the half out",
    }
)
"""By rule, what to do about a fault."""

_LIMIT: Final = 10**MAX_INTEGER_DIGITS
_SMALL: Final = 2**53


@dataclass(frozen=True, slots=True)
class JsonFault:
    """Why a value is not JSON: the rule, a sentence about it, and the place as a JSON Pointer."""

    rule: str
    message: str
    path: str = ""

    def diagnostic(self) -> Diagnostic:
        """The fault as a finding."""
        return Diagnostic(rule=self.rule, message=self.message, path=self.path, fix=MENDS[self.rule])


def is_json(value: Any) -> bool:
    """Whether `value` is plain JSON: within the bounds above, made of what `json.loads` returns.

    Subclasses of those types and tuples pass as what they stand for. Goes level by level, so that
    neither depth nor a cycle can exhaust the stack. Runs before every validation: half a microsecond
    for an object of two members.
    """
    level = [value]
    values = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                good = item.isascii() or _is_unicode(item)
            elif kind is int:
                good = -_SMALL < item < _SMALL or _scalar_fault(item) is None
            elif kind is dict:
                good = _keys_are_text(item)
                below += item.values()
            elif kind is list:
                below += item
                continue
            else:
                good = kind is bool or item is None or _is_rarer_json(item, below)
            if not good:
                return False
        values += len(below)
        if not below or values > MAX_VALUES:
            return not below
        level = below
    return False


def _keys_are_text(item: dict[Any, Any]) -> bool:
    try:
        keys = "".join(item)
    except TypeError:
        return False
    return keys.isascii() or all(map(_is_unicode, item))


def _is_rarer_json(item: Any, below: list[Any]) -> bool:
    """The same for floats and for subclasses; what they hold is added to `below`."""
    if isinstance(item, dict):
        below += item.values()
        return _keys_are_text(item)
    if isinstance(item, list | tuple):
        below += item
        return True
    return _scalar_fault(item) is None


def json_faults(value: Any) -> Iterator[JsonFault]:
    """Every place where `value` is not JSON, in the order of the document; read-only mappings pass.

    A value out of bounds ends the search.
    """
    values = 0
    stack: list[tuple[tuple[Token, ...], Any]] = [((), value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, Mapping):
            yield from _key_faults(place, item)
            children = [((*place, str(key)), child) for key, child in item.items()]
        elif isinstance(item, list | tuple):
            children = [((*place, index), child) for index, child in enumerate(item)]
        else:
            fault = _scalar_fault(item)
            if fault is not None:
                yield JsonFault(*fault, pointer(place))
            continue
        values += len(children)
        if children and len(place) + 1 >= MAX_DEPTH:
            yield JsonFault("json.depth", f"values nest deeper than {MAX_DEPTH}", pointer(place[:8]))
            return
        if values > MAX_VALUES:
            yield JsonFault("json.size", f"holds more than {MAX_VALUES:,} values, or contains itself")
            return
        stack.extend(reversed(children))


def _key_faults(place: tuple[Token, ...], item: Mapping[Any, Any]) -> Iterator[JsonFault]:
    for key in item:
        if not isinstance(key, str):
            yield JsonFault("json.type", f"an object's keys are strings, not {type(key).__name__}", pointer(place))
        elif not _is_unicode(key):
            yield JsonFault(*_LONE_SURROGATE, pointer((*place, key)))


_LONE_SURROGATE: Final = ("json.unicode", "holds half of a surrogate pair, which no UTF-8 text can carry")


def _scalar_fault(item: Any) -> tuple[str, str] | None:
    if item is None or isinstance(item, bool):
        return None
    if isinstance(item, str):
        return None if _is_unicode(item) else _LONE_SURROGATE
    if isinstance(item, int):
        if -_LIMIT < item < _LIMIT:
            return None
        return "json.number", f"an integer of more than {MAX_INTEGER_DIGITS} digits is more than JSON readers take"
    if isinstance(item, float):
        return None if math.isfinite(item) else ("json.number", f"not a number that a double can hold: {item}")
    return "json.type", f"JSON has no value of type {type(item).__name__}"


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def identity(value: Any) -> str:
    """A text that equal JSON values have in common: 1 and 1.0 are one number (2020-12 Core, section 4.2.2)."""
    return json.dumps(_with_whole_numbers(value), sort_keys=True)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _with_whole_numbers(member) for key, member in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
