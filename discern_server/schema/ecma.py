r"""Patterns as JSON Schema means them (ECMA-262, Unicode mode), for engines that speak Python's dialect.

2020-12 Core, section 6.4: a ``pattern`` is an ECMA-262 expression. Python reads the same text otherwise:
``\d`` and ``\w`` take in all of Unicode, ``$`` stands before a final newline, ``\cX`` and ``\u{...}`` are
unknown. Only the reference engine needs this; `jsonschema-rs` brings its own translation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

_Ranges: TypeAlias = tuple[tuple[int, int], ...]

_LAST: Final = 0x10FFFF
_CLASSES: Final[dict[str, _Ranges]] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    # ECMA-262, "WhiteSpace" and "LineTerminator".
    "s": (
        (0x09, 0x0D),
        (0x20, 0x20),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ),
}
_PART: Final = re.compile(
    r"""\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2} | \\u\{[0-9a-fA-F]+\} | \\u[0-9a-fA-F]{4}
    | \\x[0-9a-fA-F]{2} | \\c[a-zA-Z] | \\k<[^>]*> | \\[pP]\{[^}]*\} | \\. | \(\?<(?![=!]) | \[\^?\]? | .""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN_ESCAPES: Final = frozenset("fnrtv^$\\.*+?()[]{}|-123456789")


def python_pattern(pattern: str) -> str:
    """The same pattern for the ``regex`` module.

    Raises:
        ValueError: `pattern` escapes what ECMA-262 has no escape for.
    """
    in_class = False
    parts: list[str] = []
    for match in _PART.finditer(pattern):
        part = match[0]
        if part.startswith("\\"):
            parts.append(_escape(part, in_class=in_class))
        elif in_class:
            in_class = part != "]"
            parts.append(part.replace("[", "\\["))
        else:
            in_class = part in ("[", "[^")
            parts.append(_OUTSIDE.get(part, part))
    return "".join(parts)


def _escape(part: str, *, in_class: bool) -> str:
    kind, rest = part[1:2], part[2:]
    if kind.lower() in _CLASSES:
        return _class(kind, in_class=in_class)
    if part in _OUTSIDE and not (in_class and kind == "B"):
        return "\\x08" if in_class else _OUTSIDE[part]
    if kind in ("u", "x") and rest:
        return _character(_code_point(part))
    if kind == "c" and rest:
        return _character(ord(rest) % 32)
    if kind == "k" and rest:
        return f"(?P={rest[1:-1]})"
    if kind in ("0", "/"):
        return _character(0) if kind == "0" else "/"
    if kind in _PLAIN_ESCAPES or (kind in ("p", "P") and rest):
        return part
    raise ValueError(f"{part} is no escape of ECMA-262")


def _code_point(part: str) -> int:
    numbers = [int(number, 16) for number in re.findall("[0-9a-fA-F]{2,}|(?<={)[0-9a-fA-F]+", part)]
    if len(numbers) == 1:
        return numbers[0]
    high, low = numbers
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)


def _class(kind: str, *, in_class: bool) -> str:
    ranges = _CLASSES[kind.lower()]
    text = _ranges(_complement(ranges) if kind.isupper() else ranges)
    return text if in_class else f"[{text}]"


def _complement(ranges: _Ranges) -> _Ranges:
    starts = [0, *(last + 1 for _, last in ranges)]
    ends = [*(first - 1 for first, _ in ranges), _LAST]
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)


def _ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{_character(first)}-{_character(last)}" for first, last in ranges)


def _character(code_point: int) -> str:
    return f"\\U{code_point:08x}"


_WORD: Final = f"[{_ranges(_CLASSES['w'])}]"
_OUTSIDE: Final = {
    ".": r"[^\n\r\u2028\u2029]",
    "$": r"\Z",
    "[]": "(?!)",
    "[^]": r"[\s\S]",
    "(?<": "(?P<",
    r"\b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    r"\B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}
