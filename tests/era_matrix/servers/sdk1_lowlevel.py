"""Python SDK 1.x: the lowlevel server over its own stdio loop."""

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("sdk1-lowlevel", version="1")


@server.list_tools()
async def list_tools():
    return [types.Tool(name="now", description="The time", inputSchema={"type": "object"})]


@server.call_tool()
async def call_tool(_name, _arguments):
    return [types.TextContent(type="text", text="noon")]


async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())  # legacy entry point: the peer


anyio.run(main)
