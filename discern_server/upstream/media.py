"""Media types (RFC 9110, section 8.3.1): which are JSON, which are text, in what charset."""

from __future__ import annotations

import codecs
from email.message import Message
from typing import Final

_TEXTUAL: Final = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json-seq",
        "application/json-lines",
        "application/jsonl",
        "application/jsonlines",
        "application/ndjson",
        "application/rtf",
        "application/sdp",
        "application/sql",
        "application/toml",
        "application/x-javascript",
        "application/x-jsonlines",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/xml",
        "application/xml-dtd",
        "application/yaml",
        "image/svg+xml",
    }
)
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "utf-7"})
"""Python's codecs that are no charsets of the web: they interpret what they read, or take quadratic time."""

_TEXTUAL_SUFFIXES: Final = ("+xml", "+yaml", "+json-seq")


def essence(content_type: str) -> str:
    """The media type without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(content_type: str) -> bool:
    """Whether it is JSON: ``application/json``, its old names, or a ``+json`` type (RFC 6839, section 3.1)."""
    media_type = essence(content_type)
    return media_type in ("application/json", "text/json", "application/x-json") or media_type.endswith("+json")


def is_text(content_type: str) -> bool:
    """Whether a person reads it as text; JSON is not counted here."""
    media_type = essence(content_type)
    return media_type.startswith("text/") or media_type in _TEXTUAL or media_type.endswith(_TEXTUAL_SUFFIXES)


def charset_of(content_type: str) -> str | None:
    """The ``charset`` parameter where Python knows a text encoding of that name, by Python's name for it."""
    message = Message()
    message["Content-Type"] = content_type
    charset = message.get_content_charset()
    try:
        codec = codecs.lookup(charset) if charset else None
        if codec is None or codec.name.replace("_", "-") in _NO_CHARSETS:
            return None
        "".encode(codec.name)  # raises LookupError for a codec that is none of text
    except (LookupError, ValueError):
        return None
    return codec.name
