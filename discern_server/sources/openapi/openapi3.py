"""The objects of OpenAPI 3.0, 3.1 and 3.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from discern_server.schema.pointer import parse
from discern_server.sources.openapi.description import Body, Content, Encoding, Parameter, Response
from discern_server.sources.openapi.documents import DescriptionError, Place, shorten
from discern_server.sources.openapi.reader import METHODS, PathItem, Reader
from discern_server.sources.openapi.security import SchemeReader
from discern_server.sources.openapi.servers import pick
from discern_server.upstream.binding import Location, Server, Style
from discern_server.upstream.media import essence

_FORM: Final = "application/x-www-form-urlencoded"
_LOCATIONS: Final[Mapping[str, Location]] = {
    "path": "path", "query": "query", "header": "header", "cookie": "cookie", "querystring": "querystring",
}  # fmt: skip
_STYLES: Final[Mapping[Location, tuple[Style, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
    "querystring": ("form",),
}
"""The styles of each location, its default first (Parameter Object, "Style Values")."""


class OpenApi3Reader(Reader):
    """Reads OpenAPI 3."""

    @property
    def minor(self) -> int:
        """The 1 in 3.1."""
        return int(self.version.split(".")[1])

    @property
    def methods(self) -> tuple[str, ...]:  # type: ignore[override]
        """QUERY is 3.2's."""
        return (*METHODS, "query") if self.minor >= 2 else METHODS

    def _scheme_name(self, name: str, place: Place) -> str:
        """From 3.2 on, a requirement may name a scheme by its URI (Security Requirement Object)."""
        if name in self._schemes or self.minor < 2 or "/" not in name:
            return name
        try:
            target = self.documents.resolve(name, place)
            short = parse(target.pointer)[-1]
            if short not in self._schemes:
                self._schemes[short] = SchemeReader(self.documents, guarded=self.choice.guarded).read(short, target)
        except (DescriptionError, IndexError):
            return name
        return short

    # --- parameters -----------------------------------------------------------------------------

    def parameter(self, place: Place) -> Parameter | None:
        """One Parameter Object."""
        name, location = self.name_and_location(place, _LOCATIONS, "path, query, header or cookie")
        schema, content_type = self._schema_or_content(place)
        style = self._style(place, location)
        return Parameter(
            place=place,
            name=name,
            location=location,
            required=location == "path" or place.flag("required", default=False),
            description=place.text("description"),
            deprecated=place.flag("deprecated", default=False),
            schema=schema,
            style=style,
            explode=place.flag("explode", default=style in ("form", "cookie")) or style == "deepObject",
            allow_reserved=place.flag("allowReserved", default=False),
            content_type=content_type,
        )

    def _schema_or_content(self, place: Place) -> tuple[Place | None, str | None]:
        contents = place.mapping("content")
        for media_type, media in contents.items():
            if len(contents) > 1:
                self.note(place, f"a parameter has one content; {shorten(media_type)} is used")
            return self.documents.follow(media).get("schema"), media_type
        schema = place.get("schema")
        if schema is None:
            self.note(place, "the parameter has neither schema nor content; any value is taken for it")
        return schema, None

    def _style(self, place: Place, location: Location) -> Style:
        allowed = _STYLES[location]
        given = place.text("style")
        for style in allowed:
            if style == given:
                return style
        if given is not None:
            self.note(place, f"the style {given!r} does not exist in {location}; {allowed[0]!r} is used")
        return allowed[0]

    # --- bodies ---------------------------------------------------------------------------------

    def body(self, operation: Place, parameters: list[Place], method: str) -> Body | None:
        """The request body; see `_has_body` for where it is left out."""
        del parameters
        given = operation.get("requestBody")
        if given is None or not self._has_body(given, method):
            return None
        place = self.documents.follow(given)
        contents = tuple(self.content(media_type, media) for media_type, media in place.mapping("content").items())
        required = place.flag("required", default=False)
        if not contents:
            if required:
                raise DescriptionError(place, "a body is required, and the description gives no content for it")
            return None
        return Body(place=place, required=required, description=place.text("description"), contents=contents)

    def _has_body(self, place: Place, method: str) -> bool:
        """OpenAPI 3.0 has a body on GET and HEAD ignored (Operation Object, ``requestBody``); 3.1 permits it.

        The same sentence of 3.0 names DELETE. There the body is kept: descriptions that give one mean it, and
        without it the calls fail.
        """
        if self.minor > 0 or method not in ("GET", "HEAD"):
            return True
        if isinstance(place.value, Mapping) and place.value.get("required") is True:
            self.note(place, f"OpenAPI 3.0 has the body of {method} ignored")
        return False

    def content(self, media_type: str, place: Place) -> Content:
        """One Media Type Object."""
        place = self.documents.follow(place)
        kind = essence(media_type)
        form = kind == _FORM or kind.startswith("multipart/")
        encodings = place.mapping("encoding") if form else {}
        return Content(
            media_type=media_type,
            schema=place.get("schema"),
            item_schema=place.get("itemSchema"),
            encoding={name: self._encoding(encoding, kind) for name, encoding in encodings.items()},
        )

    def _encoding(self, place: Place, media_type: str) -> Encoding:
        """One Encoding Object.

        ``style`` and its like count in forms and, from 3.1 on, in ``multipart/form-data``. A ``contentType`` is
        that of each item of a list (3.2, "Encoding By Name"); in urlencoded forms before 3.2 it is the whole
        field's, which they have equal a parameter's ``content``.
        """
        styled = media_type == _FORM or (media_type == "multipart/form-data" and self.minor > 0)
        value: Mapping[str, Any] = place.object()
        if value.get("headers"):
            self.note(place, "headers of a part are not sent: the description gives no values for them")
        types = place.text("contentType") or ""
        content_types = tuple(part.strip() for part in types.split(",") if part.strip())
        style: Style | None = None
        if styled and not {"style", "explode", "allowReserved"}.isdisjoint(value):
            style = self._style(place, "query")
        return Encoding(
            content_types=content_types,
            style=style,
            explode=place.flag("explode", default=style in (None, "form")) or style == "deepObject",
            allow_reserved=place.flag("allowReserved", default=False),
            whole=media_type == _FORM and self.minor < 2,
        )

    # --- responses and servers ------------------------------------------------------------------

    def response(self, status: str, place: Place, operation: Place) -> Response:
        """One Response Object."""
        del operation
        contents = place.mapping("content")
        return Response(status=status, contents=tuple(self.content(name, media) for name, media in contents.items()))

    def server(self, item: PathItem, operation: Place) -> Server | None:
        """The operation's, else the path item's, else the description's, else where it was published."""
        levels = (operation.items("servers"), item.items("servers"), self.root.items("servers"))
        for servers in levels:
            self.server_variables.update(name for server in servers for name in server.mapping("variables"))
        for servers in levels:
            if servers:
                return pick(servers, self.choice)
        return self.choice.absolute("/")
