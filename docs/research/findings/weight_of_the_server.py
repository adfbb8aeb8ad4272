"""What `import mcp.server.lowlevel` loads: no import of a part of the SDK is an import of that part alone."""

from __future__ import annotations

import sys

import mcp.server.lowlevel  # noqa: F401 - what it loads is the finding

WATCHED = (
    "mcp.client",
    "mcp.server.mcpserver",
    "mcp.server.streamable_http_manager",
    "mcp.server.auth",
    "starlette",
    "sse_starlette",
    "uvicorn",
    "httpx2",
    "jwt",
    "cryptography",
    "jsonschema",
    "opentelemetry.trace",
    "opentelemetry.sdk",
)


def main() -> None:
    for name in WATCHED:
        print(f"{name}: {'loaded' if name in sys.modules else 'not loaded'}")


if __name__ == "__main__":
    main()
