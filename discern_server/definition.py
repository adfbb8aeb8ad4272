"""The shape that a definition of a prompt or a resource must have, held against it as a JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discern_server.result import DiscernError
from discern_server.schema.validate import compile_validator


class DefinitionError(DiscernError):
    """A definition of a prompt or a resource that cannot be served; `diagnostics` tells every fault."""


class Shape:
    """What the wire form of one kind of definition must look like.

    Args:
        kind: What it is called, as in ``prompt``.
        schema: The JSON Schema of its wire form. Unknown members are let through, as they are on the wire.
    """

    def __init__(self, kind: str, schema: Mapping[str, Any]) -> None:
        self._kind = kind
        self._validator = compile_validator(schema)

    def check(self, definition: Any, origin: str | None) -> None:
        """Nothing where `definition` has the shape.

        Raises:
            DefinitionError: it has not; each finding is placed within `origin`, or within the kind's name.
        """
        findings = self._validator.diagnose(definition)
        if findings:
            raise DefinitionError(finding.within(origin or self._kind) for finding in findings)


def meta_properties() -> dict[str, Any]:
    """The members that every kind of definition may have (schema, BaseMetadata and Icons)."""
    icon = {
        "type": "object",
        "required": ["src"],
        "properties": {
            "src": {"type": "string", "minLength": 1},
            "mimeType": {"type": "string"},
            "sizes": {"type": "array", "items": {"type": "string"}},
            "theme": {"enum": ["light", "dark"]},
        },
    }
    return {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "icons": {"type": "array", "items": icon},
        "_meta": {"type": "object"},
    }
