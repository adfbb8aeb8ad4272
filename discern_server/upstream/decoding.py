"""From an answer's bytes to text or a JSON value."""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any, Final

from discern_server.handler import ABSENT
from discern_server.upstream.answer import Answer
from discern_server.upstream.media import charset_of, essence, is_json, is_text

_DEEPEST: Final = 128
"""Nesting beyond this cannot be written by every JSON library on the way to the client."""

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_XML_ENCODING: Final = re.compile(rb"""\s*<\?xml[^>]{0,100}?\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_BOM: Final = "\ufeff"
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks; UTF-32's before UTF-16's, which it starts with."""


def text_of(answer: Answer) -> str | None:
    """The content as text, or None where it is binary.

    The charset is the one that the Content-Type names, else that of a byte order mark or an XML declaration, else
    UTF-8, else Windows-1252. Without a Content-Type, what is UTF-8 without NUL is text.
    """
    if not answer.content_type:
        return _as_utf8(answer) if b"\0" not in answer.body else None
    if not (is_json(answer.content_type) or is_text(answer.content_type)):
        return None
    charset = charset_of(answer.content_type) or _declared_charset(answer)
    if charset is not None:
        return answer.body.decode(charset, "replace").removeprefix(_BOM)
    text = _as_utf8(answer)
    return text if text is not None else answer.body.decode("cp1252", "replace")


def json_of(answer: Answer) -> Any:
    """The content as a JSON value, or `ABSENT` where it is none that can be handed on.

    Besides broken JSON that is: a number that is no finite double, and nesting deeper than `_DEEPEST`. Half of a
    surrogate pair, which UTF-8 cannot carry, becomes U+FFFD.
    """
    charset = charset_of(answer.content_type) or json.detect_encoding(answer.body)
    try:
        text = answer.body.decode(charset).removeprefix(_BOM)  # RFC 8259, section 8.1: a reader may ignore it
        value = json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return ABSENT
    if text.count("[") + text.count("{") > _DEEPEST and _is_too_deep(value):
        return ABSENT
    return _whole(value) if _SURROGATE.search(text) else value


def _as_utf8(answer: Answer) -> str | None:
    """The content as UTF-8, or None; an answer that was cut may end inside a character."""
    try:
        return answer.body.decode("utf-8")
    except UnicodeDecodeError as error:
        cut_inside_character = answer.cut and error.start >= len(answer.body) - 3
        return answer.body[: error.start].decode("utf-8") if cut_inside_character else None


def _declared_charset(answer: Answer) -> str | None:
    for mark, charset in _BOMS:
        if answer.body.startswith(mark):
            return charset
    if "xml" not in essence(answer.content_type):
        return None
    declared = _XML_ENCODING.match(answer.body)
    return charset_of(f"text/xml; charset={declared[1].decode('ascii')}") if declared else None


def _refuse_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _whole(value: Any) -> Any:
    """`value` with halves of surrogate pairs replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(member) for key, member in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
