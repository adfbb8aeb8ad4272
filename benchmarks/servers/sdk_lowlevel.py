"""The SDK's lowlevel server, run over stdio the way its documentation shows.

Usage: python sdk_lowlevel.py TOOLS_FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

TOOLS = [Tool.model_validate(tool) for tool in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]


async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
    return ListToolsResult(tools=TOOLS)


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    arguments = params.arguments or {}
    result = {"a": arguments["a"], "b": arguments["b"]}
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(result))], structured_content=result)


async def main() -> None:
    server = Server("bench", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())  # legacy entry point: the peer's own way


if __name__ == "__main__":
    anyio.run(main)
