"""How a tool call becomes an HTTP request: where each argument goes and how it is written there.

A source makes these values once, when it reads an API description; `upstream` carries them out on
every call. They hold what is needed to build a request and to read its answer, already resolved:
no references, no defaults left to work out, nothing of the description's own version. Names follow
the OpenAPI Specification 3.2 (Parameter, Encoding, Security Scheme and Responses Objects).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

Location: TypeAlias = Literal["path", "query", "header", "cookie", "querystring"]
"""Where a parameter goes. ``querystring`` (3.2) is the whole query, written in its `content_type`."""

Style: TypeAlias = Literal[
    "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject", "cookie"
]
"""The Parameter Object's styles. ``tabDelimited`` is Swagger 2.0's ``collectionFormat: tsv``; ``cookie``
(3.2) is ``form`` without percent-encoding, its pairs joined by ``"; "``."""

BodyKind: TypeAlias = Literal["json", "json_lines", "form", "multipart", "text", "binary"]
"""How the body argument is written.

``json`` as JSON text; ``json_lines`` an array, one JSON text a line; ``form`` as
``application/x-www-form-urlencoded``; ``multipart`` as parts by `FieldEncoding`; ``text`` a string as it
stands (XML too); ``binary`` a `file argument <FILE_ARGUMENT>`.
"""

FieldKind: TypeAlias = Literal["text", "json", "file"]
"""How one value of a form or multipart body is written: ``text`` a scalar without quotes, ``json`` as JSON
text, ``file`` a file argument. An array is written item by item, each item in this way, unless it is `whole`."""

FILE_ARGUMENT: tuple[str, str, str, str] = ("base64", "text", "filename", "content_type")
"""The members of a file argument, the object that stands for file content in a tool's arguments:
exactly one of ``base64`` (the bytes) and ``text`` (sent as UTF-8), and optionally ``filename`` and ``content_type``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterBinding:
    """One parameter: which argument it takes and how the value is serialised.

    Attributes:
        argument: The tool's property.
        name: The parameter's name on the wire.
        location: Where it goes.
        style: How arrays and objects are written; without meaning where `content_type` is set.
        explode: Whether each item or member is written separately.
        allow_reserved: Whether characters reserved by RFC 3986 stay as they are.
        content_type: Set where the parameter has ``content``: the value is written in this media type
            (JSON types as JSON text, others as text), then percent-encoded as its location asks.
        required: Whether the argument must be there.
        nested: The styles of lists inside the list, the outer ones first (Swagger 2.0).
    """

    argument: str
    name: str
    location: Location
    style: Style = "form"
    explode: bool = False
    allow_reserved: bool = False
    content_type: str | None = None
    required: bool = False
    nested: tuple[Style, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEncoding:
    """How one property of a form or multipart body is written (Encoding Object).

    Attributes:
        kind: How a value is written.
        content_types: The part's media types as declared, the default first; a file argument's own
            ``content_type`` goes before them. Empty: by kind (``text/plain``, ``application/json``,
            ``application/octet-stream``).
        style: Set where the description asks for serialisation by style (Encoding Object, ``style``,
            ``explode`` or ``allowReserved`` given, or Swagger 2.0's ``collectionFormat``): then the value is
            written as a query parameter of this name would be.
        explode: As in `ParameterBinding`.
        allow_reserved: As in `ParameterBinding`.
        whole: Whether a list is one value of this kind; otherwise each of its items is.
        nested: As in `ParameterBinding`.
    """

    kind: FieldKind
    content_types: tuple[str, ...] = ()
    style: Style | None = None
    explode: bool = True
    allow_reserved: bool = False
    whole: bool = False
    nested: tuple[Style, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyBinding:
    """The request body: one argument, one media type.

    Attributes:
        argument: The tool's property that holds the body.
        media_type: The Content-Type to send, parameters included as the description has them. A range such
            as ``image/*`` is replaced by the file argument's ``content_type`` or, without one,
            ``application/octet-stream``.
        kind: How the argument is written.
        required: Whether the argument must be there; without it no body is sent.
        fields: For ``form`` and ``multipart``: the properties that the description tells about, by name.
            A property not in here is written by its value: text for a string, number or boolean, JSON
            for an object.
    """

    argument: str
    media_type: str
    kind: BodyKind
    required: bool = False
    fields: Mapping[str, FieldEncoding] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseBinding:
    """What the description says of one response.

    Attributes:
        status: ``200``, a range ``2XX``, or ``default``.
        media_types: The media types it may have, in the description's order; empty: no body is described.
    """

    status: str
    media_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthFlow:
    """One flow of an OAuth2 scheme; only ``clientCredentials`` can be carried out without a person."""

    kind: Literal["implicit", "password", "clientCredentials", "authorizationCode", "deviceAuthorization"]
    token_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityScheme:
    """One security scheme (Security Scheme Object), by the name that requirements use.

    Attributes:
        name: The name in the description, and in the configuration of credentials.
        kind: Its type. Swagger 2.0's ``basic`` is ``http`` with `scheme` ``basic``.
        location: For ``apiKey``: where the key goes.
        parameter: For ``apiKey``: the name of the header, query parameter or cookie.
        scheme: For ``http``: the authentication scheme in lower case (``basic``, ``bearer``, ...).
        flows: For ``oauth2``.
        guarded: True where a description fetched from the network names the token address: it is then
            refused if it leads to a private one.
    """

    name: str
    kind: Literal["apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"]
    location: Literal["header", "query", "cookie"] | None = None
    parameter: str | None = None
    scheme: str | None = None
    flows: tuple[OAuthFlow, ...] = ()
    guarded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeUse:
    """A scheme that a requirement asks for, with the scopes it needs."""

    name: str
    scopes: tuple[str, ...] = ()


Security: TypeAlias = tuple[tuple[SchemeUse, ...], ...]
"""Alternatives, in the description's order; each is a set of schemes that must be there together.

``()`` is "no security"; an empty alternative ``((), ...)`` means that a call without credentials is allowed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where an operation is served.

    Attributes:
        url: Absolute, variables replaced, without a slash at its end: the path template is appended.
        guarded: True where a description fetched from the network named it: it is then refused if it
            leads to a private, loopback or link-local address. False where the user named it, or the
            description is the user's own file.
    """

    url: str
    guarded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBinding:
    """One tool's HTTP request, and what is said of its answers.

    Attributes:
        method: The HTTP method as it goes out.
        path: The path template, beginning with a slash: ``/pets/{petId}``.
        server: Where it goes, or None where nobody has said (a description in a file with relative
            servers only, and no ``base_url``): a call then fails with that reason.
        parameters: In the description's order.
        body: The request body, or None.
        security: What must be presented.
        responses: By status, in the description's order.
        structured: Whether the tool has an ``outputSchema``, so that a success must carry ``structuredContent``.
    """

    method: str
    path: str
    server: Server | None
    parameters: tuple[ParameterBinding, ...] = ()
    body: BodyBinding | None = None
    security: Security = ()
    responses: tuple[ResponseBinding, ...] = ()
    structured: bool = False
