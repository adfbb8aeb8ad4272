"""A server as the SDK's tutorial has it."""

from mcp.server.mcpserver import MCPServer  # noqa: TID251 - what the guide probes

server = MCPServer("weather")


@server.tool()
def forecast(city: str) -> str:
    """The forecast for a city."""
    return f"rain in {city}"


if __name__ == "__main__":
    server.run()
