"""The SDK's lowlevel server over HTTP, as it ships, answering with plain JSON.

Usage: python sdk_http.py TOOLS_FILE PORT
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from sdk_lowlevel import call_tool, list_tools

server = Server[Any]("bench", version="1", on_list_tools=list_tools, on_call_tool=call_tool)

if __name__ == "__main__":
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[2]), log_level="warning")).run()
