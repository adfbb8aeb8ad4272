"""A server begins with one middleware, the OpenTelemetry one; it can be held back and called where it matters."""

from __future__ import annotations

from typing import Any

import anyio
from common.memory import connect, fresh
from common.messages import ENVELOPE, outcome, request
from mcp.server.lowlevel import Server
from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def main() -> None:
    middleware = Server("research", version="1").middleware
    print(f"middleware of a new server: {[type(one).__name__ for one in middleware]}")
    print(f"no tracer set up is a ProxyTracerProvider: {isinstance(trace.get_tracer_provider(), ProxyTracerProvider)}")
    telemetry = middleware[0]
    seen: list[str] = []

    async def look(ctx: Any, call_next: Any) -> Any:
        span = trace.get_current_span().get_span_context()
        seen.append(f"meta {'traceparent' in (ctx.meta or {})}, trace {span.trace_id:032x}")
        return await call_next(ctx)

    def build() -> Server[Any]:
        server = Server[Any]("research", version="1")
        server.middleware[:] = [telemetry, look]
        return server

    async with connect(fresh(build)) as peer:
        for meta in (ENVELOPE, {**ENVELOPE, "traceparent": TRACEPARENT}):
            print(outcome(await peer.ask(request(1, "server/discover", _meta=dict(meta)))), seen.pop())


if __name__ == "__main__":
    anyio.run(main)
