"""The JSON Schema of the envelope: what `discern_server.result.serialize` gives, for ``outputSchema``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discern_server.result import Severity, StepStatus


def envelope_schema(data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The schema of a serialized `DiscernResult`, in 2020-12.

    Args:
        data: The schema of its ``data``; any JSON value where it is None.
    """
    steps = {"type": "array", "items": _STEP}
    return {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean", "description": "Whether it did what was asked."},
            "verb": {"type": "string", "description": "Who is speaking."},
            "dry_run": {"type": "boolean", "description": "True where nothing was changed and a plan is shown."},
            "plan": {**steps, "description": "The steps that would be taken."},
            "steps": {**steps, "description": "The steps that were taken."},
            "diagnostics": {"type": "array", "items": _DIAGNOSTIC, "description": "Findings."},
            "data": dict(data or {"description": "The answer itself."}),
            "hints": {"type": "array", "items": {"type": "string"}, "description": "What to do next."},
            "error": {"type": "string", "description": "A stable word for why ok is false."},
            "message": {"type": "string", "description": "One sentence for a person."},
        },
        "required": ["ok", "verb"],
        "additionalProperties": False,
    }


_STEP = {
    "type": "object",
    "properties": {
        "action": {"type": "string"},
        "target": {"type": "string"},
        "status": {"enum": [status.value for status in StepStatus]},
        "detail": {"type": "string"},
    },
    "required": ["action", "target", "status"],
    "additionalProperties": False,
}
_DIAGNOSTIC = {
    "type": "object",
    "properties": {
        "rule": {"type": "string"},
        "severity": {"enum": [severity.value for severity in Severity]},
        "message": {"type": "string"},
        "path": {"type": "string", "description": "A JSON Pointer, a file, or file#/pointer."},
        "line": {"type": "integer"},
        "schema_path": {"type": "string", "description": "Where a schema says what is broken."},
        "fix": {"type": "string"},
    },
    "required": ["rule", "severity", "message"],
    "additionalProperties": False,
}
