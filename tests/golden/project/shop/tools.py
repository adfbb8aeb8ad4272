"""The tools of a shop."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from discern_server import RequestContext, tool
from shop.prices import price


@asynccontextmanager
async def stock() -> AsyncIterator[dict[str, int]]:
    """What is in stock."""
    yield {"apples": 3}


@tool(title="Count", read_only=True, idempotent=True, open_world=False)
def count(what: str, ctx: RequestContext) -> int:
    """Count what is in stock.

    Args:
        what: The thing.
        ctx: Its state is the stock.
    """
    sys.stdout.write("counting\n")
    return int(ctx.state[what])


@tool(title="Worth", read_only=True)
def worth(what: str, how_many: int) -> str:
    """Say what a number of things costs."""
    return f"{price(what) * how_many} €"


@tool(title="Deliver", destructive=False)
async def deliver(on: dt.date) -> str:
    """Deliver on a day."""
    return on.strftime("%d.%m.%Y")
