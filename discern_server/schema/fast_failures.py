"""What the fast engine finds wrong with an instance, read into `Failure` values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from discern_server.schema.failure import Failure
from discern_server.schema.fast_engine import compile_fast
from discern_server.schema.narrowing import Narrowing
from discern_server.schema.pointer import pointer, resolve

_WHOLE: Final = "urn:discern:schema"
"""What the whole schema is called where a part of it is compiled."""


class FastFailures:
    """Finds the failures of one compiled schema, and of the schemas in it."""

    def __init__(self, schema: Any, validator: jsonschema_rs.Draft202012Validator) -> None:
        self._schema = schema
        self._parts = {"": validator}

    def of(self, instance: Any) -> Iterator[Failure]:
        """The failures; not every one where to find them all would take too long."""
        return self._narrowing.failures(instance)

    @cached_property
    def _narrowing(self) -> Narrowing:
        return Narrowing(self._schema, self)

    def is_valid_at(self, place: str, instance: Any) -> bool:
        """Whether `instance` satisfies the schema at the pointer `place`."""
        return bool(self._part(place).is_valid(instance))

    def failures_at(self, place: str, instance: Any) -> Iterator[Failure]:
        """Every failure of it, all found before the first is given."""
        # The way to a part begins with the reference that leads to it.
        reader = _Reader(self._schema, self.is_valid_at, instance, skipped=1 if place else 0)
        return map(reader.failure, self._part(place).iter_errors(instance))

    def outline(self, schema: dict[str, Any]) -> Callable[[Any], bool]:
        """The verdict of a small schema that stands by itself."""
        return compile_fast(schema).is_valid

    def failures_of(self, schema: dict[str, Any], instance: Any) -> Iterator[Failure]:
        """Every failure of `instance` by a small schema that stands by itself."""
        return FastFailures(schema, compile_fast(schema)).failures_at("", instance)

    def _part(self, place: str) -> jsonschema_rs.Draft202012Validator:
        if place not in self._parts:
            registry = jsonschema_rs.Registry([(_WHOLE, self._schema)], draft=jsonschema_rs.Draft202012)
            self._parts[place] = compile_fast({"$ref": f"{_WHOLE}#{quote(place)}"}, registry)
        return self._parts[place]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the engine's errors about one instance.

    Attributes:
        schema: The whole schema.
        is_valid_at: The verdict of the schema at a pointer.
        root: The instance.
        skipped: How many steps of an evaluation path are the engine's own.
    """

    schema: Any
    is_valid_at: Callable[[str, Any], bool]
    root: Any
    skipped: int

    def failure(self, error: Any) -> Failure:
        kind = error.kind
        if isinstance(kind, Kind.PropertyNames):
            return replace(self.failure(kind.error), **self._place(error), of_name=True)
        if isinstance(kind, Kind.FalseSchema):
            return self._nothing_allowed(error)
        if isinstance(kind, Kind.Contains):
            return self._missed_bound(error)
        return self._plain(error)

    def _plain(self, error: Any) -> Failure:
        kind = error.kind
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        parent = self._parent(error, keyword)
        too_costly = isinstance(kind, Kind.BacktrackLimitExceeded | Kind.RegexEngineFailure)
        return Failure(
            keyword=keyword,
            **self._place(error),
            instance=error.instance,
            parent=parent,
            value=parent[keyword] if parent else kind.value,
            names=_names(kind),
            branches=tuple(tuple(map(self.failure, branch)) for branch in getattr(kind, "context", ())),
            note="the pattern takes too many steps on this value" if too_costly else "",
        )

    def _nothing_allowed(self, error: Any) -> Failure:
        """The failure of a schema that is false.

        Of an object whose schema describes no property, the engine names the first value and not its key.
        """
        way, place = error.schema_path, error.instance_path
        is_property = way[-2:-1] == ["properties"] and place[-1:] == ["additionalProperties"]
        whole = resolve(self.root, place)
        if way[-1:] == ["additionalProperties"] and not is_property and isinstance(whole, dict):
            return replace(self._plain(error), instance=whole, names=tuple(whole))
        return replace(self._plain(error), keyword="false", parent=None)

    def _missed_bound(self, error: Any) -> Failure:
        """The failure of ``contains``, told by the bound that is missed: the engine names one that stands there."""
        failure = self._plain(error)
        if failure.parent is None:
            return failure
        place = pointer((*error.schema_path[:-1], "contains"))
        count = sum(self.is_valid_at(place, item) for item in error.instance)
        keyword = "minContains" if "minContains" in failure.parent else "contains"
        if count > failure.parent.get("maxContains", count):
            keyword = "maxContains"
        way = (*failure.evaluation_path[:-1], keyword)
        return replace(failure, keyword=keyword, evaluation_path=way, value=failure.parent[keyword])

    def _place(self, error: Any) -> dict[str, Any]:
        return {
            "evaluation_path": tuple(error.evaluation_path[self.skipped :]),
            "instance_path": tuple(error.instance_path),
        }

    def _parent(self, error: Any, keyword: str) -> Mapping[str, Any] | None:
        """The schema that holds the keyword, unless it stands in a part with an ``$id`` of its own.

        There the engine counts the path from that part.
        """
        base = (error.absolute_keyword_location or "").partition("#")[0]
        if base and base not in (_WHOLE, str(self.schema.get("$id", "")).partition("#")[0]):
            return None
        try:
            parent = resolve(self.schema, error.schema_path[:-1])
        except LookupError:
            return None
        return parent if isinstance(parent, Mapping) and keyword in parent else None


def _names(kind: Any) -> tuple[str, ...]:
    missing = getattr(kind, "property", None)
    if missing is not None:
        return (str(missing),)
    return tuple(map(str, getattr(kind, "unexpected", ())))
