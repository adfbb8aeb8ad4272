"""A surface that the other examples serve: one tool, and a ledger that lives as long as the process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from discern_server import Catalog, RequestContext, ServerFactory, Surface, ToolDefinition

REFUND = ToolDefinition.from_wire(
    {
        "name": "refund",
        "description": "Pays an amount back to the customer.",
        "inputSchema": {
            "type": "object",
            "properties": {"amount": {"type": "number", "exclusiveMinimum": 0}},
            "required": ["amount"],
        },
    }
)


@asynccontextmanager
async def open_ledger() -> AsyncIterator[list[float]]:
    """Open what all requests share; here would be a connection pool."""
    yield []


async def refund(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Note the refund in the ledger and tell how many there are."""
    ctx.state.append(args["amount"])
    return {"refunded": args["amount"], "refunds": len(ctx.state)}


surface = Surface("billing", "1.4.0", Catalog.of([REFUND]), {"refund": refund})
factory = ServerFactory(surface, lifespan=open_ledger)
