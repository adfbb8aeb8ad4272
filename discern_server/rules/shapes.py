"""The shapes that definitions of tools, prompts and resources have in common (schema reference, BaseMetadata, Icon)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

TEXT: Final = {"type": "string"}
NAME: Final = {"type": "string", "minLength": 1}

_ICON: Final = {
    "type": "object",
    "required": ["src"],
    "properties": {
        "src": NAME,
        "mimeType": TEXT,
        "sizes": {"type": "array", "items": TEXT},
        "theme": {"enum": ["light", "dark"]},
    },
}
COMMON: Final[Mapping[str, Any]] = MappingProxyType(
    {"title": TEXT, "description": TEXT, "icons": {"type": "array", "items": _ICON}, "_meta": {"type": "object"}}
)
"""The schemas of the members that each of them may have."""
