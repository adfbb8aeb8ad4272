"""What the transport hands over for a line that it could not read: a `ValidationError` that tells the kinds apart."""

from __future__ import annotations

from typing import Any

import anyio
from common.streams import Reader, Writer
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

LINES = (
    "not JSON",
    '{"jsonrpc":"2.0","id":1',
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    "[]",
    "1",
    '"text"',
    "null",
)


async def main() -> None:
    reader: Any = Reader(*LINES)
    writer: Any = Writer()
    async with stdio_server(reader, writer) as (read, write), write:
        items = [item async for item in read]
    for line, item in zip(LINES, items, strict=True):
        if not isinstance(item, ValidationError):
            print(f"{line}: {item!r}")
            continue
        findings = item.errors(include_url=False)
        kinds = sorted({str(finding["type"]) for finding in findings})
        missing = [finding["input"] for finding in findings if finding["type"] == "missing"]
        print(f"{line}: {', '.join(kinds)}; the message itself is the input of 'missing': {missing[:1]}")


if __name__ == "__main__":
    anyio.run(main)
