"""What of a schema goes into a request, and what into a response.

``readOnly`` properties are not sent, ``writeOnly`` properties are not returned, and where such a property is
required, the requirement holds in the other direction only (OpenAPI 3.0.4 and 3.1.1, Schema Object). A property may
be marked in one part of an ``allOf`` and required in another, so marks are gathered over everything that looks at
the same instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from discern_server.schema.dialects import IN_PLACE, Habit
from discern_server.schema.documents import Document, Library, Place, subschemas
from discern_server.schema.errors import UnresolvableError

Direction = Literal["input", "output"]

_MARK: Final = {"input": "readOnly", "output": "writeOnly"}
NOT_PROJECTED: Final = frozenset({"not", "if"})
"""Under these, leaving out a requirement would turn what is refused into what is accepted and the other way round."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the schemas that look at one instance say together.

    Attributes:
        hidden: The properties that one of them marks.
        mentioned: The properties that one of them describes or requires.
    """

    hidden: frozenset[str]
    mentioned: frozenset[str]


_EMPTY: Final = Cluster(frozenset(), frozenset())


class Projection:
    """Finds the properties that do not travel in one direction."""

    def __init__(self, library: Library, direction: Direction) -> None:
        self._library = library
        self._mark = _MARK[direction]
        self._clusters: dict[tuple[Document, str], Cluster] = {}

    def cluster(self, place: Place) -> Cluster:
        """What the schema at that place, with everything in it that looks at the same instance, marks and mentions."""
        if not isinstance(place.value, dict):
            return _EMPTY
        known = self._clusters.get(_identity(place))
        if known is None:
            known = self._clusters[_identity(place)] = self._gather(place)
        return known

    def _gather(self, place: Place) -> Cluster:
        hidden: set[str] = set()
        mentioned: set[str] = set()
        for schema in self._reach(place, IN_PLACE - NOT_PROJECTED):
            properties = schema.value.get("properties")
            if isinstance(properties, dict):
                mentioned.update(properties)
                hidden.update(name for name in properties if self._is_marked(schema, name))
            mentioned.update(_required(schema.value))
        return Cluster(frozenset(hidden), frozenset(mentioned))

    def _is_marked(self, holder: Place, name: str) -> bool:
        member = holder.value["properties"][name]
        if not isinstance(member, dict):
            return False
        if "$ref" not in member and "allOf" not in member:
            return member.get(self._mark) is True
        reached = self._reach(holder.at("properties", name), frozenset({"allOf"}))
        return any(schema.value.get(self._mark) is True for schema in reached)

    def _reach(self, start: Place, through: frozenset[str]) -> Iterator[Place]:
        """The schema objects at `start`, behind its references, and in the keywords of `through`, again and again."""
        pending, seen = [start], set[tuple[Document, str]]()
        while pending:
            place = pending.pop()
            if _identity(place) in seen or not isinstance(place.value, dict):
                continue
            seen.add(_identity(place))
            target = self._target(place)
            if target is not None:
                pending.append(target)
                if Habit.REF_STANDS_ALONE in place.dialect.habits:
                    continue
            yield place
            if not through.isdisjoint(place.value):
                pending += [
                    place.at(*tokens) for tokens, _ in subschemas(place.value, place.dialect) if tokens[0] in through
                ]

    def _target(self, place: Place) -> Place | None:
        reference = place.value.get("$ref")
        if not isinstance(reference, str):
            return None
        try:
            return self._library.find(reference, place)
        except UnresolvableError:
            return None  # reported where the reference itself is read


def _required(schema: dict[str, Any]) -> Iterator[str]:
    required = schema.get("required")
    if isinstance(required, list):
        yield from (name for name in required if isinstance(name, str))
    for keyword in ("dependencies", "dependentRequired"):
        dependent = schema.get(keyword)
        if isinstance(dependent, dict):
            for names in dependent.values():
                yield from (name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def without(schema: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    """`schema` without the properties in `hidden` and without requiring any of them."""
    result = dict(schema)
    if isinstance(schema.get("properties"), dict):
        result["properties"] = {name: value for name, value in schema["properties"].items() if name not in hidden}
    if isinstance(schema.get("required"), list):
        result["required"] = _less(schema["required"], hidden)
        if not result["required"]:
            del result["required"]
    for keyword in ("dependencies", "dependentRequired"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = {name: _less(needs, hidden) for name, needs in schema[keyword].items()}
    return result


def _less(names: Any, hidden: frozenset[str]) -> Any:
    if not isinstance(names, list):
        return names
    return [name for name in names if not isinstance(name, str) or name not in hidden]


def _identity(place: Place) -> tuple[Document, str]:
    return place.document, place.pointer
