"""A FastAPI app whose orders are seen by people under /orders, and by agents through MCP under /mcp.

Start it with ``uvicorn app:app`` (``pip install fastapi "discern-server[http]"``).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from discern_server import Catalog, DiscernResult, RequestContext, ServerFactory, Surface, http_app

ORDERS: dict[int, str] = {1: "packed", 2: "sent"}


async def order_status(args: dict[str, Any], _ctx: RequestContext) -> Any:
    """Tell an agent what FastAPI tells a browser."""
    status = ORDERS.get(args["number"])
    if status is None:
        message = f"there is no order {args['number']}"
        return DiscernResult(ok=False, verb="order_status", error="unknown_order", message=message)
    return {"status": status}


catalog = Catalog.load(Path(__file__).with_name("schemas"))
mcp = http_app(ServerFactory(Surface("orders", "1.0.0", catalog, {"order_status": order_status})))


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Enter the lifespan of the mounted app, which nobody else does."""
    async with mcp.lifespan(app):
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/orders")
async def orders() -> dict[int, str]:
    """All orders."""
    return ORDERS


app.mount("/", mcp)  # last: what no other route takes; the endpoint is /mcp
