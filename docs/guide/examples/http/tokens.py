"""Bearer tokens, and a tool for those who may refund: ``python tokens.py``."""

from typing import Any

from billing import REFUND, refund

from discern_server import (
    AccessToken,
    BearerAuth,
    Catalog,
    RequestContext,
    RequiredScopes,
    ServerFactory,
    Surface,
    ToolDefinition,
    http_app,
    serve_http,
)

WHO_AM_I = ToolDefinition.from_wire(
    {"name": "who_am_i", "description": "Tells who calls.", "inputSchema": {"type": "object"}}
)


async def who_am_i(_args: dict[str, Any], ctx: RequestContext) -> str:
    """Tell whose token came with this request."""
    return str(ctx.scope.token.client_id)


class Verifier:
    """Verifies tokens. A real one checks a JWT's signature, or asks the issuer (RFC 7662)."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """What the token stands for, or None where it is not good."""
        scopes = {"token-of-ann": ["mcp"], "token-of-bob": ["mcp", "billing:refund"]}.get(token)
        if scopes is None:
            return None
        return AccessToken(
            token=token,
            client_id=token.removeprefix("token-of-"),
            scopes=scopes,
            resource="https://mcp.example.com/mcp",
        )


surface = Surface(
    "billing",
    "1.4.0",
    Catalog.of([WHO_AM_I, REFUND]),
    {"who_am_i": who_am_i, "refund": refund},
    required_scopes=RequiredScopes(tools={"refund": ["billing:refund"]}),
)
auth = BearerAuth(
    verifier=Verifier(),
    resource_url="https://mcp.example.com/mcp",
    authorization_servers=["https://login.example.com"],
    required_scopes=["mcp"],
    scopes_supported=["mcp", "billing:refund"],
)
app = http_app(ServerFactory(surface), auth=auth)

if __name__ == "__main__":
    serve_http(app, port=8000)
