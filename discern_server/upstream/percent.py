"""Percent-encoding (RFC 3986, section 2): pure functions from text to what stands in a URL.

Everything but unreserved characters is encoded, byte by byte of its UTF-8 form. With
``allow_reserved`` (RFC 6570, section 3.2.3, reserved expansion) reserved characters and existing
``%XX`` triplets stay too, less those that would end the place they stand in: an argument may
fill its place, never leave it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import quote, quote_plus, unquote_to_bytes

Encode: TypeAlias = Callable[[str], str]

_TRIPLET: Final = re.compile(r"(%[0-9A-Fa-f]{2})")

RESERVED_IN_PATH: Final = ":@!$&'()*+,;="
"""What ``allow_reserved`` keeps in a path segment: RFC 3986's reserved set less ``/``, ``?``, ``#`` (OpenAPI 3.2,
"Path Templating") and ``[``, ``]``, which no path may hold."""

RESERVED_IN_QUERY: Final = ":/?@!$'()*+,;="
"""What ``allow_reserved`` keeps in a query: RFC 3986's reserved set less ``#`` (it ends the query), ``&`` (it ends the
pair) and ``[``, ``]``, which no query may hold."""

RESERVED_IN_COOKIE: Final = ":/?#[]@!$&'()*+,="
"""What ``allow_reserved`` keeps in a cookie: RFC 3986's reserved set less ``;``, which ends the cookie."""

RESERVED_IN_FORM: Final = ":/?@!$'()*,;"
"""What ``allow_reserved`` keeps in a form: as in a query, less ``+``, which means a space there, and ``=``."""

_LITERAL: Final = ":/@!$&'()*+,;="


def encode(text: str) -> str:
    """Encode all but unreserved characters."""
    return quote(text, safe="")


def encode_form(text: str) -> str:
    """Encode as ``application/x-www-form-urlencoded`` does: a space is ``+``."""
    return quote_plus(text)


def keeping(reserved: str, *, plus: bool = False) -> Encode:
    """An encoder that keeps `reserved` and existing triplets; with `plus`, a space is ``+``."""
    encode_rest = quote_plus if plus else quote

    def encode_some(text: str) -> str:
        pieces = _TRIPLET.split(text)  # the triplets stand at odd places
        return "".join(piece if index % 2 else encode_rest(piece, safe=reserved) for index, piece in enumerate(pieces))

    return encode_some


def encode_literal(text: str) -> str:
    """Encode the literal text of a path template: what may stand in a path stays, triplets too."""
    return keeping(_LITERAL)(text)


def is_dot_segment(segment: str) -> bool:
    """Whether a path segment means "here" or "up", its dots encoded or not (RFC 3986, section 5.2.4)."""
    return unquote_to_bytes(segment) in (b".", b"..")
