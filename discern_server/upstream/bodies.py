"""Request bodies: from the body argument to bytes and their Content-Type, by `BodyBinding.kind`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from discern_server.upstream import forms, multipart
from discern_server.upstream.binding import BodyBinding, BodyKind
from discern_server.upstream.files import concrete, read_file
from discern_server.upstream.findings import ArgumentError
from discern_server.upstream.media import charset_of, essence
from discern_server.upstream.styles import as_json, as_text

_RECORD_SEPARATOR: Final = "\x1e"
"""What goes before each text of a JSON sequence (RFC 7464, section 2.2)."""


@dataclass(frozen=True, slots=True)
class Body:
    """A request body.

    Attributes:
        content_type: The header's value.
        data: The bytes.
    """

    content_type: str
    data: bytes


def write_body(binding: BodyBinding, value: Any) -> Body:
    """Write the body argument `value`.

    Raises:
        ArgumentError: It cannot be written in this media type.
        UnicodeEncodeError: It holds a lone surrogate.
    """
    return _WRITERS[binding.kind](binding, value)


def _json(binding: BodyBinding, value: Any) -> Body:
    return Body(binding.media_type, as_json(value).encode("utf-8"))


def _json_lines(binding: BodyBinding, value: Any) -> Body:
    if not isinstance(value, list):
        raise ArgumentError("body", (binding.argument,), f"{binding.media_type} needs an array, one item a line")
    before = _RECORD_SEPARATOR if essence(binding.media_type).endswith("json-seq") else ""
    return Body(binding.media_type, "".join(f"{before}{as_json(item)}\n" for item in value).encode("utf-8"))


def _text(binding: BodyBinding, value: Any) -> Body:
    charset = charset_of(binding.media_type)
    content_type = binding.media_type
    if charset is None and content_type.startswith("text/"):
        content_type += "; charset=utf-8"
    try:
        return Body(content_type, as_text(value).encode(charset or "utf-8"))
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        message = f"{character!r} cannot be written in the charset {charset or 'utf-8'}"
        raise ArgumentError("body", (binding.argument,), message) from error


def _binary(binding: BodyBinding, value: Any) -> Body:
    file = read_file(value, (binding.argument,))
    return Body(concrete(binding.media_type, file), file.data)


def _form(binding: BodyBinding, value: Any) -> Body:
    return Body(binding.media_type, forms.write_form(_members(binding, value), binding.fields, (binding.argument,)))


def _multipart(binding: BodyBinding, value: Any) -> Body:
    parts = multipart.parts_of(_members(binding, value), binding.fields, (binding.argument,))
    boundary, data = multipart.assemble(parts)
    return Body(f"{binding.media_type}; boundary={boundary}", data)


def _members(binding: BodyBinding, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ArgumentError("body", (binding.argument,), f"{binding.media_type} needs an object, a member a field")
    return value


_WRITERS: Final[Mapping[BodyKind, Callable[[BodyBinding, Any], Body]]] = {
    "json": _json,
    "json_lines": _json_lines,
    "form": _form,
    "multipart": _multipart,
    "text": _text,
    "binary": _binary,
}
