"""Request bodies: which media type is offered, what its argument may be, and how it is written.

A tool has one argument for the body, and so one media type. JSON goes first, for it carries any JSON argument
without loss; but where a JSON schema asks for raw bytes, which JSON cannot carry, a form does.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from discern_server.sources.openapi.body_kinds import body_kind, is_anything, is_range
from discern_server.sources.openapi.description import Body, Content, Encoding
from discern_server.sources.openapi.documents import Place
from discern_server.sources.openapi.names import BODY
from discern_server.sources.openapi.schemas import FILE_SCHEMA, SchemaView, absolute
from discern_server.upstream.binding import BodyBinding, BodyKind, FieldEncoding, FieldKind
from discern_server.upstream.files import OCTET_STREAM
from discern_server.upstream.media import essence, is_json, is_text

_SCALAR: Final = frozenset({"string", "integer", "number", "boolean"})
"""The types whose values have one text (OpenAPI 3.1.1, appendix B)."""
_PREFERRED: Final[tuple[BodyKind, ...]] = ("json", "form", "multipart", "json_lines", "text", "binary")


class BodyDescriber:
    """Makes the argument and the binding of a body."""

    def __init__(self, view: SchemaView) -> None:
        self._view = view

    def describe(self, body: Body) -> tuple[Place, BodyBinding]:
        """The schema of the body argument, in the description's dialect, and its binding."""
        content = min(body.contents, key=self._rank)
        kind = self._kind(content)
        fields = self._fields(content) if kind in ("form", "multipart") else {}
        is_plain_json = kind == "json" and is_range(content.media_type)
        schema = Place(self._schema(content, kind, fields), body.place.uri, body.place.pointer)
        return schema, BodyBinding(
            argument=BODY,
            media_type="application/json" if is_plain_json else content.media_type,
            kind=kind,
            required=body.required,
            fields=MappingProxyType(fields),
        )

    def _rank(self, content: Content) -> tuple[bool, int, bool]:
        """Lower is better; the first of equals is taken."""
        kind = self._kind(content)
        carries = kind in ("multipart", "binary") or content.schema is None or not self._asks_for_bytes(content)
        return not carries, _PREFERRED.index(kind), essence(content.media_type) != "application/json"

    def _asks_for_bytes(self, content: Content) -> bool:
        if content.schema is None or not self._may_hold_files(content):
            return False
        return bool(content.files) or any(
            self._view.has_file(member) for member in self._view.properties(content.schema).values()
        )

    def _may_hold_files(self, content: Content) -> bool:
        return body_kind(content.media_type) in ("json", "form")

    def _kind(self, content: Content) -> BodyKind:
        """By media type; text and bytes are told apart by the schema where the type leaves it open."""
        kind = body_kind(content.media_type)
        types = self._view.types(content.schema) if content.schema is not None else set()
        raw = content.schema is not None and self._view.has_file(content.schema)
        if kind == "json_lines" and content.item_schema is None and "array" not in types:
            return "text"
        if kind == "json" and is_anything(content.media_type) and (raw or content.schema is None):
            return "binary"
        if kind == "text" and raw:
            return "binary"
        if kind == "binary" and types == {"string"} and not raw:
            return "text"
        return kind

    def _schema(self, content: Content, kind: BodyKind, fields: Mapping[str, FieldEncoding]) -> Any:
        if kind == "binary":
            return dict(FILE_SCHEMA)
        if kind == "text":
            return self._text_schema(content)
        if content.item_schema is not None and kind == "json_lines":
            return {"type": "array", "items": absolute(content.item_schema)}
        if content.schema is None:
            return {"type": "object"} if kind in ("form", "multipart") else {}
        files = {name for name, field in fields.items() if field.kind == "file"}
        return self._view.with_file_properties(content.schema, files)

    def _text_schema(self, content: Content) -> Any:
        """The schema, where it is one of text; what is structured otherwise (XML) is written by the caller."""
        types = self._view.types(content.schema) if content.schema is not None else set()
        is_plain = bool(types) and types <= _SCALAR and not essence(content.media_type).endswith("xml")
        if content.schema is not None and (is_plain or types == {"string"}):
            return absolute(content.schema)
        return {"type": "string", "description": f"The body, as {essence(content.media_type)} text."}

    # --- the properties of forms ----------------------------------------------------------------

    def _fields(self, content: Content) -> dict[str, FieldEncoding]:
        """What has to be known of a form's properties; one that is written by its value is left out."""
        members = self._view.properties(content.schema) if content.schema is not None else {}
        found = {
            name: self._field(content, name, members.get(name), content.encoding.get(name) or Encoding())
            for name in {**members, **content.encoding}
        }
        return {name: field for name, field in found.items() if field is not None}

    def _field(self, content: Content, name: str, member: Place | None, encoding: Encoding) -> FieldEncoding | None:
        """How one property is written; None for one that is written by its value."""
        kind = self._field_kind(content, name, encoding, is_file=member is not None and self._view.has_file(member))
        in_parts = body_kind(content.media_type) == "multipart"
        if encoding.content_types or encoding.style is not None:
            return FieldEncoding(
                kind=kind,
                content_types=encoding.content_types,
                style=encoding.style,
                explode=encoding.explode,
                allow_reserved=encoding.allow_reserved,
                whole=kind == "json" and encoding.whole,
                nested=encoding.nested,
            )
        if kind == "file":
            return FieldEncoding(kind="file")
        if in_parts and member is not None and self._view.is_base64(member):
            return FieldEncoding(kind="text", content_types=(OCTET_STREAM,))
        return None

    def _field_kind(self, content: Content, name: str, encoding: Encoding, *, is_file: bool) -> FieldKind:
        if body_kind(content.media_type) == "form":
            return "json" if _all_json(encoding) else "text"
        if name in content.files or is_file:
            return "file"
        if not encoding.content_types:
            return "text"
        if _all_json(encoding):
            return "json"
        return "text" if all(is_text(name) for name in encoding.content_types) else "file"


def _all_json(encoding: Encoding) -> bool:
    return bool(encoding.content_types) and all(is_json(name) for name in encoding.content_types)
