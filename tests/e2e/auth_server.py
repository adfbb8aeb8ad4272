"""A server that asks for bearer tokens: who holds which is written here, and what each may do.

Usage: python tests/e2e/auth_server.py http PORT
"""

from __future__ import annotations

import sys
import time
from typing import Any

from discern_server import (
    AccessToken,
    BearerAuth,
    Catalog,
    RequestContext,
    RequestScope,
    RequiredScopes,
    Resource,
    ResourceDefinition,
    ServerFactory,
    Subscriptions,
    Surface,
    ToolDefinition,
    http_app,
    serve_http,
)

RESOURCE = "https://mcp.example.com/mcp"


def token(value: str, *scopes: str, resource: str = RESOURCE, expires_at: int | None = None) -> AccessToken:
    return AccessToken(
        token=value, client_id=f"client of {value}", scopes=list(scopes), resource=resource, expires_at=expires_at
    )


TOKENS = {
    "reader": token("reader", "mcp"),
    "writer": token("writer", "mcp", "write"),
    "guest": token("guest", "mcp"),
    "stranger": token("stranger", "other"),
    "foreign": token("foreign", "mcp", resource="https://elsewhere.example/mcp"),
    "expired": token("expired", "mcp", expires_at=int(time.time()) - 1),
}


class Verifier:
    async def verify_token(self, value: str) -> AccessToken | None:
        if value == "unverifiable":
            raise ConnectionError("the introspection endpoint is down: a secret of the host")
        return TOKENS.get(value)


async def whoami(_args: dict[str, Any], ctx: RequestContext) -> str:
    return str(ctx.scope.token.client_id)


async def write(_args: dict[str, Any], _ctx: RequestContext) -> str:
    return "written"


async def read(_args: dict[str, Any], _ctx: RequestContext) -> str:
    return "read"


SURFACE = Surface(
    "guarded",
    "1",
    Catalog.of(
        [ToolDefinition.from_wire({"name": name, "inputSchema": {"type": "object"}}) for name in ("whoami", "write")]
    ),
    {"whoami": whoami, "write": write},
    resources=[
        Resource(ResourceDefinition.from_wire({"uri": f"books://{name}", "name": name}), read)
        for name in ("open", "closed")
    ],
    required_scopes=RequiredScopes(tools={"write": ["write"]}, resources={"books://closed": ["write"]}),
)

GUESTS = Surface(
    "welcome",
    "1",
    Catalog.of([ToolDefinition.from_wire({"name": "welcome", "inputSchema": {"type": "object"}})]),
    {"welcome": whoami},
)


def choose(scope: RequestScope) -> Surface:
    return GUESTS if scope.token.client_id == "client of guest" else SURFACE


if __name__ == "__main__":
    auth = BearerAuth(
        verifier=Verifier(),
        resource_url=RESOURCE,
        authorization_servers=["https://login.example.com"],
        required_scopes=["mcp"],
        scopes_supported=["mcp", "write"],
    )
    serve_http(http_app(ServerFactory(choose, subscriptions=Subscriptions()), auth=auth), port=int(sys.argv[2]))
