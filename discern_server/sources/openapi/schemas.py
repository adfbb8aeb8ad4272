"""Schemas of a description: looked into for what serialisation needs to know, and taken out of their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from discern_server.schema.errors import UnresolvableError
from discern_server.schema.references import join
from discern_server.sources.openapi.documents import DescriptionError, Documents, Place

_MAX_DEPTH: Final = 16
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA: Final = frozenset({"default", "enum", "const", "example", "examples", "discriminator", "xml", "externalDocs"})
_COMBINED: Final = ("allOf", "anyOf", "oneOf")

FILE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "base64": {"type": "string", "contentEncoding": "base64", "description": "The content, as base64."},
        "text": {"type": "string", "description": "The content, where it is text."},
        "filename": {"type": "string"},
        "content_type": {
            "type": "string",
            "pattern": "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+( *;.*)?$",
            "description": "Its media type, such as image/png.",
        },
    },
    "oneOf": [{"required": ["base64"]}, {"required": ["text"]}],
    "additionalProperties": False,
}
"""What an argument for file content has to be; see `FILE_ARGUMENT` in `discern_server.upstream.binding`."""


def absolute(place: Place) -> Any:
    """The schema at `place`, its references made absolute, so that it means the same wherever it is put.

    Raises:
        DescriptionError: It is nested too deeply.
    """
    try:
        return _absolute(place.value, place.uri)
    except RecursionError as error:
        raise DescriptionError(place, "the schema is nested too deeply", rule="openapi.schema") from error


def _absolute(schema: Any, base: str) -> Any:
    if not isinstance(schema, Mapping) or "$id" in schema:
        return schema
    return {key: _absolute_member(key, value, base) for key, value in schema.items()}


def _absolute_member(key: str, value: Any, base: str) -> Any:
    if key in ("$ref", "$dynamicRef") and isinstance(value, str):
        try:
            return join(base, value)
        except UnresolvableError:
            return value  # it is told of where it is followed
    if isinstance(value, str | int | float) or value is None or key in _DATA:
        return value
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _absolute(member, base) for name, member in value.items()}
    if isinstance(value, list):
        return [_absolute(item, base) for item in value]
    return _absolute(value, base)


def _content_encoding(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("contentEncoding"), str)


_CONTENT_ENCODING: Final = _content_encoding
_BASE64: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "2.0": lambda _schema: False,
    "3.0": lambda schema: schema.get("format") == "byte",
}
"""By version, which schemas have ``application/octet-stream`` as a part's default type though they are text (3.0.4
and 3.1.1, Encoding Object, ``contentType``); from 3.1 on those with ``contentEncoding``."""


class SchemaView:
    """Looks into schemas, through references and ``allOf``, ``anyOf``, ``oneOf``."""

    def __init__(self, documents: Documents, version: str) -> None:
        """`version`: that of the description; it decides what a part without type and one in Base64 is."""
        self._documents = documents
        self._untyped_is_file = version.startswith(("3.1", "3.2"))
        self._base64 = _BASE64.get(version[:3], _CONTENT_ENCODING)

    def properties(self, place: Place) -> dict[str, Place]:
        """The properties that an object schema tells of, by name."""
        found: dict[str, Place] = {}
        for part in self._parts(place):
            members = part.get("properties")
            if members is not None and isinstance(members.value, Mapping):
                for name in members.value:
                    found.setdefault(name, members[name])
        return found

    def types(self, place: Place) -> set[str]:
        """The types that the schema names, in itself and the schemas it is combined of."""
        found: set[str] = set()
        for part in self._parts(place):
            declared = part.value.get("type")
            if isinstance(declared, str):
                found.add(declared)
            elif isinstance(declared, list):
                found.update(name for name in declared if isinstance(name, str))
            elif "properties" in part.value:
                found.add("object")
        return found - {"null"}

    def has_file(self, place: Place) -> bool:
        """Whether the schema, or its items, asks for raw bytes."""
        if any(is_binary(part.value) for part in self._parts(place, and_items=True)):
            return True
        return self._untyped_is_file and (self._is_untyped(place) or self._has_untyped_items(place))

    def is_base64(self, place: Place) -> bool:
        """Whether the schema, or its items, is text that stands for bytes, which goes out as that text."""
        return any(self._base64(part.value) for part in self._parts(place, and_items=True))

    def _has_untyped_items(self, place: Place) -> bool:
        items = self._documents.follow(place).get("items")
        return items is not None and self._is_untyped(items)

    def _is_untyped(self, place: Place) -> bool:
        """Whether nothing at all is said of what the value is."""
        telling = {"type", "enum", "const", "properties", "items", "$ref", *_COMBINED, "contentEncoding"}
        value = self._documents.follow(place).value
        return value is True or (isinstance(value, Mapping) and telling.isdisjoint(value))

    def with_files(self, place: Place) -> dict[str, Any]:
        """The schema with every raw string in it, and in its items, replaced by `FILE_SCHEMA`; references absolute."""
        return self._with_files(place, 0)

    def _with_files(self, place: Place, depth: int) -> dict[str, Any]:
        place = self._documents.follow(place)
        value = place.value
        if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
            return dict(FILE_SCHEMA)
        if is_binary(value) or (self._untyped_is_file and self._is_untyped(place)):
            kept = {key: value[key] for key in ("title", "description") if key in value}
            return {**kept, **FILE_SCHEMA}
        result: dict[str, Any] = absolute(place)
        if value.get("items") is not None and self.has_file(place["items"]):
            result["items"] = self._with_files(place["items"], depth + 1)
        for key in _COMBINED:
            if isinstance(value.get(key), list):
                result[key] = [self._replaced(place[key][index], depth) for index in range(len(value[key]))]
        return result

    def _replaced(self, place: Place, depth: int) -> Any:
        return self._with_files(place, depth + 1) if self.has_file(place) else absolute(place)

    def with_file_properties(self, place: Place, files: set[str]) -> Any:
        """An object schema with the properties named in `files` taking files; references absolute."""
        if not files:
            return absolute(place)
        return self._with_file_properties(place, files, 0)

    def _with_file_properties(self, place: Place, files: set[str], depth: int) -> Any:
        place = self._documents.follow(place)
        if not isinstance(place.value, Mapping) or depth > _MAX_DEPTH:
            return absolute(place)
        result = absolute(place)
        members = place.get("properties")
        if members is not None and isinstance(members.value, Mapping):
            for name in files & members.value.keys():
                result["properties"][name] = self._with_files(members[name], 0)
        for key in _COMBINED:
            parts = place.get(key)
            if parts is not None and isinstance(parts.value, list):
                result[key] = [
                    self._with_file_properties(parts[index], files, depth + 1) for index in range(len(parts.value))
                ]
        return result

    def _parts(self, place: Place, *, and_items: bool = False) -> Iterator[Place]:
        """The schema itself and what it is combined of, and its ``items`` if asked for; references followed.

        Each place comes once, for schemas may refer back to themselves.
        """
        seen: set[tuple[str, str]] = set()
        pending = [place]
        while pending:
            try:
                part = self._documents.follow(pending.pop())
            except DescriptionError:
                continue
            if not isinstance(part.value, Mapping) or (part.uri, part.pointer) in seen:
                continue
            seen.add((part.uri, part.pointer))
            yield part
            if and_items and isinstance(part.value.get("items"), Mapping):
                pending.append(part["items"])
            for key in _COMBINED:
                members = part.get(key)
                if members is not None and isinstance(members.value, list):
                    pending += [members[index] for index in range(len(members.value))]


def is_binary(schema: Mapping[str, Any]) -> bool:
    """Whether a schema is that of raw bytes: ``format: binary``, or a media type that is not text (3.1, 3.2)."""
    if schema.get("format") == "binary" or schema.get("type") == "file":
        return True
    media_type = schema.get("contentMediaType")
    return (
        isinstance(media_type, str)
        and "contentEncoding" not in schema
        and not media_type.startswith("text/")
        and "json" not in media_type
        and "xml" not in media_type
    )
