"""Schemas that no validator takes, mended where that can be done honestly.

What is no JSON Schema is refused before it comes here. What is left are keywords whose value only an engine can
judge: a pattern written for another kind of regular expression, most of all. Such a keyword is left out, which
lets more through than was meant, and that is told; the API behind still says its no.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from discern_server.schema.dialects import DRAFT_2020_12, Shape
from discern_server.schema.engines import CannotCompileError, compile_schema, default_engine
from discern_server.schema.pointer import Token, pointer

_MAX_FAULTS: Final = 100
_BATCH: Final = 100


@dataclass(frozen=True, slots=True)
class Mend:
    """A keyword that was left out: where it stood in the schema, and what was wrong with it."""

    pointer: str
    reason: str


def is_sound(schemas: Sequence[Any], names: Iterable[str]) -> bool:
    """Whether every one of `schemas`, which refer to definitions called `names`, is one that a validator takes.

    They are looked at a batch at a time, for an engine holds all that it compiles.
    """
    known = dict.fromkeys(names, True)
    batches = (schemas[start : start + _BATCH] for start in range(0, len(schemas), _BATCH))
    return all(_fault({"$defs": known, "allOf": batch}) is None for batch in batches)


def mended(schema: Any, names: Iterable[str]) -> tuple[Any, tuple[Mend, ...]]:
    """The schema without keywords that break it; `names` are those of the definitions that it refers to.

    Raises:
        CannotCompileError: It cannot be mended so.
    """
    if not isinstance(schema, dict):
        return schema, ()
    mends: list[Mend] = []
    known = dict.fromkeys(names, True)
    while (fault := _fault({**schema, "$defs": known})) is not None:
        keyword = _keyword_at(schema, fault.path)
        if keyword is None or len(mends) == _MAX_FAULTS:
            raise fault
        schema = _without(schema, keyword)
        mends.append(Mend(pointer(keyword), fault.reason))
    return schema, tuple(mends)


def _fault(schema: Any) -> CannotCompileError | None:
    try:
        compile_schema(schema, default_engine())
    except CannotCompileError as error:
        return error
    return None


def _keyword_at(schema: Any, path: tuple[Token, ...]) -> tuple[Token, ...] | None:
    """The way to the innermost keyword of a schema on the way `path`; None where there is none."""
    tokens = iter(path)
    way: list[Token] = []
    for token in tokens:
        way.append(token)
        shape = DRAFT_2020_12.shapes.get(str(token))
        inner = schema.get(token) if isinstance(schema, Mapping) else None
        if shape is None or inner is None:
            break
        if shape in (Shape.ONE, Shape.ONE_OR_MANY) and not isinstance(inner, list):
            schema = inner
            continue
        key = next(tokens, None)
        if key is None:
            break
        way.append(key)
        schema = inner[key]
    return tuple(way) or None


def _without(schema: Any, way: tuple[Token, ...]) -> Any:
    """A copy of `schema` without the keyword at `way`; the rest is shared."""
    key, *rest = way
    copy: Any = dict(schema) if isinstance(schema, Mapping) else list(schema)
    if rest:
        copy[key] = _without(schema[key], tuple(rest))
    else:
        del copy[key]
    return copy
