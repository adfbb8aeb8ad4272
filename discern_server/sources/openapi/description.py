"""An API as its operations: what a description of any version says, read out and resolved.

These values know nothing of MCP. References to parameters, bodies, responses and path items have been
followed, defaults that the specification gives have been filled in, and what Swagger 2.0 says in its own
words is said in those of OpenAPI 3. Schemas are left as they stand, with the place they stand at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from discern_server.result import Diagnostic
from discern_server.sources.openapi.documents import Place
from discern_server.upstream.binding import Location, Security, SecurityScheme, Server, Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of an operation (Parameter Object).

    Attributes:
        place: Where it is described.
        name: Its name on the wire.
        location: Where it goes.
        required: Whether it must be given.
        description: What it is for.
        deprecated: Whether it should no longer be used.
        schema: What it may be, or None where the description does not say.
        style: How arrays and objects are written; the location's default is filled in.
        explode: Whether items and members are written separately; the style's default is filled in.
        allow_reserved: Whether reserved characters stay as they are.
        content_type: The media type of a parameter with ``content``.
        nested: The styles of lists inside the list, the outer ones first.
    """

    place: Place
    name: str
    location: Location
    required: bool
    description: str | None
    deprecated: bool
    schema: Place | None
    style: Style
    explode: bool
    allow_reserved: bool = False
    content_type: str | None = None
    nested: tuple[Style, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """What a media type says of one property of a form or multipart body (Encoding Object).

    Attributes:
        content_types: The media types of the part, in order; empty where not said.
        style: The style, where the description asks for serialisation by style.
        explode: As in `Parameter`.
        allow_reserved: As in `Parameter`.
        whole: Whether `content_types` are of the property as a whole; otherwise of each item where it is a list.
        nested: As in `Parameter`.
    """

    content_types: tuple[str, ...] = ()
    style: Style | None = None
    explode: bool = True
    allow_reserved: bool = False
    whole: bool = False
    nested: tuple[Style, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One media type of a body (Media Type Object).

    Attributes:
        media_type: The media type, or a range such as ``image/*``.
        schema: What the content may be, or None where the description does not say.
        item_schema: What each item of a sequential media type may be (3.2).
        encoding: By property.
        files: Properties that the description says are files, beyond what their schemas tell (Swagger 2.0's
            ``type: file``).
    """

    media_type: str
    schema: Place | None = None
    item_schema: Place | None = None
    encoding: Mapping[str, Encoding] = field(default_factory=lambda: MappingProxyType({}))
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The request body: its media types are alternatives."""

    place: Place
    required: bool
    description: str | None
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What one status, range of statuses or the default answers; no contents: no body is described."""

    status: str
    contents: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: a method on a path, whole.

    Attributes:
        place: Where it is described.
        method: The method, as it goes out.
        path: The path template.
        operation_id: Its ``operationId``, or None.
        summary: A short line, or None.
        description: What it does, or None.
        tags: In order.
        deprecated: Whether it should no longer be used.
        parameters: The path item's and its own, its own going first where they are the same.
        body: The request body, or None.
        responses: By status, in order.
        server: Where it is served, or None where nobody has said.
        security: What must be presented.
    """

    place: Place
    method: str
    path: str
    operation_id: str | None
    summary: str | None
    description: str | None
    tags: tuple[str, ...]
    deprecated: bool
    parameters: tuple[Parameter, ...]
    body: Body | None
    responses: tuple[Response, ...]
    server: Server | None
    security: Security

    @property
    def key(self) -> str:
        """What no other operation of the API has: ``GET /pets/{id}``."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An operation that cannot be described: which, and all that is wrong with it."""

    key: str
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """What one API description says.

    Attributes:
        version: The version of the specification it is written in, such as ``3.1.0``.
        title: The API's name.
        operations: Those that could be described, in the document's order.
        refusals: Those that could not.
        security_schemes: By name.
        findings: What is odd but costs no operation.
    """

    version: str
    title: str
    operations: tuple[Operation, ...]
    refusals: tuple[Refusal, ...]
    security_schemes: Mapping[str, SecurityScheme]
    findings: tuple[Diagnostic, ...]
