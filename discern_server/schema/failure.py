"""One thing that is wrong with an instance, as either engine tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from discern_server.schema.pointer import Token

BY_COST: Final = "cost"
"""The keyword of a `Failure` that no keyword caused: the check was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One keyword that one place of an instance does not satisfy.

    Attributes:
        keyword: The keyword, such as ``required``; ``false`` for the schema that allows nothing.
        evaluation_path: The way from the root schema to the keyword, through each ``$ref`` taken; the reference
            engine leaves the ``$ref`` itself out.
        instance_path: The way from the root of the instance to the place.
        instance: The value at that place.
        parent: The schema object that holds the keyword; None where it is not in the document.
        value: What the keyword says, such as ``10`` for ``maximum``.
        names: The property names at fault: missing, or not allowed.
        of_name: True where `instance` is the name of a property, judged by ``propertyNames``.
        branches: For ``anyOf`` and ``oneOf``, why each alternative failed; empty for one that did not.
        note: What the engine itself has to say where the above cannot tell it.
    """

    keyword: str
    evaluation_path: tuple[Token, ...]
    instance_path: tuple[Token, ...]
    instance: Any
    parent: Mapping[str, Any] | None = None
    value: Any = None
    names: tuple[str, ...] = ()
    of_name: bool = False
    branches: tuple[tuple[Failure, ...], ...] = ()
    note: str = ""
