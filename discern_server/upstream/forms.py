"""``application/x-www-form-urlencoded``: bodies, and the whole query of a ``querystring`` parameter.

Encoded as the URL Standard's serializer does (a space is ``+``). A field with a style is written as a query
parameter of that style; any other by its kind (OpenAPI 3.2, "Encoding the x-www-form-urlencoded Media Type").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_from_bytes

from discern_server.upstream.binding import FieldEncoding, FieldKind
from discern_server.upstream.files import is_file, read_file
from discern_server.upstream.findings import Place
from discern_server.upstream.percent import RESERVED_IN_FORM, encode_form, keeping
from discern_server.upstream.styles import as_json, as_text, pairs

_KEEPING_RESERVED: Final = keeping(RESERVED_IN_FORM, plus=True)


def write_form(members: Mapping[str, Any], fields: Mapping[str, FieldEncoding], place: Place) -> bytes:
    """The members of an object as a form; those that are null, and empty lists, are left out.

    Raises:
        ArgumentError: A file among them cannot be read.
    """
    written = [
        pair for name, value in members.items() for pair in _field_pairs(name, value, fields.get(name), (*place, name))
    ]
    return "&".join(f"{name}={text}" for name, text in written).encode("ascii")


def _field_pairs(name: str, value: Any, field: FieldEncoding | None, place: Place) -> Iterator[tuple[str, str]]:
    if field is not None and field.style is not None:
        encode = _KEEPING_RESERVED if field.allow_reserved else encode_form
        yield from pairs(name, value, field.style, field.explode, encode, field.nested)
        return
    items = [(value, place)] if field is not None and field.whole and value is not None else items_of(value, place)
    for item, item_place in items:
        yield encode_form(name), _field_text(item, (field or inferred(item)).kind, item_place)


def _field_text(value: Any, kind: FieldKind, place: Place) -> str:
    if kind == "file":
        return quote_from_bytes(read_file(value, place).data, safe="")
    return encode_form(as_json(value) if kind == "json" else as_text(value))


def items_of(value: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    """The values that a field is written for, one by one: a list's items that are not null, or the value itself."""
    items = enumerate(value) if isinstance(value, list) else [(None, value)]
    for index, item in items:
        if item is not None:
            yield item, place if index is None else (*place, index)


def inferred(value: Any) -> FieldEncoding:
    """How a value is written, the item of a list by itself, where the description does not tell about the field."""
    if is_file(value):
        return FieldEncoding(kind="file")
    return FieldEncoding(kind="json" if isinstance(value, Mapping | list) else "text")
