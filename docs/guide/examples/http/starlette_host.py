"""In a Starlette app: the endpoint is /tools/mcp."""

from billing import factory
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from discern_server import http_app


async def hello(_request: Request) -> PlainTextResponse:
    """Something of the host's own."""
    return PlainTextResponse("hello")


mcp = http_app(factory)
app = Starlette(routes=[Route("/hello", hello), Mount("/tools", mcp)], lifespan=mcp.lifespan)
