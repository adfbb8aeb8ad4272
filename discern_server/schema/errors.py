"""What goes wrong with a schema itself, as opposed to an instance of it."""

from __future__ import annotations

from discern_server.result import DiscernError


class SchemaError(DiscernError):
    """A schema that cannot be used; its `diagnostics` name every fault by a JSON Pointer into it."""
