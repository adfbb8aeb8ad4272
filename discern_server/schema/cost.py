"""How much it may cost to find every failure of an instance, said before it is tried.

A verdict of the fast engine takes linear time. Collecting failures does not. Each alternative that fails is
explained, with each alternative inside of it, so that a recursive union of two branches costs twice as
much for every level of the instance. And each failure brings a copy of the value that failed, with all
that is in it. The estimate counts how many failures, at most, one value of an instance is copied for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from discern_server.schema.dialects import DRAFT_2020_12, IN_PLACE, subschemas
from discern_server.schema.local_references import LocalReferences
from discern_server.schema.pointer import pointer

_ENOUGH: Final = 10**9
"""Estimates stop here: more is all the same."""

_DEEPEST: Final = 64
"""Levels that count. What grows by a factor with each has reached `_ENOUGH` before."""

_GUESSED_ALTERNATIVES: Final = 4
"""What each level is taken to multiply the cost by where it is not known what refers to what."""

_ANY_MEMBER: Final = ""
_ONE_MEMBER: Final = ("properties", "prefixItems")


class Cost:
    """The estimate for one schema: 2020-12, and self-contained."""

    def __init__(self, references: LocalReferences) -> None:
        self._is_known = references.are_known
        self._failures = {place: _most_failures(schema) for place, schema in references.schemas.items()}
        self._in_place: dict[str, list[str]] = {}
        self._below: dict[str, dict[str, list[str]]] = {}
        for place, schema in references.schemas.items():
            self._in_place[place], self._below[place] = _edges(place, schema, references.target(schema))

    def of(self, place: str, instance: Any) -> int:
        """How many copies of values, at most, the failures of `instance` by the schema at the pointer `place` need."""
        depth, values = _measure(instance)
        if not self._is_known:
            return int(min(values * _GUESSED_ALTERNATIVES**depth, _ENOUGH))
        copies = self._levels[min(depth, len(self._levels) - 1)]
        return min(values * copies.get(place, 1), _ENOUGH)

    @cached_property
    def _levels(self) -> list[dict[str, int]]:
        """`_one_level_up` of itself, for instances without depth, of one level, of two, until nothing changes."""
        levels = [self._one_level_up({})]
        while len(levels) <= _DEEPEST:
            level = self._one_level_up(levels[-1])
            if level == levels[-1]:
                break
            levels.append(level)
        return levels

    def _one_level_up(self, below: Mapping[str, int]) -> dict[str, int]:
        """By schema, how many failures there may be of an instance of it and of what one value in that is part of.

        `below` says it for instances of one level less.
        """
        copies: dict[str, int] = {}

        def settle(place: str) -> int:
            if place not in copies:
                in_place = sum(map(settle, self._in_place.get(place, ())))
                own = self._failures.get(place, 1)
                copies[place] = min(own + in_place + self._most_below(place, below), _ENOUGH)
            return copies[place]

        for place in self._in_place:
            settle(place)
        return copies

    def _most_below(self, place: str, below: Mapping[str, int]) -> int:
        """What looks at every member, and the most that look at one by its name."""
        sums = {
            member: sum(below.get(other, 0) for other in places)
            for member, places in self._below.get(place, {}).items()
        }
        return sums.pop(_ANY_MEMBER, 0) + max(sums.values(), default=0)


def _most_failures(schema: Mapping[str, Any]) -> int:
    """How many failures `schema` may find in one value: one for a keyword, or for each name that it requires."""
    dependent = schema.get("dependentRequired")
    required = [schema.get("required"), *(dependent.values() if isinstance(dependent, dict) else ())]
    return 1 + len(schema) + sum(len(names) for names in required if isinstance(names, list))


def _edges(place: str, schema: dict[str, Any], target: str | None) -> tuple[list[str], dict[str, list[str]]]:
    """The schemas that look at the same value as `schema`, and those that look at its members, by member."""
    in_place = [target] if target is not None else []
    below: dict[str, list[str]] = {}
    for (keyword, *rest), _ in subschemas(schema, DRAFT_2020_12):
        inner = place + pointer((keyword, *rest))
        if keyword in IN_PLACE:
            in_place.append(inner)
        elif keyword not in ("$defs", "definitions"):
            member = f"{keyword}/{rest[0]}" if keyword in _ONE_MEMBER else _ANY_MEMBER
            below.setdefault(member, []).append(inner)
    return in_place, below


def _measure(instance: Any) -> tuple[int, int]:
    """How deep `instance` nests, and how many values it holds, itself included."""
    depth, values, level = 0, 1, [instance]
    while True:
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list | tuple):
                below += item
        if not below:
            return depth, values
        depth, values, level = depth + 1, values + len(below), below
