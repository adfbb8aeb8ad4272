"""Where the references of a self-contained schema lead, as JSON Pointers into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from discern_server.schema.dialects import DRAFT_2020_12, subschemas
from discern_server.schema.pointer import Token, parse, pointer


class LocalReferences:
    """The schemas of one 2020-12 document by their pointers, and what refers to what.

    Attributes:
        schemas: Every schema object in it.
        are_known: False where a part has an ``$id`` of its own: references in it are not followed here.
    """

    def __init__(self, schema: Any) -> None:
        self.schemas: dict[str, dict[str, Any]] = {}
        self.are_known = True
        self._anchors: dict[str, str] = {}
        waiting: list[tuple[tuple[Token, ...], Any]] = [((), schema)]
        while waiting:
            place, part = waiting.pop()
            if isinstance(part, dict):
                self._note(pointer(place), part)
                waiting += [((*place, *tokens), inner) for tokens, inner in subschemas(part, DRAFT_2020_12)]

    def _note(self, place: str, schema: dict[str, Any]) -> None:
        self.schemas[place] = schema
        self.are_known = self.are_known and not (place and "$id" in schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors[schema[keyword]] = place

    def target(self, schema: Mapping[str, Any]) -> str | None:
        """The pointer that the ``$ref`` or ``$dynamicRef`` of `schema` leads to; None where there is none to follow."""
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        if not self.are_known or not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment in self._anchors:
            return self._anchors[fragment]
        return pointer(parse(fragment)) if fragment.startswith("/") or not fragment else None
