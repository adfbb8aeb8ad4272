"""In a FastAPI app with a lifespan of its own: the endpoint is /tools/mcp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from billing import factory
from fastapi import FastAPI

from discern_server import http_app

mcp = http_app(factory)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open what the host needs, and enter the lifespan of the mounted app."""
    async with mcp.lifespan(app):
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/hello")
async def hello() -> str:
    """Something of the host's own."""
    return "hello"


app.mount("/tools", mcp)
