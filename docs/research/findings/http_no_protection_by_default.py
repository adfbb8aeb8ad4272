"""`security_settings=None` on the HTTP manager means that neither Host nor Origin is checked."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from common.http import modern_headers, post
from common.messages import request
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

SETTINGS = TransportSecuritySettings(allowed_hosts=["127.0.0.1:*"], allowed_origins=["http://127.0.0.1:*"])
STRANGERS: tuple[dict[str, str], ...] = ({"host": "evil.example"}, {"origin": "http://evil.example"}, {})


async def main() -> None:
    logging.disable()
    message = request(1, "server/discover")
    for name, settings in (("None", None), ("settings", SETTINGS)):
        manager = StreamableHTTPSessionManager(
            Server[Any]("research", version="1"), json_response=True, stateless=True, security_settings=settings
        )
        async with manager.run():
            for stranger in STRANGERS:
                answer = await post(manager.handle_request, message, modern_headers(message) | stranger)
                print(f"security_settings={name}, {stranger or 'a friend'}: {answer.status}")


if __name__ == "__main__":
    anyio.run(main)
