"""A message that cannot be written as UTF-8 does not cost one answer: it ends the transport."""

from __future__ import annotations

from typing import Any

import anyio
from common.streams import Reader, Writer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse


async def write(result: dict[str, Any]) -> str:
    reader: Any = Reader()
    writer: Any = Writer()
    try:
        async with stdio_server(reader, writer) as (_, stream), stream:
            await stream.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=result)))
    except BaseExceptionGroup as group:
        return f"the transport ends with {[type(error).__name__ for error in group.exceptions]}"
    return f"written: {writer.calls[0]}"


async def main() -> None:
    print(f"a lone surrogate: {await write({'text': chr(0xD800)})}")
    print(f"an object of the server's own: {await write({'value': object})}")
    print(f"not a number: {await write({'value': float('nan')})}")
    print(f"a number beyond a double: {await write({'value': 10**30})}")


if __name__ == "__main__":
    anyio.run(main)
