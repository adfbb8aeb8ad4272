"""JSON Pointer (RFC 6901): writing, reading and following."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Token: TypeAlias = str | int


def pointer(tokens: Iterable[Token]) -> str:
    """The pointer that names the place reached by `tokens`; empty for the whole document.

    A lone surrogate in a key is written as its escape, so that a pointer can always be printed.
    """
    return "".join("/" + _escape(token) for token in tokens)


def extend(start: str, *tokens: Token) -> str:
    """The pointer that leads `tokens` further than `start`."""
    for token in tokens:
        start = f"{start}/{_escape(token)}"
    return start


def parse(text: str) -> tuple[str, ...]:
    """The tokens of a pointer, unescaped.

    Raises:
        ValueError: `text` is neither empty nor starts with a slash.
    """
    if not text:
        return ()
    if not text.startswith("/"):
        raise ValueError(f"a JSON Pointer is empty or starts with '/': {text!r}")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))


def resolve(document: Any, tokens: Iterable[Token]) -> Any:
    """The value at `tokens` in `document`, frozen or plain.

    Raises:
        LookupError: there is nothing at that place.
    """
    value = document
    for token in tokens:
        if isinstance(value, Mapping):
            value = value[str(token)]
        elif isinstance(value, Sequence) and not isinstance(value, str) and _is_index(token):
            value = value[int(token)]
        else:
            raise LookupError(token)
    return value


def _is_index(token: Token) -> bool:
    # RFC 6901 section 4: no leading zeros, no sign; Python's own int() is more generous.
    text = str(token)
    return text.isascii() and text.isdecimal() and (text == "0" or not text.startswith("0"))


def _escape(token: Token) -> str:
    text = str(token)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
