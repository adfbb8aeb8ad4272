"""Python SDK 1.x: its FastMCP class. Usage: [http PORT [stateless]]; stdio without arguments."""

import sys

from mcp.server.fastmcp import FastMCP

how = sys.argv[1:]
options = {"port": int(how[1]), "stateless_http": "stateless" in how} if how else {}
server = FastMCP("sdk1-fastmcp", **options)


@server.tool()
def now() -> str:
    """The time."""
    return "noon"


server.run("streamable-http" if how else "stdio")
