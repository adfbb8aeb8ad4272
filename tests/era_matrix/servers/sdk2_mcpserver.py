"""Python SDK 2.x: its MCPServer class on stdio."""

from mcp.server.mcpserver import MCPServer  # noqa: TID251 - the peer

server = MCPServer("sdk2-mcpserver")


@server.tool()
def now() -> str:
    """The time."""
    return "noon"


server.run()
