"""The references of a schema that lead out of it, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discern_server.schema.bounds import BoundExceededError
from discern_server.schema.dialects import DRAFT_2020_12, subschemas
from discern_server.schema.documents import Library, Place
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.words import show


def leaving_references(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The pointer of each reference in `schema`, used or not, that leads out of it or nowhere, and what is wrong.

    Raises:
        SchemaError: The schema is too large to look.
    """
    library = Library()
    try:
        root = library.add("", schema, DRAFT_2020_12)
    except BoundExceededError as error:
        raise SchemaError([error.diagnostic]) from None
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if isinstance(place.value, dict):
            for keyword in ("$ref", "$dynamicRef"):
                reason = _why_it_leaves(library, root, place, keyword)
                if reason:
                    yield f"{place.pointer}/{keyword}", f"the reference {show(place.value[keyword])} {reason}"
            waiting += [place.at(*tokens) for tokens, _ in reversed(list(subschemas(place.value, place.dialect)))]


def _why_it_leaves(library: Library, root: Place, place: Place, keyword: str) -> str | None:
    reference = place.value.get(keyword)
    if not isinstance(reference, str):
        return None
    try:
        target = library.find(reference, place)
    except UnresolvableError as error:
        return error.reason
    return None if target.document is root.document else "leads out of the schema"
