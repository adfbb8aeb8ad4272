"""The servers that are compared, by the name that the table gives them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks import environments, project
from benchmarks.client import StdioServer
from benchmarks.environments import SERVERS

OURS: Final = "discern-server"
SERVE: Final = "discern serve"
OURS_SHARED: Final = "discern-server, one shared server"
OURS_UVLOOP: Final = "discern-server on uvloop"
SDK: Final = "SDK Server.run"
MCPSERVER: Final = "SDK MCPServer"
FASTMCP: Final = "FastMCP"
TYPESCRIPT: Final = "TypeScript SDK"


def _python(environment: str, script: str, *options: str) -> Callable[[Path], list[str]]:
    return lambda tools: [environments.python(environment), str(SERVERS / script), str(tools), *options]


def _serve(tools: Path) -> list[str]:
    return [environments.program("discern"), "serve", "--root", str(project.made_of(tools))]


STDIO: Final[dict[str, Callable[[Path], list[str]]]] = {
    OURS: _python("ours", "ours.py"),
    SERVE: _serve,
    OURS_SHARED: _python("ours", "ours.py", "--shared"),
    OURS_UVLOOP: _python("uvloop", "ours.py", "--uvloop"),
    SDK: _python("sdk", "sdk_lowlevel.py"),
    MCPSERVER: _python("sdk", "sdk_mcpserver.py"),
    FASTMCP: _python("fastmcp", "fastmcp_server.py"),
    TYPESCRIPT: lambda tools: [*environments.typescript("stdio.mjs"), str(tools)],
}
"""The command of each, given the file with the tools."""


def start(name: str, tools: Path) -> StdioServer:
    """Start a server over stdio."""
    return StdioServer(STDIO[name](tools))
