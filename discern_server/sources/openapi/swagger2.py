"""The objects of Swagger 2.0, said in the words of OpenAPI 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from discern_server.sources.openapi.description import Body, Content, Encoding, Parameter, Response
from discern_server.sources.openapi.documents import DescriptionError, Place
from discern_server.sources.openapi.reader import METHODS, PathItem, Reader
from discern_server.upstream.binding import Location, Server, Style
from discern_server.upstream.media import is_json

_LOCATIONS: Final[Mapping[str, Location]] = {"path": "path", "query": "query", "header": "header"}
_COLLECTIONS: Final[Mapping[str, tuple[Style, bool]]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
"""``collectionFormat`` as style and explode (Parameter Object; the default is ``csv``)."""
_NOT_SCHEMA: Final = frozenset(
    {"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "schema", "x-example"}
)
"""What a parameter object holds beside the schema keywords."""
_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"


class Swagger2Reader(Reader):
    """Reads Swagger 2.0."""

    methods = METHODS[:-1]
    schemes_at = ("securityDefinitions",)

    def parameter(self, place: Place) -> Parameter | None:
        """A parameter that is no part of the body."""
        if place.text("in") in ("body", "formData"):
            return None
        name, location = self.name_and_location(place, _LOCATIONS, "path, query, header, formData or body")
        style, explode = self._style(place, location)
        return Parameter(
            place=place,
            name=name,
            location=location,
            required=location == "path" or place.flag("required", default=False),
            description=place.text("description"),
            deprecated=False,
            schema=_schema_of(place),
            style=style,
            explode=explode,
            nested=self._nested(place),
        )

    def _style(self, place: Place, location: Location) -> tuple[Style, bool]:
        """The style of a parameter; ``multi`` is for queries and forms alone."""
        style, explode = self._collection(place)
        if location == "query":
            return style, explode
        if explode:
            self.note(place, f"the collectionFormat 'multi' does not exist in {location}; csv is used")
        return ("simple" if style == "form" else style), False

    def _collection(self, place: Place) -> tuple[Style, bool]:
        name = place.text("collectionFormat") or "csv"
        if name not in _COLLECTIONS:
            self.note(place, f"the collectionFormat {name!r} does not exist; csv is used")
        return _COLLECTIONS.get(name, _COLLECTIONS["csv"])

    def _nested(self, place: Place) -> tuple[Style, ...]:
        """The styles of lists in the list at `place` (Items Object, ``collectionFormat``)."""
        styles: list[Style] = []
        while (items := place.get("items")) is not None and isinstance(items.value, Mapping):
            place = items
            if place.text("type") == "array":
                styles.append(self._collection(place)[0])
        return tuple(styles)

    # --- bodies ---------------------------------------------------------------------------------

    def body(self, operation: Place, parameters: list[Place], method: str) -> Body | None:
        """The ``body`` parameter, or the ``formData`` parameters together."""
        del method
        bodies = [place for place in parameters if place.text("in") == "body"]
        fields = [place for place in parameters if place.text("in") == "formData"]
        if len(bodies) > 1 or (bodies and fields):
            raise DescriptionError(operation, "an operation has one body parameter, or formData parameters, not both")
        if bodies:
            return self._body_parameter(bodies[0], operation)
        return self._form(fields, operation) if fields else None

    def _body_parameter(self, place: Place, operation: Place) -> Body:
        types = self._media_types("consumes", operation) or ["application/json"]
        schema = place.get("schema")
        return Body(
            place=place,
            required=place.flag("required", default=False),
            description=place.text("description"),
            contents=tuple(Content(media_type=media_type, schema=schema) for media_type in types),
        )

    def _form(self, fields: list[Place], operation: Place) -> Body:
        """One object with the formData parameters as its properties; ``type: file`` asks for multipart."""
        files = frozenset(_name(place) for place in fields if place.text("type") == "file")
        consumes = [name.lower() for name in self._media_types("consumes", operation)]
        multipart = bool(files) or (_MULTIPART in consumes and _FORM not in consumes)
        required = [_name(place) for place in fields if place.flag("required", default=False)]
        schema = {
            "type": "object",
            "properties": {_name(place): _property(place) for place in fields},
            "required": required,
            "additionalProperties": False,
        }
        if not required:
            del schema["required"]
        arrays = [place for place in fields if place.text("type") == "array"]
        return Body(
            place=fields[0],
            required=bool(required),
            description=None,
            contents=(
                Content(
                    media_type=_MULTIPART if multipart else _FORM,
                    schema=Place(schema, operation.uri, operation.pointer),
                    encoding={_name(place): self._encoding(place) for place in arrays},
                    files=files,
                ),
            ),
        )

    def _encoding(self, place: Place) -> Encoding:
        style, explode = self._collection(place)
        return Encoding(style=style, explode=explode, nested=self._nested(place))

    def _media_types(self, key: str, operation: Place) -> list[str]:
        """``consumes`` or ``produces``: the operation's, even where empty, goes before the document's."""
        holder = operation if operation.get(key) is not None else self.root
        return [item.value for item in holder.items(key) if isinstance(item.value, str)]

    # --- responses and servers ------------------------------------------------------------------

    def response(self, status: str, place: Place, operation: Place) -> Response:
        """One Response Object; its schema holds for each media type that the operation produces."""
        schema = place.get("schema")
        if schema is None:
            return Response(status=status)
        types = self._media_types("produces", operation) or ["application/json"]
        if isinstance(schema.value, Mapping) and schema.value.get("type") == "file":
            binary = [name for name in types if not is_json(name)] or ["application/octet-stream"]
            return Response(status=status, contents=tuple(Content(media_type=name) for name in binary))
        return Response(status=status, contents=tuple(Content(media_type=name, schema=schema) for name in types))

    def server(self, item: PathItem, operation: Place) -> Server | None:
        """Scheme, host and base path; https where the description leaves a choice."""
        del item
        published = self.choice.absolute("/")
        host = self.root.text("host")
        holder = operation if operation.get("schemes") is not None else self.root
        schemes = [scheme.value for scheme in holder.items("schemes")]
        base_path = (self.root.text("basePath") or "/").lstrip("/")
        if host is None and published is None:
            return None
        known = published.url.partition("://") if published is not None else ("https", "", "")
        if schemes and not {"https", "http"} & set(schemes):
            reason = f"the API is served by {', '.join(map(str, schemes))} alone, which cannot be called"
            raise DescriptionError(holder, reason, rule="openapi.server", fix="set base_url for this source")
        scheme = next((name for name in ("https", "http") if name in schemes), known[0])
        return self.choice.absolute(f"{scheme}://{host or known[2]}/{base_path}")


def _name(place: Place) -> str:
    name = place.text("name")
    if name is None:
        raise DescriptionError(place, "a parameter has to have a name")
    return name


def _schema_of(place: Place) -> Place:
    """A parameter's schema: the parameter object without what is no schema keyword."""
    schema = {key: value for key, value in place.object().items() if key not in _NOT_SCHEMA}
    return Place(schema, place.uri, place.pointer)


def _property(place: Place) -> dict[str, Any]:
    """A formData parameter as a property: its description belongs to the schema there."""
    schema: dict[str, Any] = dict(_schema_of(place).value)
    if schema.get("type") == "file":
        schema |= {"type": "string", "format": "binary"}
    if (description := place.text("description")) is not None:
        schema["description"] = description
    return schema
