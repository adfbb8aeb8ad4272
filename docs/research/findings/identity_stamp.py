"""A subclass that overrides the public property `server_info_stamp` decides the `serverInfo` of every result."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
from common.memory import connect, fresh
from common.messages import SERVER_KEY, call, request
from mcp.server.lowlevel import Server

STAMP = {"name": "stamped", "version": "2", "x-own": 1}


class Stamped(Server[Any]):
    """Overrides the identity that is stamped."""

    @property
    def server_info_stamp(self) -> dict[str, Any]:
        return dict(STAMP)


async def call_tool(*_args: Any) -> dict[str, Any]:
    return {"resultType": "complete", "content": []}


async def main() -> None:
    for kind in (Server, Stamped):
        build = partial(kind, "plain", version="1", on_call_tool=call_tool)
        async with connect(fresh(build)) as peer:
            for message in (call(1, "any"), request(2, "server/discover")):
                result = (await peer.ask(message))["result"]
                print(f"{kind.__name__}, {message['method']}: {result['_meta'][SERVER_KEY]}")


if __name__ == "__main__":
    anyio.run(main)
