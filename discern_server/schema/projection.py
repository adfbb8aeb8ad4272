"""What of a schema goes into a request, and what into a response.

``readOnly`` properties are not sent, ``writeOnly`` properties are not returned, and where such a property is
required, the requirement holds in the other direction only (OpenAPI 3.0.4 and 3.1.1, Schema Object). A property may
be marked in one part of an ``allOf`` and required in another, so marks are gathered over everything that looks at
the same instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from discern_server.schema.dialects import IN_PLACE, Habit
from discern_server.schema.documents import Library, Place
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.graph import Reachable

Direction = Literal["input", "output"]

_MARK: Final = {"input": "readOnly", "output": "writeOnly"}
NOT_PROJECTED: Final = frozenset({"not", "if"})
"""Under these, leaving out a requirement would turn what is refused into what is accepted and the other way round."""
_CERTAIN: Final = frozenset({"allOf"})
_REFERRING: Final = frozenset({"$ref", "allOf"})
_PROJECTED: Final = IN_PLACE - NOT_PROJECTED
_SPEAKING: Final = _PROJECTED | {"$ref", "properties"}
_LISTS_OF_NAMES: Final = ("dependencies", "dependentRequired")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the schemas that look at one instance say together.

    Attributes:
        hidden: The properties that one of them marks.
        mentioned: The properties that one of them describes or requires.
    """

    hidden: frozenset[str]
    mentioned: frozenset[str]


_NOTHING: Final = Cluster(frozenset(), frozenset())


class Projection:
    """Finds the properties that do not travel in one direction."""

    def __init__(self, library: Library, direction: Direction) -> None:
        self._library = library
        self._mark = _MARK[direction]
        self._is_marked = Reachable(self._parts, self._has_mark, any)
        self.cluster = Reachable(self._alternatives, self._own_cluster, _together)
        """What the schema at a place marks and mentions, with everything that looks at the same instance."""

    def hidden(self, place: Place) -> frozenset[str]:
        """The properties that the schema object at `place` marks, with everything that looks at the same instance."""
        return frozenset() if _SPEAKING.isdisjoint(place.value) else self.cluster(place).hidden

    def _has_mark(self, place: Place) -> bool:
        return _counts(place) and self._marks(place.value, place)

    def _marks(self, schema: dict[str, Any], place: Place) -> bool:
        return schema.get(self._mark) is True and self._mark in place.dialect.keywords

    def _own_cluster(self, place: Place) -> Cluster:
        if not _counts(place):
            return _NOTHING
        properties = place.value.get("properties")
        names = [name for name in properties if isinstance(name, str)] if isinstance(properties, dict) else []
        hidden = frozenset(name for name in names if self._is_hidden(place, name, properties[name]))
        return Cluster(hidden, frozenset((*names, *_required(place.value))))

    def _is_hidden(self, place: Place, name: str, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return False
        if _REFERRING.isdisjoint(schema):
            return self._marks(schema, place)
        return self._is_marked(place.at("properties", name))

    def _parts(self, place: Place) -> Iterator[Place]:
        """The schemas that an instance of the one at `place` satisfies as well, in any case."""
        return self._next(place, _CERTAIN)

    def _alternatives(self, place: Place) -> Iterator[Place]:
        """The schemas that an instance of the one at `place` satisfies as well, in some cases."""
        return self._next(place, _PROJECTED)

    def _next(self, place: Place, keywords: frozenset[str]) -> Iterator[Place]:
        if not isinstance(place.value, dict):
            return
        if isinstance(place.value.get("$ref"), str):
            with suppress(UnresolvableError):  # reported where the reference itself is read
                yield self._library.find(place.value["$ref"], place)
        if not keywords.isdisjoint(place.value) and _counts(place):
            yield from (schema for keyword, schema in place.schemas() if keyword in keywords)


def _counts(place: Place) -> bool:
    """Whether the schema at that place says anything but what it refers to."""
    alone = Habit.REF_STANDS_ALONE in place.dialect.habits
    return isinstance(place.value, dict) and not (alone and isinstance(place.value.get("$ref"), str))


def _required(schema: dict[str, Any]) -> Iterator[str]:
    lists = [schema.get("required")]
    for keyword in _LISTS_OF_NAMES:
        dependent = schema.get(keyword)
        lists += dependent.values() if isinstance(dependent, dict) else ()
    for names in lists:
        yield from (name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _together(clusters: Iterable[Cluster]) -> Cluster:
    hidden: set[str] = set()
    mentioned: set[str] = set()
    for cluster in clusters:
        hidden |= cluster.hidden
        mentioned |= cluster.mentioned
    return Cluster(frozenset(hidden), frozenset(mentioned))


def without(schema: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    """`schema` without the properties in `hidden` and without requiring any of them."""
    result = dict(schema)
    if isinstance(schema.get("properties"), dict):
        result["properties"] = {name: value for name, value in schema["properties"].items() if name not in hidden}
    if isinstance(schema.get("required"), list):
        result["required"] = _less(schema["required"], hidden)
        if not result["required"]:
            del result["required"]
    for keyword in _LISTS_OF_NAMES:
        if isinstance(schema.get(keyword), dict):
            result[keyword] = {name: _less(needs, hidden) for name, needs in schema[keyword].items()}
    return result


def _less(names: Any, hidden: frozenset[str]) -> Any:
    if not isinstance(names, list):
        return names
    return [name for name in names if not isinstance(name, str) or name not in hidden]
