"""`tools/list` through a handler is sieved by the SDK's models; through a middleware that answers it is not."""

from __future__ import annotations

import json
from typing import Any

import anyio
from common.memory import connect, fresh
from common.messages import MODERN, SERVER_KEY, compact, request
from mcp.server.lowlevel import Server
from mcp_types import ListToolsResult, Tool
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

SOURCE = json.loads("""
{
  "name": "t",
  "x-own": 1,
  "inputSchema": {
    "required": ["b"],
    "properties": {"b": {"default": null, "maximum": 1.0, "x-own": null}, "a": {"const": 123456789012345678901}},
    "type": "object",
    "$schema": "https://json-schema.org/draft/2020-12/schema"
  },
  "annotations": {"x-own": true, "readOnlyHint": true},
  "_meta": {"own": null, "other": 1}
}
""")
PAGE: dict[str, Any] = {"resultType": "complete", "tools": [SOURCE], "ttlMs": 0, "cacheScope": "private"}


def sieved(result: Any) -> Server[Any]:
    async def list_tools(*_args: Any) -> Any:
        return result

    return Server("research", version="1", on_list_tools=list_tools)


def short_circuited() -> Server[Any]:
    async def answer(ctx: Any, call_next: Any) -> dict[str, Any]:  # noqa: ARG001 - the names are the contract
        return dict(PAGE)

    server = sieved(None)
    server.middleware.append(answer)
    return server


async def listed(server: Server[Any]) -> tuple[Any, bool]:
    async with connect(fresh(lambda: server)) as peer:
        result = (await peer.ask(request(1, "tools/list")))["result"]
    return result["tools"][0], SERVER_KEY in result.get("_meta", {})


async def main() -> None:
    print(f"source         {compact(SOURCE)}")
    model = ListToolsResult(tools=[Tool.model_validate(SOURCE)])
    for name, server in (
        ("handler, model", sieved(model)),
        ("handler, dict", sieved(PAGE)),
        ("short circuit", short_circuited()),
    ):
        tool, stamped = await listed(server)
        print(f"{name:<14} {compact(tool)}")
        print(f"{'':<14} equal to the source: {compact(tool) == compact(SOURCE)}; serverInfo stamped: {stamped}")
    validate_server_result("tools/list", MODERN, PAGE)
    try:
        validate_server_result("tools/list", MODERN, {**PAGE, "tools": [{"name": "t"}]})
    except ValidationError as error:
        print(
            f"validate_server_result passes the page, and refuses one without inputSchema: {error.errors()[0]['loc']}"
        )


if __name__ == "__main__":
    anyio.run(main)
