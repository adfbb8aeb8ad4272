"""A server with what outlives a request: a lifespan, subscriptions, a call that waits for another.

Usage: python tests/e2e/lasting_server.py [--max-in-flight N] http PORT
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from discern_server import (
    Catalog,
    RequestContext,
    RequestScope,
    ServerFactory,
    Subscriptions,
    Surface,
    ToolDefinition,
    http_app,
    serve_http,
)

CHANGES = Subscriptions(max_streams=2)


@dataclass
class State:
    """What the lifespan opens: shared by all requests of the process."""

    released: anyio.Event = field(default_factory=anyio.Event)
    bookings: int = 0


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@asynccontextmanager
async def lifespan() -> AsyncIterator[State]:
    say("lifespan entered")
    yield State()
    say("lifespan left")


async def wait(_args: dict[str, Any], ctx: RequestContext) -> str:
    say("waiting")
    await ctx.state.released.wait()
    return "released"


async def release(_args: dict[str, Any], ctx: RequestContext) -> str:
    ctx.state.released.set()
    return "done"


async def pause(args: dict[str, Any], _ctx: RequestContext) -> str:
    say("pausing")
    await anyio.sleep(args["seconds"])
    return "paused"


async def change(_args: dict[str, Any], _ctx: RequestContext) -> str:
    await CHANGES.tools_changed()
    return "changed"


async def book(_args: dict[str, Any], ctx: RequestContext) -> str:
    """Ask, then take for ever in the first of the rounds that have the answer, and be quick after it."""
    drawn = await ctx.once("drawn", lambda: "seat 7")
    answer = await ctx.elicit("sure", "Book?", {"properties": {"sure": {"type": "boolean"}}})
    ctx.state.bookings += 1
    try:
        say(f"booking, time {ctx.state.bookings}")
        if ctx.state.bookings == 1:
            await anyio.sleep(600)
    except anyio.get_cancelled_exc_class():
        say("booking cancelled")
        raise
    return f"{drawn}, {answer.content['sure']}"


HANDLERS = {"wait": wait, "release": release, "pause": pause, "change": change, "book": book}
SURFACE = Surface(
    "lasting",
    "1",
    Catalog.of([ToolDefinition.from_wire({"name": name, "inputSchema": {"type": "object"}}) for name in HANDLERS]),
    HANDLERS,
)


def choose(scope: RequestScope) -> Surface:
    if scope.headers.get("x-tenant") == "broken":
        raise LookupError("no such tenant: a secret of the host")
    return SURFACE


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-in-flight", type=int, default=1024)
    parser.add_argument("transport", nargs=2, metavar="http PORT")
    options = parser.parse_args()
    factory = ServerFactory(choose, lifespan=lifespan, subscriptions=CHANGES)
    serve_http(http_app(factory, max_in_flight=options.max_in_flight), port=int(options.transport[1]))


if __name__ == "__main__":
    main()
