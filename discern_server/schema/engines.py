"""The two validation engines behind one door, each turning its errors into `Failure` values.

`jsonschema-rs` is the fast one and is used wherever it has a wheel; `jsonschema`, the reference, takes
over elsewhere (docs/adr/0005-validation-engine.md). Neither ever fetches a reference. Where they would
give different verdicts, docs/guide/validation.md says which is right, and the reference is corrected.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from discern_server.schema.pointer import Token

EngineName: TypeAlias = Literal["jsonschema-rs", "jsonschema"]

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


class Engine(Protocol):
    """A compiled schema. Safe to share between threads."""

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance`, plain JSON, satisfies the schema."""

    def failures(self, instance: Any) -> Iterator[Failure]:
        """Every failure of `instance`, in the engine's own order."""


class CannotCompileError(Exception):
    """An engine refuses a schema: `reason` says why, `path` where, as far as the engine tells.

    `rule` is ``schema.pattern`` where it is a pattern that it refuses, else ``schema.invalid``.
    """

    def __init__(self, reason: str, path: tuple[Token, ...] = (), *, rule: str = "schema.invalid") -> None:
        self.reason = reason
        self.path = path
        self.rule = rule
        super().__init__(reason)


def default_engine() -> EngineName:
    """The fast engine where it is installed."""
    return "jsonschema-rs" if importlib.util.find_spec("jsonschema_rs") else "jsonschema"


def compile_schema(schema: Any, engine: EngineName) -> Engine:
    """Compile a plain JSON Schema 2020-12.

    Raises:
        CannotCompileError: the schema is no schema of its dialect, or holds a reference or a pattern that is of no use.
    """
    if engine == "jsonschema-rs":
        from discern_server.schema.fast_engine import FastEngine

        return FastEngine(schema)
    from discern_server.schema.reference_engine import ReferenceEngine

    return ReferenceEngine(schema)
