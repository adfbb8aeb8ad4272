"""In a Litestar app: the endpoint is /tools/mcp."""

from billing import factory
from litestar import Litestar, asgi, get
from litestar.types import Receive, Scope, Send

from discern_server import http_app

mcp = http_app(factory)


@asgi("/tools", is_mount=True, copy_scope=True)
async def tools(scope: Scope, receive: Receive, send: Send) -> None:
    """Hand over to the mounted app."""
    await mcp(scope, receive, send)


@get("/hello")
async def hello() -> str:
    """Something of the host's own."""
    return "hello"


app = Litestar([hello, tools], lifespan=[mcp.lifespan])
