"""The two validation engines behind one door, each turning its errors into `Failure` values.

`jsonschema-rs` is the fast one and is used wherever it has a wheel; `jsonschema`, the reference, takes
over elsewhere (docs/adr/0005-validation-engine.md). Neither ever fetches a reference. Where they would
give different verdicts, docs/guide/validation.md says which is right, and the reference is corrected.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from discern_server.schema.failure import Failure
    from discern_server.schema.pointer import Token

EngineName: TypeAlias = Literal["jsonschema-rs", "jsonschema"]


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


def meets_its_metaschema(schema: Any) -> bool:
    """Whether a plain 2020-12 `schema` is surely valid by the meta-schema.

    The fast engine has that at hand, and says so in a moment; False where it says no, or is not there to be asked.
    """
    if default_engine() != "jsonschema-rs":
        return False
    from discern_server.schema.fast_engine import meets_its_metaschema

    return meets_its_metaschema(schema)


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
