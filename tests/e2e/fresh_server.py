"""A server that tells how many servers were built, and how many of them still live.

Usage: python tests/e2e/fresh_server.py [http PORT]
"""

from __future__ import annotations

import gc
import sys
import weakref
from contextvars import ContextVar
from typing import Any

import anyio

from discern_server import (
    Catalog,
    RequestContext,
    RequestScope,
    ServerFactory,
    Surface,
    ToolDefinition,
    http_app,
    serve_http,
    serve_stdio,
)

BUILT: list[weakref.ref[Any]] = []
BUILT_FOR_THIS: ContextVar[int] = ContextVar("built_for_this")
ARRIVED: dict[str, anyio.Event] = {}


class RecordingFactory(ServerFactory):
    """Remembers each server weakly, and leaves its number where the handler of the same request finds it."""

    def build(self, scope: RequestScope, streams: Any = None) -> Any:
        """Build and remember."""
        server = super().build(scope, streams)
        BUILT_FOR_THIS.set(len(BUILT))
        BUILT.append(weakref.ref(server))
        return server


async def meet(args: dict[str, Any], _ctx: RequestContext) -> dict[str, Any]:
    """Wait until the other has come too, so that both requests are open at once."""
    me, other = args["me"], args["other"]
    ARRIVED.setdefault(me, anyio.Event()).set()
    with anyio.fail_after(60):
        await ARRIVED.setdefault(other, anyio.Event()).wait()
    mine = BUILT[BUILT_FOR_THIS.get()]()
    return {"server": BUILT_FOR_THIS.get(), "identity": id(mine), "is_there": mine is not None}


async def report(_args: dict[str, Any], _ctx: RequestContext) -> dict[str, Any]:
    """How many were built, and how many live with the one that serves this: uncollected, and once garbage is."""
    uncollected = _alive()
    gc.collect()
    return {"built": len(BUILT), "uncollected": uncollected, "alive": _alive()}


def _alive() -> int:
    return sum(1 for server in BUILT if server() is not None)


def tool(name: str, *arguments: str) -> ToolDefinition:
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return ToolDefinition.from_wire({"name": name, "description": name, "inputSchema": schema})


SURFACE = Surface(
    "fresh", "1", Catalog.of([tool("meet", "me", "other"), tool("report")]), handlers={"meet": meet, "report": report}
)

if __name__ == "__main__":
    gc.disable()  # it collects when it is told to
    if "http" in sys.argv:
        serve_http(http_app(RecordingFactory(SURFACE)), port=int(sys.argv[-1]))
    else:
        serve_stdio(RecordingFactory(SURFACE))
