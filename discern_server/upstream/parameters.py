"""One parameter, written for its place: path, query, header or cookie.

An argument fills its place and never leaves it: a slash in a path stays inside its segment, a line break never
reaches a header, a semicolon never starts another cookie. What cannot be written so is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from discern_server.handler import ABSENT
from discern_server.upstream.binding import ParameterBinding
from discern_server.upstream.findings import ArgumentError
from discern_server.upstream.forms import write_form
from discern_server.upstream.media import essence, is_json
from discern_server.upstream.percent import (
    RESERVED_IN_COOKIE,
    RESERVED_IN_PATH,
    RESERVED_IN_QUERY,
    Encode,
    encode,
    keeping,
)
from discern_server.upstream.styles import as_json, as_text, pairs, segment

IGNORED_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters of these names are ignored (OpenAPI 3.2, Parameter Object, ``name``)."""

FRAMING_HEADERS: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Fields that frame the message or belong to the connection (RFC 9110, sections 7.6.1 and 8.6): no argument, and no
inbound request, decides about them."""

_PATH_RESERVED: Final = keeping(RESERVED_IN_PATH)
_QUERY_RESERVED: Final = keeping(RESERVED_IN_QUERY)
_COOKIE_RESERVED: Final = keeping(RESERVED_IN_COOKIE)

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NOT_IN_FIELD: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
NOT_IN_COOKIE: Final = re.compile(r"[\x00-\x20\x7f\";\\]|[^\x00-\x7f]")
"""What no cookie value holds (RFC 6265, section 4.1.1), less the comma, which joins lists."""

_SEPARATOR: Final = re.compile(r"[/\\]")


def path_text(parameter: ParameterBinding, value: Any) -> str:
    """What takes the place of the template expression.

    Raises:
        ArgumentError: Nothing would stand there, so that another path would be called; or the value holds control
            characters, or ``.`` or ``..`` as a segment.
    """
    place = (parameter.argument,)
    for text in _texts(value):
        if parameter.allow_reserved:
            text = unquote(text)  # a triplet goes out as it is, so what it stands for counts
        if _CONTROL.search(text):
            raise ArgumentError("control_character", place, "a path cannot hold line breaks and control characters")
        if any(part in (".", "..") for part in _SEPARATOR.split(text)):
            raise ArgumentError("dot_segment", place, f"{text[:80]!r} would lead to another path of the API")
    encoder = _PATH_RESERVED if parameter.allow_reserved else encode
    if _is_undefined(parameter, value):
        written: str | None = None
    elif parameter.content_type is not None:
        written = encoder(_content(value, parameter.content_type))
    else:
        written = segment(parameter.name, value, parameter.style, parameter.explode, encoder, parameter.nested)
    if not written:
        raise ArgumentError("empty_path", place, "an empty value would call another path of the API")
    return written


def query_pieces(parameter: ParameterBinding, value: Any) -> list[str]:
    """The pieces of the query, to be joined by ``&``; none where the value is undefined."""
    encoder = _QUERY_RESERVED if parameter.allow_reserved else encode
    return [f"{name}={text}" for name, text in _pairs(parameter, value, encoder)]


def querystring_pieces(parameter: ParameterBinding, value: Any) -> list[str]:
    """The whole query as one value in its media type (OpenAPI 3.2, ``in: querystring``)."""
    if _is_undefined(parameter, value):
        return []
    content_type = parameter.content_type or "application/x-www-form-urlencoded"
    if essence(content_type) == "application/x-www-form-urlencoded" and isinstance(value, Mapping):
        written = write_form(value, {}, (parameter.argument,)).decode("ascii")
        return [written] if written else []
    return [encode(_content(value, content_type))]


def header_text(parameter: ParameterBinding, value: Any) -> str | None:
    """The field's value, which is not percent-encoded (OpenAPI 3.2, appendix D); None where it is undefined.

    Raises:
        ArgumentError: It cannot be a field value (RFC 9110, section 5.5), or no argument may set the field.
    """
    if _is_undefined(parameter, value):
        return None
    place = (parameter.argument,)
    if parameter.name.lower() in FRAMING_HEADERS:
        raise ArgumentError("header", place, f"{parameter.name} belongs to the connection and cannot be set")
    if parameter.content_type is not None:
        text: str | None = _content(value, parameter.content_type, ascii_only=True)
    else:
        text = segment(parameter.name, value, parameter.style, parameter.explode, str, parameter.nested)
    if text is not None and _NOT_IN_FIELD.search(text):
        fix = "leave out line breaks and control characters"
        raise ArgumentError("control_character", place, "a header cannot hold this value", fix)
    if text is not None and text != text.strip(" \t"):
        raise ArgumentError("header", place, "a header's value cannot begin or end with white space")
    return text


def cookie_pieces(parameter: ParameterBinding, value: Any) -> list[str]:
    """The cookies, to be joined by ``"; "`` (RFC 6265, section 4.2.1); none where the value is undefined.

    Raises:
        ArgumentError: Style ``cookie``, which encodes nothing, with a value that needs it.
    """
    encoder: Encode = _COOKIE_RESERVED if parameter.allow_reserved else encode
    if parameter.style == "cookie" and parameter.content_type is None:
        encoder = str
    written = _pairs(parameter, value, encoder)
    if encoder is str and any(NOT_IN_COOKIE.search(text) for pair in written for text in pair):
        fix = "give the value already escaped, as the API expects it"
        raise ArgumentError("cookie", (parameter.argument,), "a cookie cannot hold this value as it is", fix)
    return [f"{name}={text}" for name, text in written]


def _pairs(parameter: ParameterBinding, value: Any, encoder: Encode) -> list[tuple[str, str]]:
    if _is_undefined(parameter, value):
        return []
    if parameter.content_type is not None:
        return [(encode(parameter.name), encoder(_content(value, parameter.content_type)))]
    return pairs(parameter.name, value, parameter.style, parameter.explode, encoder, parameter.nested)


def _is_undefined(parameter: ParameterBinding, value: Any) -> bool:
    """Whether nothing is to be written: null is undefined (RFC 6570, section 2.3), except where JSON is written."""
    writes_json = parameter.content_type is not None and is_json(parameter.content_type)
    return value is ABSENT or (value is None and not writes_json)


def _content(value: Any, content_type: str, *, ascii_only: bool = False) -> str:
    """A value of a parameter with ``content``: JSON types as JSON text, a string as JSON string too."""
    return as_json(value, ascii_only=ascii_only) if is_json(content_type) else as_text(value)


def _texts(value: Any) -> list[str]:
    """Every text in a value, names too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, member in value.items() for text in (key, *_texts(member))]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
