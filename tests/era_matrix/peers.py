"""The servers of the matrix: how each is installed and started, and what it is known to be.

The verdicts are literals: what was seen on the wire of these versions by hand, not by this probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MODERN, LEGACY = "2026-07-28", "2025-11-25"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where servers are installed.

    Attributes:
        name: Its folder.
        kind: ``pip`` or ``npm``.
        packages: Exact requirements; the first is the one that is shown.
    """

    name: str
    kind: Literal["pip", "npm"]
    packages: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Name and version of what it is about."""
        name, _, version = self.packages[0].replace("==", "@").rpartition("@")
        return f"{name} {version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One server.

    Attributes:
        what: What it is, for the table.
        environment: Where it is installed; None for this project's own.
        command: The argument list. ``{bin}`` is the environment's folder of programs, ``{servers}``
            that of the fixtures, ``{node}`` Node, ``{python}`` this interpreter, ``{port}`` a free port.
        verdict: What it is.
        revisions: What it serves.
        http: The path of its endpoint, for one that is spoken to over HTTP.
    """

    what: str
    environment: Environment | None
    command: tuple[str, ...]
    verdict: str
    revisions: tuple[str, ...]
    http: str | None = None


def _pip(name: str, *packages: str) -> Environment:
    return Environment(name=name, kind="pip", packages=packages)


SDK_1_27 = _pip("python-sdk-1.27.2", "mcp==1.27.2")
SDK_1_30 = _pip("python-sdk-1.30.0", "mcp==1.30.0")
SDK_2_3 = _pip("python-sdk-2.3.0", "mcp==2.3.0")
FASTMCP_2 = _pip("fastmcp-2.14.7", "fastmcp==2.14.7")
FASTMCP_3 = _pip("fastmcp-3.4.11", "fastmcp==3.4.11")
FASTMCP_4 = _pip("fastmcp-4.1.6", "fastmcp==4.1.6")
RMCP = _pip("cnb-rs-mcp-1.3.0", "cnb-rs-mcp==1.3.0")
TS_1 = Environment(name="typescript-sdk-1", kind="npm", packages=("@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7"))
TS_2 = Environment(name="typescript-sdk-2", kind="npm", packages=("@modelcontextprotocol/server@2.4.0",))
TOOLBOX = Environment(name="toolbox-1.12.0", kind="npm", packages=("@toolbox-sdk/server@1.12.0",))


def _legacy(what: str, environment: Environment, *command: str, http: str | None = None) -> Peer:
    return Peer(
        what=what, environment=environment, command=command, verdict="legacy-only", revisions=(LEGACY,), http=http
    )


def _dual(what: str, environment: Environment | None, *command: str, http: str | None = None) -> Peer:
    return Peer(
        what=what, environment=environment, command=command, verdict="dual-era", revisions=(MODERN, LEGACY), http=http
    )


def _modern(what: str, environment: Environment | None, *command: str, http: str | None = None) -> Peer:
    return Peer(
        what=what, environment=environment, command=command, verdict="modern-only", revisions=(MODERN,), http=http
    )


PYTHON = "{bin}/python"
TS_1_SERVER = ("{node}", "{env}/sdk1.mjs")
TS_2_SERVER = ("{node}", "{env}/sdk2.mjs")
LOWLEVEL_1 = (PYTHON, "{servers}/sdk1_lowlevel.py")
FASTMCP_1 = (PYTHON, "{servers}/sdk1_fastmcp.py")
LOWLEVEL_2 = (PYTHON, "{servers}/sdk2_lowlevel.py")
FASTMCP = (PYTHON, "{servers}/fastmcp_server.py")
OURS = ("{python}", "-P", "-m", "discern_server", "serve")
TOOLBOX_SERVER = ("{bin}/toolbox", "--config", "{servers}/toolbox.yaml")
HTTP = ("http", "{port}")

PEERS = (
    _modern("`discern serve`", None, *OURS),
    _dual("`discern serve --legacy serve`", None, *OURS, "--legacy", "serve"),
    _modern("`discern serve --http`", None, *OURS, "--http", "127.0.0.1:{port}", http="/mcp"),
    _dual("the same, `--legacy serve`", None, *OURS, "--http", "127.0.0.1:{port}", "--legacy", "serve", http="/mcp"),
    _legacy("lowlevel `Server.run`", SDK_1_27, *LOWLEVEL_1),
    _legacy("bundled `FastMCP.run`", SDK_1_27, *FASTMCP_1),
    _legacy("lowlevel `Server.run`", SDK_1_30, *LOWLEVEL_1),
    _legacy("bundled `FastMCP.run`", SDK_1_30, *FASTMCP_1),
    _legacy("bundled `FastMCP`, streamable HTTP", SDK_1_30, *FASTMCP_1, *HTTP, http="/mcp"),
    _legacy("the same, `stateless_http`", SDK_1_30, *FASTMCP_1, *HTTP, "stateless", http="/mcp"),
    _dual("lowlevel `Server.run`", SDK_2_3, *LOWLEVEL_2),
    _dual("`MCPServer.run`", SDK_2_3, PYTHON, "{servers}/sdk2_mcpserver.py"),
    _dual("`streamable_http_app`", SDK_2_3, *LOWLEVEL_2, *HTTP, http="/mcp"),
    _dual("`streamable_http_app(json_response=True)`", SDK_2_3, *LOWLEVEL_2, *HTTP, "json", http="/mcp"),
    _legacy("`FastMCP.run`", FASTMCP_2, *FASTMCP),
    _legacy("`FastMCP.run`", FASTMCP_3, *FASTMCP),
    _legacy("`http_app`", FASTMCP_3, *FASTMCP, *HTTP, http="/mcp"),
    _dual("`FastMCP.run`", FASTMCP_4, *FASTMCP),
    _dual("`http_app(stateless_http=True)`", FASTMCP_4, *FASTMCP, *HTTP, "stateless", http="/mcp"),
    _legacy("`McpServer.connect`", TS_1, *TS_1_SERVER),
    _legacy("`StreamableHTTPServerTransport`, stateful", TS_1, *TS_1_SERVER, *HTTP, http="/mcp"),
    _legacy("the same, stateless", TS_1, *TS_1_SERVER, *HTTP, "stateless", http="/mcp"),
    _legacy("`McpServer.connect`", TS_2, *TS_2_SERVER, "connect"),
    _dual("`serveStdio`", TS_2, *TS_2_SERVER, "serve"),
    _modern("`serveStdio`, `legacy: 'reject'`", TS_2, *TS_2_SERVER, "reject"),
    _dual("`createMcpHandler`", TS_2, *TS_2_SERVER, *HTTP, "serve", http="/mcp"),
    _modern("`createMcpHandler`, `legacy: 'reject'`", TS_2, *TS_2_SERVER, *HTTP, "reject", http="/mcp"),
    _legacy("a binary on the Rust SDK", RMCP, "{bin}/cnb-rs-mcp"),
    _dual("a binary in Go, `--stdio`", TOOLBOX, *TOOLBOX_SERVER, "--stdio"),
    _dual("the same, HTTP", TOOLBOX, *TOOLBOX_SERVER, "--port", "{port}", http="/mcp"),
)
