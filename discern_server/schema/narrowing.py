"""Finding what is wrong with a large or deep instance without collecting every failure of it.

Where `Cost` says that collecting would take too long, this goes from the schema that is not satisfied to
the ones in it that are not, by verdicts alone, which take linear time; and collects only where a piece is
small enough. Of alternatives it follows the one whose outline fits: types, constants and required names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Protocol

from discern_server.schema.cost import Cost
from discern_server.schema.dialects import DRAFT_2020_12
from discern_server.schema.failure import BY_COST, Failure
from discern_server.schema.local_references import LocalReferences
from discern_server.schema.pointer import Token, parse, pointer, resolve

AFFORDABLE: Final = 50_000
"""The cost up to which all failures are collected: a fifth of a second, were everything to fail."""

MOST_FAILURES: Final = 200
"""How many failures are looked at: an array of a million wrong items is told by its first ones."""

_TELLING: Final = ("type", "const", "enum")
"""What says of an alternative whether it is meant."""

_COMPARING: Final = ("const", "enum", "uniqueItems")
"""What looks at a whole value without a schema for its parts."""


class Judge(Protocol):
    """The verdicts and failures of the schema at a pointer."""

    def is_valid_at(self, place: str, instance: Any) -> bool:
        """Whether `instance` satisfies the schema at the pointer `place`."""

    def failures_at(self, place: str, instance: Any) -> Iterable[Failure]:
        """Every failure of it, however long that takes."""

    def outline(self, schema: dict[str, Any]) -> Callable[[Any], bool]:
        """The verdict of a small schema that stands by itself."""

    def failures_of(self, schema: dict[str, Any], instance: Any) -> Iterable[Failure]:
        """Every failure of `instance` by a small schema that stands by itself."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the instance that a part of the schema does not accept."""

    place: str
    instance: Any
    evaluation_path: tuple[Token, ...] = ()
    instance_path: tuple[Token, ...] = ()

    def same(self, place: str, *way: Token) -> _Piece:
        """The same instance, as the schema at `place` judges it, reached by `way`."""
        return _Piece(place, self.instance, (*self.evaluation_path, *way), self.instance_path)

    def member(self, key: Token, *way: Token) -> _Piece:
        """The member `key` of the instance, as the schema reached by `way` judges it."""
        place = self.place + pointer(way)
        return _Piece(place, self.instance[key], (*self.evaluation_path, *way), (*self.instance_path, key))


class Narrowing:
    """Finds failures of one schema: 2020-12, and self-contained."""

    def __init__(self, schema: Any, judge: Judge) -> None:
        self._schema = schema
        self._judge = judge
        self._references = LocalReferences(schema)
        self._cost = Cost(self._references)
        self._outlines: dict[str, list[Callable[[Any], bool]]] = {}

    def failures(self, instance: Any) -> Iterator[Failure]:
        """The failures of `instance`: all of them where that is affordable, else where narrowing leads."""
        waiting = [_Piece("", instance)]
        while waiting:
            piece = waiting.pop()
            if self._cost.of(piece.place, piece.instance) <= AFFORDABLE:
                found = self._judge.failures_at(piece.place, piece.instance)
                yield from (_moved(failure, piece) for failure in found)
                continue
            schema = resolve(self._schema, parse(piece.place))
            by_itself = list(self._failures_by_itself(piece, schema))
            yield from by_itself
            wrong = list(
                islice((step for step in self._steps(piece, schema) if not self._is_valid(step)), MOST_FAILURES)
            )
            waiting += reversed(wrong)
            if not wrong and not by_itself:
                yield _unexplained(piece, schema)

    def _is_valid(self, piece: _Piece) -> bool:
        return self._judge.is_valid_at(piece.place, piece.instance)

    def _failures_by_itself(self, piece: _Piece, schema: Any) -> Iterator[Failure]:
        """What `schema` asks of the value and not of what is in it: its type, its size, its keys."""
        if not isinstance(schema, Mapping):
            return
        keyed, compared = _surface(schema)
        for surface, instance in ((keyed, _without_members(piece.instance)), (compared, piece.instance)):
            for failure in self._judge.failures_of(surface, instance):
                yield _moved(replace(failure, parent=schema, instance=piece.instance), piece)

    def _steps(self, piece: _Piece, schema: Any) -> Iterator[_Piece]:
        """The schemas that `schema` is made of, with what they judge."""
        if not isinstance(schema, Mapping):
            return
        target = self._references.target(schema)
        if target is not None:
            yield piece.same(target, "$ref")
        for index in range(len(schema.get("allOf", ()))):
            yield piece.same(f"{piece.place}/allOf/{index}", "allOf", index)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._likely_alternative(piece, keyword, schema[keyword])
        if isinstance(piece.instance, dict):
            yield from _members(piece, schema, piece.instance)
        elif isinstance(piece.instance, list | tuple):
            yield from _items(piece, schema, len(piece.instance))

    def _likely_alternative(self, piece: _Piece, keyword: str, alternatives: Iterable[Any]) -> Iterator[_Piece]:
        """The one alternative whose outline the instance fits, if there is exactly one."""
        place = f"{piece.place}/{keyword}"
        if place not in self._outlines:
            self._outlines[place] = [self._judge.outline(self._outline(each)) for each in alternatives]
        fitting = [index for index, fits in enumerate(self._outlines[place]) if fits(piece.instance)]
        if len(fitting) == 1:
            yield piece.same(f"{place}/{fitting[0]}", keyword, fitting[0])

    def _outline(self, alternative: Any) -> dict[str, Any]:
        """What `alternative` asks of the value itself, and of the type and constants of its properties."""
        schema = self._followed(alternative)
        outline = {keyword: schema[keyword] for keyword in (*_TELLING, "required") if keyword in schema}
        outline["properties"] = {
            name: {keyword: value for keyword, value in self._followed(inner).items() if keyword in _TELLING}
            for name, inner in schema.get("properties", {}).items()
        }
        return outline

    def _followed(self, schema: Any) -> Mapping[str, Any]:
        """`schema`, or what its reference leads to where it says nothing of interest itself."""
        seen: set[str] = set()
        while isinstance(schema, Mapping) and not any(word in schema for word in (*_TELLING, "required", "properties")):
            target = self._references.target(schema)
            if target is None or target in seen:
                break
            seen.add(target)
            schema = resolve(self._schema, parse(target))
        return schema if isinstance(schema, Mapping) else {}


def _surface(schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`schema` without the schemas in it and without references: what looks at keys and size, and what at the whole."""
    surface = {
        keyword: value
        for keyword, value in schema.items()
        if keyword not in DRAFT_2020_12.shapes and not keyword.startswith("$")
    }
    compared: dict[str, Any] = {keyword: surface.pop(keyword) for keyword in _COMPARING if keyword in surface}
    if schema.get("additionalProperties") is False:
        surface["additionalProperties"] = False
        for keyword in ("properties", "patternProperties"):
            surface[keyword] = dict.fromkeys(schema.get(keyword, ()), True)
    return surface, compared


def _without_members(instance: Any) -> Any:
    """`instance` with its keys, and nothing in its members: each failure of it brings a copy."""
    if isinstance(instance, dict):
        return dict.fromkeys(instance)
    return [None] * len(instance) if isinstance(instance, list) else instance


def _members(piece: _Piece, schema: Mapping[str, Any], instance: Mapping[str, Any]) -> Iterator[_Piece]:
    known = schema.get("properties", {})
    # Where there may be no others, that is told of the whole value; which of them a pattern takes is not known here.
    others = schema.get("additionalProperties", False) is not False and "patternProperties" not in schema
    for name in instance:
        if name in known:
            yield piece.member(name, "properties", name)
        elif others:
            yield piece.member(name, "additionalProperties")


def _items(piece: _Piece, schema: Mapping[str, Any], count: int) -> Iterator[_Piece]:
    first = len(schema.get("prefixItems", ()))
    for index in range(min(first, count)):
        yield piece.member(index, "prefixItems", index)
    if "items" in schema:
        for index in range(first, count):
            yield piece.member(index, "items")


def _moved(failure: Failure, piece: _Piece) -> Failure:
    """A failure of the piece as one of the whole."""
    return replace(
        failure,
        evaluation_path=(*piece.evaluation_path, *failure.evaluation_path),
        instance_path=(*piece.instance_path, *failure.instance_path),
        branches=tuple(tuple(_moved(cause, piece) for cause in branch) for branch in failure.branches),
    )


def _unexplained(piece: _Piece, schema: Any) -> Failure:
    """What is left to say: that no alternative is satisfied, or only that something is wrong in there."""
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema, Mapping) and keyword in schema:
            return Failure(
                keyword=keyword,
                evaluation_path=(*piece.evaluation_path, keyword),
                instance_path=piece.instance_path,
                instance=piece.instance,
                parent=schema,
                value=schema[keyword],
            )
    return Failure(
        keyword=BY_COST,
        evaluation_path=piece.evaluation_path,
        instance_path=piece.instance_path,
        instance=piece.instance,
        note="it is not what the schema asks for, and too large to say where",
    )
