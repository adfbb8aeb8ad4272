"""fastmcp 2, 3 and 4. Usage: [http PORT [stateless]]; stdio without arguments."""

import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool
def now() -> str:
    """The time."""
    return "noon"


how = sys.argv[1:]
if how:
    import uvicorn

    uvicorn.run(server.http_app(stateless_http="stateless" in how), port=int(how[1]), log_level="warning")
else:
    server.run(show_banner=False)
