"""What needs no normalising: a 2020-12 schema that refers to nothing outside itself. And what no reference may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from discern_server.result import Diagnostic
from discern_server.schema.dialects import DRAFT_2020_12, IN_PLACE
from discern_server.schema.documents import Library, Place
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.graph import strongly_connected
from discern_server.schema.pointer import extend
from discern_server.schema.rewrite import is_ignored
from discern_server.schema.values import complaint, misshape

_T = TypeVar("_T")


def stands_alone(root: Place, library: Library) -> bool:
    """Whether the schema is 2020-12 through and through, well-formed, and refers to its own document alone."""
    document = root.document
    seen: set[str] = set()
    # A reference into an unknown keyword makes a schema of what is there, which is looked at as well.
    while pending := [place for pointer, place in document.indexed.items() if pointer not in seen]:
        seen |= document.indexed.keys()
        while pending:
            place = pending.pop()
            if not isinstance(place.value, dict | bool):
                return False
            if isinstance(place.value, dict):
                if not _needs_nothing(place) or not _refers_inward(place, library):
                    return False
                pending += [schema for _, schema in place.schemas()]
    return not document.faults


def _needs_nothing(place: Place) -> bool:
    """Whether the schema object at that place is well-formed and says what it says as 2020-12 does."""
    shapes = place.dialect.shapes
    declared = place.value.get("$schema", DRAFT_2020_12.uri)
    if place.dialect is not DRAFT_2020_12 or declared not in (DRAFT_2020_12.uri, f"{DRAFT_2020_12.uri}#"):
        return False
    for keyword, value in place.value.items():
        wanted = misshape(shapes[keyword], value) if keyword in shapes else complaint(keyword, value)
        if wanted or keyword == "dependencies" or is_ignored(keyword, place.dialect, value):
            return False
    return True


def _refers_inward(place: Place, library: Library) -> bool:
    for reference in _references(place.value):
        try:
            if not library.is_at_hand(reference, place):
                return False
            target = library.find(reference, place)
        except UnresolvableError:
            return False
        if not _is_inward(reference, target, place):
            return False
    return True


def _is_inward(reference: str, target: Place, place: Place) -> bool:
    """Whether `reference`, which leads to `target`, would do so wherever the schema is read from."""
    if target.document is not place.document or not isinstance(target.value, dict | bool):
        return False
    root = place.document.resources[""]
    return reference.startswith("#") or target.resource is not root or root.uri != place.document.uri


def _references(schema: dict[str, Any]) -> list[str]:
    return [schema[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in schema]


def loops_in(root: Place, library: Library) -> Iterator[Diagnostic]:
    """The same as `loops` for a schema that stands alone; dynamic references are taken for what they lead to first."""

    @cache
    def leads_to(place: Place) -> Mapping[Place, str]:
        if not isinstance(place.value, dict):
            return {}
        holds = not IN_PLACE.isdisjoint(place.value)
        inside = {schema: "" for keyword, schema in place.schemas() if keyword in IN_PLACE} if holds else {}
        path = extend(place.path, "$ref")
        return inside | {library.find(reference, place): path for reference in _references(place.value)}

    pending, referring = list(root.document.indexed.values()), []
    while pending:
        place = pending.pop()
        if isinstance(place.value, dict):
            referring += [place] if _references(place.value) else []
            pending += [schema for _, schema in place.schemas()]
    return loops(referring, leads_to)


def loops(starts: Iterable[_T], leads_to: Callable[[_T], Mapping[_T, str]]) -> Iterator[Diagnostic]:
    """References that lead back to where they stand without going into the instance (2020-12 Core, 9.4.1).

    `leads_to` says which others look at the same instance, each with the place of the reference if it is by one.
    """
    for component in strongly_connected(starts, leads_to):
        inside = set(component)
        paths = [path for one in component for other, path in leads_to(one).items() if other in inside and path]
        if paths:
            yield Diagnostic(
                rule="schema.loop",
                message="The reference leads back to the schema that it stands in: checking a value would never end.",
                path=min(paths),
                fix="Refer to it from a property or an item, or leave the reference out.",
            )
