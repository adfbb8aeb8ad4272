"""What kind of body each media type is."""

from __future__ import annotations

from typing import Final

from discern_server.upstream.binding import BodyKind
from discern_server.upstream.media import essence, is_json, is_text

_JSON_LINES: Final = frozenset(
    {
        "application/jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/json-lines",
        "application/json-seq",
        "application/ndjson",
        "application/x-ndjson",
    }
)


def body_kind(media_type: str) -> BodyKind:
    """How a body of this type is written."""
    name = essence(media_type)
    if is_json(media_type) or is_anything(media_type):
        return "json"
    if name in _JSON_LINES or name.endswith("+json-seq"):
        return "json_lines"
    if name == "application/x-www-form-urlencoded":
        return "form"
    if name.startswith("multipart/"):
        return "multipart"
    return "text" if is_text(media_type) else "binary"


def is_range(media_type: str) -> bool:
    """Whether it stands for several types: ``image/*``."""
    return essence(media_type).endswith("/*")


def is_anything(media_type: str) -> bool:
    """Whether it may as well be JSON: ``*/*``, ``application/*``."""
    return essence(media_type) in ("*/*", "application/*")
