"""What goes wrong with a schema itself, as opposed to an instance of it.

SchemaError         a schema cannot be used; carries every finding
UnresolvableError   a document or a place that a reference names cannot be had, and why
"""

from __future__ import annotations

from discern_server.result import DiscernError


class SchemaError(DiscernError):
    """A schema that cannot be used; its `diagnostics` name every fault by a JSON Pointer into it."""


class UnresolvableError(LookupError):
    """Raised by a resolver for a document that it cannot, or will not, supply.

    Attributes:
        reason: Why, as the end of a sentence that begins with the reference, such as "is not in the folder".
        fix: What the reader can do about it.
    """

    def __init__(self, reason: str, fix: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix
