"""One HTTP request to an ASGI app, without a socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from common.messages import MODERN

PORT = 8000


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def modern_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The routing headers that belong to a request of the modern era."""
    headers = {"mcp-protocol-version": MODERN, "mcp-method": message["method"]}
    name = message["params"].get("name")
    return headers | ({"mcp-name": name} if name else {})


async def post(app: Any, message: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """POST one message; ``host`` and what MCP asks of every client is set unless `headers` says otherwise."""
    whole = {
        "host": f"127.0.0.1:{PORT}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in whole.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", PORT),
    }
    incoming = [{"type": "http.request", "body": json.dumps(message).encode("utf-8"), "more_body": False}]
    outgoing: list[Any] = []

    async def receive() -> Any:
        if not incoming:
            await anyio.sleep_forever()
        return incoming.pop()

    async def send(event: Any) -> None:
        outgoing.append(event)

    await app(scope, receive, send)
    start = outgoing[0]
    headers_back = {name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]}
    body = b"".join(event.get("body", b"") for event in outgoing[1:])
    return Response(start["status"], headers_back, body)
