"""A server run over stdio the way the SDK documents it: what the findings observe from outside."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool


async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="echo", input_schema={"type": "object"})])


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=str((params.arguments or {}).get("text")))])


async def main() -> None:
    server = Server("plain", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())  # legacy entry point: it is observed here


if __name__ == "__main__":
    anyio.run(main)
