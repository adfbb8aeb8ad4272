"""Faults of arguments, found while a request is built and told all at once."""

from __future__ import annotations

from typing import TypeAlias

from discern_server.result import Diagnostic
from discern_server.schema.pointer import pointer

Place: TypeAlias = tuple[str | int, ...]
"""Where in the arguments: the tool's property, then keys and indices."""


class ArgumentError(Exception):
    """One argument cannot be written.

    Attributes:
        diagnostic: What is wrong, where, and the mend.
    """

    def __init__(self, rule: str, place: Place, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(rule=f"argument.{rule}", message=message, path=pointer(place), fix=fix)
