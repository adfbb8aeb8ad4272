"""Python SDK 2.x: the lowlevel server. Usage: [http PORT [json]]; stdio without arguments."""

import sys

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(
    name="now",
    description="The time",
    input_schema={"type": "object"},
    annotations=types.ToolAnnotations(read_only_hint=True),
)


async def list_tools(_context, _params):
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(_context, _params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="noon")])


server = Server("sdk2-lowlevel", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())  # legacy entry point: the peer


if len(sys.argv) > 1:
    import uvicorn

    app = server.streamable_http_app(json_response="json" in sys.argv)
    uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")  # legacy entry point: not one, but uvicorn
else:
    anyio.run(main)
