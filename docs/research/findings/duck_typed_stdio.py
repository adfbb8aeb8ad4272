"""`stdio_server` takes any objects that can be iterated, written and flushed, and then leaves the descriptors alone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import anyio
from common.messages import compact, request
from common.streams import Reader, Writer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse


def descriptors() -> list[tuple[int, int]]:
    """Which files descriptors 0 and 1 stand for."""
    return [(status.st_dev, status.st_ino) for status in (os.fstat(0), os.fstat(1))]


async def main() -> None:
    ours = descriptors()
    reader: Any = Reader(compact(request(1, "ping")), compact(request(2, "ping")) + "\n")
    writer: Any = Writer()
    async with stdio_server(reader, writer) as (read, write), write:
        beside_explicit = descriptors()
        received = [item async for item in read]
        await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={"é": None})))
        await writer.flushed.wait()
    kinds = [type(item.message).__name__ for item in received if isinstance(item, SessionMessage)]
    async with stdio_server() as (_, write), write:
        beside_own = descriptors()
    print(f"two lines, one without a line feed, are read as {kinds}")
    print(f"an answer is written as {', '.join(writer.calls)}")
    print(f"descriptors 0 and 1 are left alone beside explicit streams: {beside_explicit == ours}")
    print(f"without them both are diverted: {all(a != b for a, b in zip(beside_own, ours, strict=True))}")


if __name__ == "__main__":
    if sys.argv[1:] == ["piped"]:
        anyio.run(main)
    else:
        sys.stdout.write(subprocess.check_output([sys.executable, __file__, "piped"], input="", encoding="utf-8"))
