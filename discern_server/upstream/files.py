"""File arguments: the objects that stand for file content in a tool's arguments (`binding.FILE_ARGUMENT`)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from discern_server.upstream.findings import ArgumentError, Place

OCTET_STREAM: Final = "application/octet-stream"

_WHITESPACE: Final = re.compile(r"\s+")
_MEDIA_TYPE: Final = re.compile(
    r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(\s*;\s*[\w!#$&^.+-]+=([\w!#$&^.+-]+|\"[^\"\\\r\n]*\"))*", re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """A file argument, decoded."""

    data: bytes
    filename: str | None = None
    content_type: str | None = None


def is_file(value: Any) -> bool:
    """Whether `value` has the shape of a file argument."""
    return isinstance(value, Mapping) and ("base64" in value) != ("text" in value)


def read_file(value: Any, place: Place) -> FileContent:
    """Decode a file argument.

    Raises:
        ArgumentError: It has neither or both of ``base64`` and ``text``, its Base64 is broken, or its
            ``content_type`` is no media type.
    """
    if not is_file(value):
        raise ArgumentError(
            "file",
            place,
            "a file needs exactly one of base64 and text",
            'give {"base64": "..."} for bytes or {"text": "..."} for text',
        )
    content_type = value.get("content_type")
    if content_type is not None and not _MEDIA_TYPE.fullmatch(content_type):
        raise ArgumentError("file", (*place, "content_type"), "this is no media type", 'write it as "image/png"')
    data = _decode(value["base64"], place) if "base64" in value else value["text"].encode("utf-8")
    return FileContent(data=data, filename=value.get("filename"), content_type=content_type)


def _decode(text: str, place: Place) -> bytes:
    """Standard Base64 (RFC 4648, section 4), line breaks allowed."""
    try:
        return base64.b64decode(_WHITESPACE.sub("", text), validate=True)
    except (binascii.Error, ValueError) as error:
        fix = "give the Base64 alone, without a data: prefix" if text.startswith("data:") else None
        raise ArgumentError("file", (*place, "base64"), f"this is no Base64: {error}", fix) from error


def concrete(media_type: str, file: FileContent) -> str:
    """`media_type`, or what `file` says it is where that is a range such as ``image/*``."""
    return media_type if "*" not in media_type else file.content_type or OCTET_STREAM
