"""discern-server: a fresh server for every request, over stdio.

Usage: python ours.py TOOLS_FILE [--shared] [--uvloop]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import anyio

from discern_server import (
    Catalog,
    RequestContext,
    RequestScope,
    ServerFactory,
    Surface,
    ToolDefinition,
    serve_stdio,
    serve_stdio_async,
)


async def give_back(args: dict[str, Any], _ctx: RequestContext) -> dict[str, Any]:
    return {"a": args["a"], "b": args["b"]}


class SharedFactory(ServerFactory):
    """Builds one server and keeps it: only to measure what a fresh one costs."""

    _server: Any = None

    def build(self, scope: RequestScope, streams: Any = None) -> Any:
        if self._server is None:
            self._server = super().build(scope, streams)
        return self._server


def surface(tools_file: Path) -> Surface:
    definitions = [ToolDefinition.from_wire(tool) for tool in json.loads(tools_file.read_text(encoding="utf-8"))]
    return Surface("bench", "1", Catalog.of(definitions), {definition.name: give_back for definition in definitions})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=Path)
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--uvloop", action="store_true")
    options = parser.parse_args()
    factory = (SharedFactory if options.shared else ServerFactory)(surface(options.tools))
    if options.uvloop:
        anyio.run(serve_stdio_async, factory, backend_options={"use_uvloop": True})
    else:
        serve_stdio(factory)


if __name__ == "__main__":
    main()
