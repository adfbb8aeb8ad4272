"""Answers: what of a description's responses becomes an ``outputSchema``, and what the binding says of them.

The schema is kept where every success that the description tells of is JSON with a schema. Several statuses are
alternatives; a success without content is ``null``, and so is the structured result then. Where a success may
be something else (text, bytes, JSON of which nothing is said), there is none: what is promised has to hold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from discern_server.sources.openapi.body_kinds import is_anything
from discern_server.sources.openapi.description import Content, Operation, Response
from discern_server.sources.openapi.documents import Place
from discern_server.sources.openapi.schemas import SchemaView, absolute
from discern_server.upstream.binding import ResponseBinding
from discern_server.upstream.media import is_json


@dataclass(frozen=True, slots=True)
class Output:
    """What is said of an operation's answers.

    Attributes:
        schemas: What a structured result may be, in the description's dialect; none: none is promised.
        may_be_empty: Whether a success may have no content.
        responses: For the binding.
    """

    schemas: tuple[Place, ...]
    may_be_empty: bool
    responses: tuple[ResponseBinding, ...]


def describe_output(operation: Operation, view: SchemaView) -> Output:
    """What `operation` answers."""
    successes = [response for response in operation.responses if response.status.startswith("2")]
    if not successes:
        successes = [response for response in operation.responses if response.status.lower() == "default"]
    chosen = {response.status: _json_content(response, view) for response in successes}
    structured = operation.method != "HEAD" and all(
        chosen[response.status] is not None or not response.contents for response in successes
    )
    schemas = [content.schema for content in chosen.values() if content is not None and content.schema is not None]
    if not structured or not schemas:
        return Output((), False, tuple(_binding(response) for response in operation.responses))
    return Output(
        schemas=_distinct(schemas),
        may_be_empty=any(not response.contents for response in successes),
        responses=tuple(_binding(response, chosen.get(response.status)) for response in operation.responses),
    )


def _json_content(response: Response, view: SchemaView) -> Content | None:
    """The response's JSON, if it has any and the description says what it is."""
    described = [content for content in response.contents if content.schema is not None]
    for content in described:
        if is_json(content.media_type):
            return content
    for content in described:
        if is_anything(content.media_type) and content.schema is not None:
            types = view.types(content.schema)
            return content if types and "string" not in types else None
    return None


def _binding(response: Response, only: Content | None = None) -> ResponseBinding:
    contents = (only,) if only is not None else response.contents
    return ResponseBinding(status=response.status, media_types=tuple(content.media_type for content in contents))


def _distinct(places: Sequence[Place]) -> tuple[Place, ...]:
    """Each schema once: statuses often have the same."""
    return tuple({json.dumps(absolute(place), sort_keys=True): place for place in places}.values())
