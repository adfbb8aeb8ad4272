"""Which operations become tools: patterns as a person writes them.

* ``GET /invoices/**``: method and path; ``*`` for the method or for one segment, ``**`` for any number of
  segments, ``{}`` around a name is part of the segment. ``/invoices/**`` alone is every method.
* ``POST``: the method alone; ``method:read`` and ``method:write`` are those that only read, and the others.
* ``tag:customers``, ``id:listCustomers``: by tag or ``operationId``; ``*`` is any text.

With no ``include``, everything is in; what matches ``exclude`` is out, whatever includes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from discern_server.sources.openapi.description import Operation

READING: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
"""The methods that are safe: they ask for nothing but to read (RFC 9110, section 9.2.1; QUERY is safe too)."""

_Test: TypeAlias = Callable[[Operation], bool]
_METHOD_AND_PATH: Final = re.compile(r"(?:(\*|[A-Za-z]+)\s+)?(/.*)")
_METHOD: Final = re.compile(r"[A-Za-z]+")


class PatternError(ValueError):
    """A pattern that cannot be read.

    Attributes:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        super().__init__(
            f"{pattern!r} is no pattern; write \"GET /path/**\", \"/path/*\", \"GET\", \"method:read\","
            ' "tag:NAME" or "id:NAME"'
        )  # fmt: skip
        self.pattern = pattern


@dataclass(frozen=True, slots=True)
class Selection:
    """Include and exclude patterns, compiled."""

    include: tuple[tuple[str, _Test], ...]
    exclude: tuple[tuple[str, _Test], ...]

    @classmethod
    def of(cls, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Selection:
        """A selection by the patterns given.

        Raises:
            PatternError: One of them cannot be read.
        """
        return cls(
            tuple((pattern, compile_pattern(pattern)) for pattern in include),
            tuple((pattern, compile_pattern(pattern)) for pattern in exclude),
        )

    def __contains__(self, operation: object) -> bool:
        if not isinstance(operation, Operation):
            return False
        if any(test(operation) for _, test in self.exclude):
            return False
        return not self.include or any(test(operation) for _, test in self.include)

    def unused(self, operations: Sequence[Operation]) -> list[str]:
        """The patterns that match no operation: a slip, most likely."""
        tests = (*self.include, *self.exclude)
        return [pattern for pattern, test in tests if not any(test(operation) for operation in operations)]


def compile_pattern(pattern: str) -> _Test:
    """The test that a pattern stands for.

    Raises:
        PatternError: It cannot be read.
    """
    text = pattern.strip()
    kind, colon, value = text.partition(":")
    if colon and kind in ("tag", "id", "method"):
        return _named(kind, value, pattern)
    if found := _METHOD_AND_PATH.fullmatch(text):
        return _path_test(found[1] or "*", found[2])
    if _METHOD.fullmatch(text):
        method = text.upper()
        return lambda operation: operation.method.upper() == method
    raise PatternError(pattern)


def _named(kind: str, value: str, pattern: str) -> _Test:
    if kind == "method":
        if value not in ("read", "write"):
            raise PatternError(pattern)
        return lambda operation: (operation.method in READING) == (value == "read")
    wanted = re.compile(".*".join(re.escape(part) for part in value.split("*")))
    if kind == "tag":
        return lambda operation: any(wanted.fullmatch(tag) for tag in operation.tags)
    return lambda operation: wanted.fullmatch(operation.operation_id or "") is not None


def _path_test(method: str, path: str) -> _Test:
    wanted = re.compile(_path_expression(path))
    upper = method.upper()
    return lambda operation: (
        upper in ("*", operation.method.upper()) and wanted.fullmatch(operation.path) is not None
    )  # fmt: skip


def _path_expression(path: str) -> str:
    """``**`` at the end also stands for nothing: ``/pets/**`` is ``/pets`` and all below it."""
    expression = "".join(
        "(?:/.*)?" if segment == "**" else "/" + "[^/]*".join(re.escape(part) for part in segment.split("*"))
        for segment in path.split("/")[1:]
    )
    return expression or "/"
