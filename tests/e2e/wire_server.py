"""The server that the wire cases run against, written with the public API alone.

Usage: python tests/e2e/wire_server.py [--legacy serve] [--drain SECONDS]          stdio
       python tests/e2e/wire_server.py [--legacy serve] [--answers json|stream] http PORT
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

import anyio

from discern_server import (
    Catalog,
    RequestContext,
    ServerFactory,
    Surface,
    ToolDefinition,
    http_app,
    serve_http,
    serve_stdio,
)


async def echo(args: dict[str, Any], _ctx: RequestContext) -> Any:
    return args["text"]


async def now(_args: dict[str, Any], _ctx: RequestContext) -> str:
    return "2026-07-28T00:00:00Z"


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


async def slow(args: dict[str, Any], ctx: RequestContext) -> str:
    say(f"slow started: {args['seconds']:g} s")
    try:
        for part in range(1, 5):
            await anyio.sleep(args["seconds"] / 4)
            await ctx.progress(part, 4)
    except anyio.get_cancelled_exc_class():
        say("slow cancelled")
        raise
    return "slow done"


async def boom(_args: dict[str, Any], _ctx: RequestContext) -> None:
    raise RuntimeError("a secret that must stay in the log")


def noisy(_args: dict[str, Any], _ctx: RequestContext) -> str:
    print("printed by the language")  # noqa: T201 - a stray print is what this tool is for
    os.write(1, b"written to descriptor 1\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
    return "noisy done"


async def where(args: dict[str, Any], _ctx: RequestContext) -> Any:
    return args["region"]


def definition(name: str, description: str, properties: dict[str, Any], required: list[str]) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolDefinition.from_wire({"name": name, "description": description, "inputSchema": schema})


NUMBER = {"type": "number", "minimum": 0}
REGION = {"type": "string", "x-mcp-header": "Region"}

SURFACE = Surface(
    "wire",
    "1",
    Catalog.of(
        [
            definition("echo", "Says what it is told.", {"text": {"type": "string"}}, ["text"]),
            definition("now", "Tells a constant time.", {}, []),
            definition("slow", "Takes its time.", {"seconds": NUMBER}, ["seconds"]),
            definition("boom", "Raises.", {}, []),
            definition("noisy", "Prints to standard output in three ways.", {}, []),
            definition("where", "Tells the region.", {"region": REGION}, ["region"]),
        ]
    ),
    handlers={"echo": echo, "now": now, "slow": slow, "boom": boom, "noisy": noisy, "where": where},
)

ANSWERS = {"auto": None, "json": True, "stream": False}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--legacy", choices=["reject", "serve"], default="reject")
    parser.add_argument("--drain", type=float, default=1.5, help="how long requests may run after the end of the input")
    parser.add_argument("--answers", choices=list(ANSWERS), default="auto", help="how the HTTP app answers")
    parser.add_argument("transport", nargs="*", metavar="http PORT", help="serve over HTTP instead of stdio")
    options = parser.parse_args()
    factory = ServerFactory(SURFACE)
    if options.transport:
        app = http_app(factory, legacy=options.legacy, json_response=ANSWERS[options.answers])
        serve_http(app, port=int(options.transport[1]))
    else:
        serve_stdio(factory, legacy=options.legacy, drain_timeout_s=options.drain)


if __name__ == "__main__":
    main()
