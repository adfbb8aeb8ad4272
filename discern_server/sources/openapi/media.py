"""Media types: what kind of body each one is."""

from __future__ import annotations

from typing import Final

from discern_server.upstream.binding import BodyKind

_JSON_LINES: Final = frozenset(
    {
        "application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines",
        "application/json-lines",
    }
)  # fmt: skip
_TEXT: Final = frozenset(
    {
        "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/graphql",
        "application/sql", "application/sdp", "application/toml", "application/x-sh",
    }
)  # fmt: skip
_ANY: Final = frozenset({"*/*", "application/*"})


def essence(media_type: str) -> str:
    """The type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Whether content of this type is one JSON text."""
    name = essence(media_type)
    return name in ("application/json", "text/json", "application/x-json") or name.endswith("+json")


def is_range(media_type: str) -> bool:
    """Whether it stands for several types: ``image/*``."""
    return essence(media_type).endswith("/*")


def is_anything(media_type: str) -> bool:
    """Whether it may as well be JSON: ``*/*``, ``application/*``."""
    return essence(media_type) in _ANY


def is_text(media_type: str) -> bool:
    """Whether content of this type is text that a person could write, XML included."""
    name = essence(media_type)
    return name.startswith("text/") or name in _TEXT or name.endswith(("+xml", "+yaml"))


def body_kind(media_type: str) -> BodyKind:
    """How a body of this type is written."""
    name = essence(media_type)
    if is_json(media_type) or is_anything(media_type):
        return "json"
    if name in _JSON_LINES:
        return "json_lines"
    if name == "application/x-www-form-urlencoded":
        return "form"
    if name.startswith("multipart/"):
        return "multipart"
    return "text" if is_text(media_type) else "binary"
