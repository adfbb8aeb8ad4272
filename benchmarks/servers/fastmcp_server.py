"""FastMCP over stdio.

Usage: python fastmcp_server.py TOOLS_FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool

server: FastMCP[Any] = FastMCP("bench")


async def give_back(a: str, b: int) -> dict[str, Any]:
    return {"a": a, "b": b}


for tool in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    server.add_tool(Tool.from_function(give_back, name=tool["name"], description=tool["description"]))

if __name__ == "__main__":
    server.run(show_banner=False)
