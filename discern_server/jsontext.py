"""JSON files read strictly (RFC 8259, RFC 7493), with the line of everything that is in them.

What `json.loads` lets pass in silence is a fault here: a key given twice, ``NaN``, a number too large
for a double, half of a surrogate pair, a byte order mark. All faults of a text are told at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from discern_server.result import Diagnostic, DiscernError
from discern_server.schema.json_value import MAX_DEPTH, MAX_INTEGER_DIGITS, MENDS, is_json, json_faults
from discern_server.schema.pointer import Token, pointer

UTF8_BOM: Final = b"\xef\xbb\xbf"

_LONG_INTEGER: Final = re.compile(rf"[0-9]{{{MAX_INTEGER_DIGITS + 1},}}")


class JsonTextError(DiscernError):
    """A text that is not good JSON; its `diagnostics` name the line of every fault."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON value and the text it was read from."""

    value: Any
    text: str

    def lines(self) -> Mapping[str, int]:
        """The line, counted from 1, where each value starts, by its pointer. Reads the text again: for faults only."""
        return {pointer(place): line for place, line in _scan(self.text)}

    def placed(self, findings: Iterable[Diagnostic], file: str) -> Iterator[Diagnostic]:
        """Findings by pointers into the value as findings of `file`, with their lines."""
        lines: Mapping[str, int] = {}
        for finding in findings:
            lines = lines or self.lines()
            yield replace(finding.within(file), line=finding.line or _nearest_line(finding.path or "", lines))


def _nearest_line(path: str, lines: Mapping[str, int]) -> int | None:
    """The line of the place, or of what should hold it where the fault is that it is missing."""
    while path and path not in lines:
        path = path.rpartition("/")[0]
    return lines.get(path)


def read_json(content: bytes) -> JsonText:
    """Read a JSON text.

    Raises:
        JsonTextError: the bytes are no UTF-8, the text no JSON, or it says what JSON cannot carry.
    """
    text = _decode(content)
    repeated = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        value = dict(pairs)
        repeated |= len(value) < len(pairs)
        return value

    try:
        value = json.loads(text, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise _error("json.syntax", message, "mend the JSON there", line=error.lineno) from None
    except RecursionError:
        raise _error("json.depth", f"values nest deeper than {MAX_DEPTH}", MENDS["json.depth"]) from None
    except ValueError:
        # The one number that Python refuses to read is a long integer.
        long = _LONG_INTEGER.search(text)
        message = f"an integer of more than {MAX_INTEGER_DIGITS} digits is more than JSON readers take"
        line = text.count("\n", 0, long.start()) + 1 if long else None
        raise _error("json.number", message, MENDS["json.number"], line=line) from None
    document = JsonText(value, text)
    faults = [*_repeated_keys(text)] if repeated else []
    faults += _value_faults(document)
    if faults:
        raise JsonTextError(faults)
    return document


def _decode(content: bytes) -> str:
    if content.startswith(UTF8_BOM):
        raise _error("json.encoding", "the file starts with a byte order mark", "save it as UTF-8 without one", line=1)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"byte {error.start} is not UTF-8 ({error.reason})"
        raise _error("json.encoding", message, "save the file as UTF-8", line=line) from None


def _error(rule: str, message: str, fix: str, *, line: int | None = None) -> JsonTextError:
    return JsonTextError([Diagnostic(rule=rule, message=message, path="", line=line, fix=fix)])


def _value_faults(document: JsonText) -> Iterator[Diagnostic]:
    faults = [] if is_json(document.value) else list(json_faults(document.value))
    lines = document.lines() if faults else {}
    for fault in faults:
        yield replace(fault.diagnostic(), line=lines.get(fault.path))


def _repeated_keys(text: str) -> Iterator[Diagnostic]:
    for place, line in _scan(text, keys_again=True):
        yield Diagnostic(
            rule="json.duplicate-key",
            message=f"the key {json.dumps(place[-1])} is given twice; readers disagree on which one counts",
            path=pointer(place),
            line=line,
            fix="keep one of them",
        )


# --- where everything stands ------------------------------------------------------------------------------

_LEXEME: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


@dataclass(slots=True)
class _Container:
    """An object or array that the scan is inside of."""

    key: Token | None
    seen: set[str]
    awaits_key: bool


def _scan(text: str, *, keys_again: bool = False) -> Iterator[tuple[tuple[Token, ...], int]]:
    """The place and line of each value of a text that `json.loads` can read; or of each key that is there again."""
    inside: list[_Container] = []
    line, counted = 1, 0
    for match in _LEXEME.finditer(text):
        lexeme = match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if lexeme in ":,":
            _step(inside[-1], lexeme)
        elif lexeme in "}]":
            inside.pop()
        elif inside and inside[-1].awaits_key:
            again = _take_key(inside[-1], json.loads(lexeme))
            if again and keys_again:
                yield _place(inside), line
        else:
            if not keys_again:
                yield _place(inside), line
            if lexeme in "{[":
                is_object = lexeme == "{"
                inside.append(_Container(None if is_object else 0, set(), awaits_key=is_object))


def _step(container: _Container, lexeme: str) -> None:
    if isinstance(container.key, int):
        container.key += 1
    else:
        container.awaits_key = lexeme == ","


def _take_key(container: _Container, key: str) -> bool:
    """Enter the member `key`; True where the object had it before."""
    again = key in container.seen
    container.seen.add(key)
    container.key = key
    return again


def _place(inside: list[_Container]) -> tuple[Token, ...]:
    return tuple(container.key for container in inside if container.key is not None)
