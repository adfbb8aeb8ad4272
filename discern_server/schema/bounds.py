"""Bounds on what a schema may cost: how deep, how many subschemas, how large.

Everything in this package that walks a schema does so with a worklist, never by recursion, and pays from a
`Budget` for each step. A hostile or broken schema therefore ends in a diagnostic, not in a crash or a hang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from discern_server.result import Diagnostic
from discern_server.schema.json_value import MAX_DEPTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one schema, with everything it refers to, may cost.

    Attributes:
        max_depth: Levels of nesting, counted in JSON objects and arrays from the root of the schema or definition.
        max_subschemas: Schemas written, each counted as often as it is written.
        max_bytes: Size of what is written, in bytes of compact JSON, counted roughly (escapes are not).
    """

    max_depth: int = MAX_DEPTH
    max_subschemas: int = 100_000
    max_bytes: int = 32 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("max_depth", "max_subschemas", "max_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)!r}")


DEFAULT_BOUNDS: Final = Bounds()


class BoundExceededError(Exception):
    """A bound was exceeded; `diagnostic` says which and where."""

    def __init__(self, which: str, what: str, path: str) -> None:
        self.diagnostic = Diagnostic(
            rule=f"schema.bounds.{which}",
            message=f"The schema is too large: {what}.",
            path=path,
            fix="Make it smaller, or raise the bound where the schema is read.",
        )
        super().__init__(self.diagnostic.message)


class Budget:
    """What is spent of `Bounds` by one piece of work.

    Each method raises `BoundExceededError`, naming `path`, once its bound is passed.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self.subschemas = 0
        self.bytes = 0

    def subschema(self, path: str, depth: int = 0, count: int = 1) -> None:
        """Pay for one subschema, or `count`, at that depth."""
        self.subschemas += count
        if depth > self._bounds.max_depth:
            raise BoundExceededError("depth", f"it is nested deeper than {self._bounds.max_depth} levels", path)
        if self.subschemas > self._bounds.max_subschemas:
            raise BoundExceededError("subschemas", f"more than {self._bounds.max_subschemas} subschemas", path)

    def write(self, size: int, path: str) -> None:
        """Pay for that many bytes."""
        self.bytes += size
        if self.bytes > self._bounds.max_bytes:
            raise BoundExceededError("size", f"more than {self._bounds.max_bytes} bytes", path)
