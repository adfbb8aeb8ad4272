"""One of several replicas: ``python server.py PORT``. See run.sh.

The replicas share no store. A call that asks its user may be begun by one and finished by another: they have the keys
in ``DISCERN_STATE_KEYS`` in common.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from discern_server import Catalog, RequestContext, ServerFactory, Surface, ToolDefinition, http_app, serve_http

BOOK = {
    "name": "book_seat",
    "title": "Book a seat",
    "description": "Books a seat. Asks the user first.",
    "inputSchema": {
        "type": "object",
        "properties": {"seat": {"type": "string", "pattern": "^[1-9][0-9]?[A-F]$"}},
        "required": ["seat"],
        "additionalProperties": False,
    },
    "annotations": {"destructiveHint": False, "openWorldHint": False},
}
CONSENT = {"type": "object", "properties": {"book": {"type": "boolean"}}, "required": ["book"]}


async def book_seat(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Ask, book, and tell which process did which."""
    asked_by = await ctx.once("asked_by", os.getpid)
    answer = await ctx.elicit("consent", f"Book seat {args['seat']}?", CONSENT)
    booked = answer.accepted and answer.content["book"]
    return {"seat": args["seat"], "booked": booked, "asked_by": asked_by, "answered_by": os.getpid()}


surface = Surface("seats", "1.0.0", Catalog.of([ToolDefinition.from_wire(BOOK)]), {"book_seat": book_seat})

if __name__ == "__main__":
    serve_http(http_app(ServerFactory(surface)), port=int(sys.argv[1]))
