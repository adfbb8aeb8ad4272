"""Read a TOML file strictly: every fault at once, each with its place, the nearest known key, and the mend.

A `Table` hands out its members by name and type. What it was asked for is what it knows; `Table.close`
reports everything else as unknown. A fault never stops the reading: a member that is missing or wrong
is reported and stands in as an empty value, and `Table.faults` tells all of them in the order of the
file. Values of unknown keys are never repeated in a message: they may be secrets.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from discern_server.result import Diagnostic
from discern_server.schema.pointer import pointer

Place: TypeAlias = tuple[str | int, ...]

_SHORT: Final = 40
_TOML_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    dict: "a table",
    list: "an array",
    int: "a number",
    float: "a number",
}


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None where none is near."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1)), None)


def shortened(value: Any) -> str:
    """A value as a message quotes it: one line, at most 40 characters."""
    text = repr(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."


class Document:
    """A TOML file's text: where its keys stand, and the faults found while it is read.

    Args:
        text: The file's content.
        file: Its name, as diagnostics show it.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._text = text
        self._faults: list[Diagnostic] = []
        self.root = Table(self, (), self._parse(text))

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """What was found so far, in the order of the file."""
        return tuple(sorted(self._faults, key=lambda fault: fault.line or 0))

    def report(self, place: Place, rule: str, message: str, fix: str | None = None) -> None:
        """Record one fault at `place`; its line is that of the nearest enclosing key with a line of its own."""
        line = next((self._lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self._lines), None)
        path = f"{self.file}#{pointer(place)}" if place else self.file
        self._faults.append(Diagnostic(rule=rule, message=message, path=path, line=line, fix=fix))

    @cached_property
    def _lines(self) -> dict[Place, int]:
        return _lines_of_keys(self._text)

    def _parse(self, text: str) -> Mapping[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"\(at line (\d+), column \d+\)", str(error))
            self._faults.append(
                Diagnostic(
                    rule="toml.syntax",
                    message=f"not TOML: {error}",
                    path=self.file,
                    line=int(found[1]) if found else None,
                    fix="mend the syntax",
                )
            )
            return {}


class Table:
    """One table of a `Document`, read member by member."""

    def __init__(self, document: Document, place: Place, members: Mapping[str, Any]) -> None:
        self.document = document
        self.place = place
        self._members = members
        self._known: set[str] = set()
        self._children: list[Table] = []

    def report(self, name: str, rule: str, message: str, fix: str | None = None) -> None:
        """Record a fault of the member `name`."""
        self.document.report((*self.place, name), rule, message, fix)

    def has(self, name: str) -> bool:
        """Whether the member `name` is there; asking makes it known."""
        self._known.add(name)
        return name in self._members

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members, in the order of the file."""
        return tuple(self._members)

    def value(self, name: str) -> Any:
        """The member `name` as it stands, or None."""
        self._known.add(name)
        return self._members.get(name)

    def string(self, name: str) -> str | None:
        """The string `name`, or None where it is absent, empty or no string."""
        value: str | None = self._typed(name, str)
        if value is not None and not value.strip():
            self.report(name, "toml.value", f"{self._say(name)} is empty", "give it a value, or leave the key out")
            return None
        return value

    def required_string(self, name: str) -> str:
        """The string `name`; an empty one stands in where there is none, and that is reported."""
        if not self.has(name):
            self.report(name, "toml.required", f"{self._say(name)} is missing", f'add {name} = "..."')
            return ""
        return self.string(name) or ""

    def boolean(self, name: str, *, default: bool) -> bool:
        """The boolean `name`, or `default`."""
        value: bool | None = self._typed(name, bool)
        return default if value is None else value

    def number(self, name: str, *, default: float, least: float = 1) -> float:
        """The number `name`, which is `least` or more, or `default`."""
        kind = int if isinstance(self.value(name), int) else float
        value: float | None = self._typed(name, kind)
        if value is None:
            return default
        if isinstance(value, bool) or not least <= value < float("inf"):
            self.report(
                name, "toml.value", f"{self._say(name)} is {shortened(value)}", f"write a number from {least:g}"
            )
            return default
        return value

    def integer(self, name: str, *, default: int, least: int = 1) -> int:
        """The whole number `name`, which is `least` or more, or `default`."""
        value = self.number(name, default=default, least=least)
        if value != int(value):
            self.report(name, "toml.value", f"{self._say(name)} is {value}, not whole", "leave out the decimals")
        return int(value)

    def choice(self, name: str, options: Sequence[str], *, default: str) -> str:
        """The string `name`, which is one of `options`, or `default`."""
        value = self.string(name)
        if value is None:
            return default
        if value not in options:
            listed = " or ".join(f'"{option}"' for option in options)
            guess = nearest(value, options)
            fix = f'did you mean "{guess}"?' if guess else f"write {listed}"
            self.report(name, "toml.value", f"{self._say(name)} is {shortened(value)}, not {listed}", fix)
            return default
        return value

    def strings(self, name: str) -> tuple[str, ...]:
        """The array of strings `name`; empty where it is absent."""
        values: list[Any] = self._typed(name, list) or []
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self.document.report(
                    (*self.place, name, index), "toml.type", f"{shortened(value)} is no string", "put it in quotes"
                )
        return tuple(value for value in values if isinstance(value, str))

    def table(self, name: str) -> Table:
        """The table `name`; an empty one where it is absent."""
        return self._child((*self.place, name), self._typed(name, dict) or {})

    def tables(self, name: str) -> tuple[Table, ...]:
        """The array of tables ``[[name]]``; empty where it is absent."""
        values: list[Any] = self._typed(name, list) or []
        tables = []
        for index, value in enumerate(values):
            place = (*self.place, name, index)
            if isinstance(value, dict):
                tables.append(self._child(place, value))
            else:
                self.document.report(place, "toml.type", f"{shortened(value)} is no table", f"write [[{name}]]")
        return tuple(tables)

    def knows_all(self) -> None:
        """Report none of the members as unknown."""
        self._known.update(self._members)

    def close(self) -> None:
        """Report every member that nobody asked for, here and in the tables handed out."""
        for name in self._members:
            if name not in self._known:
                guess = nearest(name, self._known)
                known = ", ".join(sorted(self._known))
                fix = f'did you mean "{guess}"?' if guess else f"known here: {known}" if known else "remove it"
                self.report(name, "toml.unknown-key", f"unknown key {shortened(name)}", fix)
        for child in self._children:
            child.close()

    def _child(self, place: Place, members: Mapping[str, Any]) -> Table:
        child = Table(self.document, place, members)
        self._children.append(child)
        return child

    def _typed(self, name: str, kind: type) -> Any:
        value = self.value(name)
        if value is None or isinstance(value, kind):
            return value
        wanted, found = _TOML_NAMES[kind], _TOML_NAMES.get(type(value), "a date or time")
        fix = "put it in quotes" if kind is str and not isinstance(value, dict | list) else f"write {wanted}"
        self.report(name, "toml.type", f"{self._say(name)} is {found}, not {wanted}", fix)
        return None

    def _say(self, name: str) -> str:
        return ".".join(part for part in (*self.place, name) if isinstance(part, str))


# --- where the keys stand -----------------------------------------------------------------------------

_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED: Final = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER: Final = re.compile(rf"^\s*(\[\[?)\s*({_DOTTED})\s*\]")
_MEMBER: Final = re.compile(rf"^\s*({_DOTTED})\s*=")


def _lines_of_keys(text: str) -> dict[Place, int]:
    """The line of each key and table header, counted from 1, as well as a line-by-line look can tell.

    `tomllib` gives no positions. Keys inside inline tables and arrays have no line of their own here.
    """
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    inside_string = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside_string:
            if header := _HEADER.match(line):
                table = _table_place(_parts(header[2]), counts, opens_item=header[1] == "[[")
                _note(lines, table, number)
            elif member := _MEMBER.match(line):
                _note(lines, (*table, *_parts(member[1])), number)
        quotes = line.count('"""') + line.count("'''")
        inside_string ^= quotes % 2 == 1
    return lines


def _table_place(parts: Place, counts: dict[Place, int], *, opens_item: bool) -> Place:
    """The place a header names: each array of tables on the way is entered at its newest item."""
    place: Place = ()
    for index, part in enumerate(parts):
        place = (*place, part)
        if opens_item and index == len(parts) - 1:
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _note(lines: dict[Place, int], place: Place, number: int) -> None:
    for length in range(1, len(place) + 1):
        lines.setdefault(place[:length], number)


def _parts(dotted: str) -> Place:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, dotted))
