"""The headers of a request as RFC 9110 reads them, and bounds on them, before anything looks at them.

Servers differ in what they leave to the app: some bound neither the number nor the size of headers, some give white
space with the value, and all give a repeated header as often as it came. What looks at them later (the SDK, a token
verifier, a handler) takes the first line of a name, where a proxy before us may have taken the last.
"""

from __future__ import annotations

from typing import Final

from starlette.responses import Response
from starlette.types import Scope

MAX_HEADERS: Final = 256
"""The SDK's look at them takes time by the square of their number: 10,000 would hold up the process for seconds."""
MAX_HEADER_BYTES: Final = 64 << 10
"""Of all names and values: what the common servers take, the ones that have a bound."""

_ONCE: Final = (b"host", b"origin", b"content-type", b"authorization")
_LISTS: Final = b"accept"


def tidy(scope: Scope) -> Scope | Response:
    """`scope` with its headers tidied; or the refusal of a request whose headers cannot be meant.

    White space around a value is no part of it (RFC 9110 section 5.5). ``Accept`` may come in several lines, which are
    one list (5.3); ``Host`` and its like may not (RFC 9112 section 3.2). Repeated headers of MCP are for the SDK
    to refuse.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(len(name) + len(value) for name, value in headers) > MAX_HEADER_BYTES:
        message = f"A request has {MAX_HEADERS} headers at most, and {MAX_HEADER_BYTES} bytes of them"
        return Response(message, 431, {"Connection": "close"})
    headers = [(name, value.strip(b" \t")) for name, value in headers]
    names = [name for name, _ in headers]
    if len({*names}) < len(names):
        for name in _ONCE:
            if names.count(name) > 1:
                return Response(f"{name.decode('ascii')} header appears more than once", 400)
        accepted = [value for name, value in headers if name == _LISTS]
        if len(accepted) > 1:
            headers = [header for header in headers if header[0] != _LISTS]
            headers.append((_LISTS, b", ".join(accepted)))
    return {**scope, "headers": headers}
