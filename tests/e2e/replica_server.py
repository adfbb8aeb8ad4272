"""One of several replicas: it tells which one it is, and asks in the middle of a call.

Usage: python tests/e2e/replica_server.py http PORT
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio

from discern_server import Catalog, RequestContext, ServerFactory, Surface, ToolDefinition, http_app, serve_http

CONFIRMATION = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}


async def work(args: dict[str, Any], _ctx: RequestContext) -> dict[str, Any]:
    """Take a moment, and tell who did it."""
    sys.stderr.write(f"working on {args['number']};\n")
    sys.stderr.flush()
    await anyio.sleep(0.05)
    return {"number": args["number"], "replica": os.getpid()}


async def book(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Ask first; tell who asked, and who booked."""
    asked_by = await ctx.once("asked_by", os.getpid)
    answer = await ctx.elicit("sure", f"Book seat {args['number']}?", CONFIRMATION)
    return {
        "number": args["number"],
        "asked_by": asked_by,
        "booked_by": os.getpid(),
        "sure": answer.content.get("sure"),
    }


NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
HANDLERS = {"work": work, "book": book}
SURFACE = Surface(
    "replica",
    "1",
    Catalog.of([ToolDefinition.from_wire({"name": name, "inputSchema": NUMBER}) for name in HANDLERS]),
    HANDLERS,
)

if __name__ == "__main__":
    serve_http(http_app(ServerFactory(SURFACE)), port=int(sys.argv[-1]))
