"""The SDK's `MCPServer` over stdio.

Usage: python sdk_mcpserver.py TOOLS_FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer  # noqa: TID251 - a peer

server = MCPServer("bench")


async def give_back(a: str, b: int) -> dict[str, Any]:
    return {"a": a, "b": b}


for tool in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    server.add_tool(give_back, name=tool["name"], description=tool["description"])

if __name__ == "__main__":
    server.run("stdio")
