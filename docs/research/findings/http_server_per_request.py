"""The HTTP manager reads its `app` once for each request, so that a property there gives a fresh server for each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from common.http import modern_headers, post
from common.messages import LEGACY, call, initialize, legacy_request, outcome, request
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

SETTINGS = TransportSecuritySettings(allowed_hosts=["127.0.0.1:*"])


async def call_tool(*_args: Any) -> dict[str, Any]:
    return {"resultType": "complete", "content": []}


@asynccontextmanager
async def lifespan(_server: Server[Any]) -> AsyncIterator[str]:
    yield "state"


class Manager(StreamableHTTPSessionManager):
    """Builds a server whenever one is asked for."""

    def __init__(self, **options: Any) -> None:
        self.built = 0
        super().__init__(None, security_settings=SETTINGS, stateless=True, **options)  # type: ignore[arg-type]

    @property
    def app(self) -> Server[Any]:
        self.built += 1
        return Server("research", version="1", on_call_tool=call_tool, lifespan=lifespan)  # type: ignore[arg-type]

    @app.setter
    def app(self, _server: Server[Any]) -> None:
        """The base class sets it once."""


async def main() -> None:
    for json_response in (True, False):
        manager = Manager(json_response=json_response)
        async with manager.run():
            print(f"json_response={json_response}: {manager.built} servers built to start")
            for message in (request(1, "server/discover"), call(2, "any")):
                before = manager.built
                answer = await post(manager.handle_request, message, modern_headers(message))
                print(
                    f"  modern {message['method']}: {answer.status} {answer.headers['content-type']}, "
                    f"{outcome(answer.json)}, {manager.built - before} built"
                )
            for message, headers in (
                (initialize(3), {}),
                (legacy_request(4, "tools/call", name="any"), {"mcp-protocol-version": LEGACY}),
            ):
                before = manager.built
                answer = await post(manager.handle_request, message, headers)
                print(
                    f"  legacy {message['method']}: {answer.status} {answer.headers['content-type']}, "
                    f"{manager.built - before} built"
                )


if __name__ == "__main__":
    anyio.run(main)
