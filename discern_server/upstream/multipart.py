"""``multipart/*`` bodies (RFC 2046, section 5.1; RFC 7578 for ``multipart/form-data``).

One part for each field, and for each item of a field that is a list. A file goes out as its bytes, with a file
name always (servers tell a file by it) and its media type. The boundary is made from the content: the
same call gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from discern_server.upstream.binding import FieldEncoding
from discern_server.upstream.files import OCTET_STREAM, FileContent, concrete, read_file
from discern_server.upstream.findings import Place
from discern_server.upstream.forms import inferred, items_of
from discern_server.upstream.media import charset_of
from discern_server.upstream.styles import as_json, as_text, pairs

_ESCAPES: Final = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
"""What the HTML Standard escapes in names of parts and files; the rest goes out as UTF-8 (RFC 7578, section 5.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part.

    Attributes:
        name: The field.
        data: Its bytes.
        content_type: Its media type, or None to leave the header out (``text/plain`` by RFC 7578, section 4.4).
        filename: The file's name, or None where it is no file.
    """

    name: str
    data: bytes
    content_type: str | None = None
    filename: str | None = None


def parts_of(members: Mapping[str, Any], fields: Mapping[str, FieldEncoding], place: Place) -> list[Part]:
    """The parts for the members of an object; those that are null, and empty lists, have none.

    Raises:
        ArgumentError: A file among them cannot be read.
    """
    return [
        part for name, value in members.items() for part in _field_parts(name, value, fields.get(name), (*place, name))
    ]


def _field_parts(name: str, value: Any, field: FieldEncoding | None, place: Place) -> Iterator[Part]:
    if field is not None and field.style is not None:
        for key, text in pairs(name, value, field.style, field.explode, str, field.nested):
            yield Part(name=key, data=text.encode("utf-8"))
        return
    for item, item_place in items_of(value, place):
        yield _part(name, item, field or inferred(item), item_place)


def _part(name: str, value: Any, field: FieldEncoding, place: Place) -> Part:
    declared = field.content_types[0] if field.content_types else None
    if field.kind == "file":
        file = read_file(value, place)
        return Part(name=name, data=file.data, filename=file.filename or name, content_type=_file_type(file, declared))
    if field.kind == "json":
        return Part(name=name, data=as_json(value).encode("utf-8"), content_type=declared or "application/json")
    charset = charset_of(declared) if declared else None
    return Part(name=name, data=as_text(value).encode(charset or "utf-8"), content_type=declared)


def _file_type(file: FileContent, declared: str | None) -> str:
    return file.content_type or concrete(declared or OCTET_STREAM, file)


def assemble(parts: Sequence[Part]) -> tuple[str, bytes]:
    """The boundary and the body of `parts`."""
    written = [_head(part) + part.data for part in parts]
    boundary = _boundary(written)
    delimiter = b"--" + boundary.encode("ascii")
    return boundary, b"".join(delimiter + b"\r\n" + part + b"\r\n" for part in written) + delimiter + b"--\r\n"


def _head(part: Part) -> bytes:
    head = f'Content-Disposition: form-data; name="{part.name.translate(_ESCAPES)}"'
    if part.filename is not None:
        head += f'; filename="{part.filename.translate(_ESCAPES)}"'
    if part.content_type is not None:
        head += f"\r\nContent-Type: {part.content_type}"
    return (head + "\r\n\r\n").encode("utf-8")


def _boundary(written: Sequence[bytes]) -> str:
    """A boundary that no part holds (RFC 2046, section 5.1.1): a hash of them all, which none can know of itself."""
    digest = hashlib.sha256()
    for part in written:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:40]
