"""Who may speak to the server: OAuth bearer tokens, as a resource server checks them (basic/authorization).

The SDK verifies: it reads the header, asks the host's `TokenVerifier`, and looks at expiry and audience. What is
ours is the challenge, which names the scopes and where the metadata is (RFC 6750 section 3, RFC 9728 section
5.1), and that a verifier which fails is not a token that is wrong.

=========================================  ======  ===============================================
request                                    status  ``WWW-Authenticate: Bearer``
=========================================  ======  ===============================================
no token                                   401     scope, resource_metadata
a token that is wrong, expired, not ours   401     error="invalid_token" and these
a token without a required scope           403     error="insufficient_scope" and these
the verifier failed                        503     none: no other token would help
=========================================  ======  ===============================================

Scopes of single tools, prompts and resources are no matter of this gate: see `RequiredScopes`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter, ValidationError
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["AccessToken", "BearerAuth", "BearerGate", "TokenVerifier", "access_token"]

logger = logging.getLogger(__name__)

_RETRY_AFTER_S: Final = 5
# An issuer is compared character by character (RFC 8414 section 3.3): no slash may be added to it.
_url: Final[TypeAdapter[AnyHttpUrl]] = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


@dataclass(frozen=True, kw_only=True)
class BearerAuth:
    """Asks every request for a bearer token.

    Attributes:
        verifier: Verifies a token: an object with ``async verify_token(token) -> AccessToken | None``.
            The scopes it gives should include those that a broader one implies.
        resource_url: The server's own URL, as clients know it: ``https://mcp.example.com/mcp``.
        authorization_servers: The issuers whose tokens are accepted.
        required_scopes: What every request needs.
        scopes_supported: What the metadata names; what is required, unless given.
        check_resource: Whether `AccessToken.resource` must be `resource_url` (RFC 8707). Only a verifier that checks
            the audience by itself may leave it out.

    Raises:
        ValueError: A URL that is none, no issuer, or a scope that no header can carry.
    """

    verifier: TokenVerifier
    resource_url: str
    authorization_servers: Sequence[str]
    required_scopes: Sequence[str] = ()
    scopes_supported: Sequence[str] | None = None
    check_resource: bool = True

    def __post_init__(self) -> None:
        """Refuse what would only fail on the first request."""
        if not self.authorization_servers:
            raise ValueError("authorization_servers: name at least one issuer, or clients cannot get a token")
        for url in (self.resource_url, *self.authorization_servers):
            _parsed(url)
        for scope in (*self.required_scopes, *(self.scopes_supported or ())):
            if not _SCOPE.fullmatch(scope):
                raise ValueError(f"{scope!r} is no scope: printable ASCII without spaces and quotes (RFC 6749)")

    @property
    def metadata_url(self) -> str:
        """Where the metadata is: below the root of the host, whatever the app is mounted under (RFC 9728)."""
        return str(build_resource_metadata_url(_parsed(self.resource_url)))

    def metadata_routes(self) -> list[Route]:
        """The routes that serve the protected-resource metadata."""
        supported = self.required_scopes if self.scopes_supported is None else self.scopes_supported
        return create_protected_resource_routes(
            resource_url=_parsed(self.resource_url),
            authorization_servers=[_parsed(url) for url in self.authorization_servers],
            scopes_supported=list(supported) or None,
        )


def _parsed(url: str) -> AnyHttpUrl:
    try:
        return _url.validate_python(url)
    except ValidationError as error:
        raise ValueError(f"{url!r} is no URL: write it whole, as https://mcp.example.com/mcp") from error


def access_token(scope: Scope) -> AccessToken | None:
    """The verified token of a request that has passed the gate; None where there is no gate."""
    user = scope.get("user")
    return user.access_token if isinstance(user, AuthenticatedUser) else None


class BearerGate:
    """Lets requests with a good token through to `app`, with the token in their scope."""

    def __init__(self, auth: BearerAuth, app: ASGIApp) -> None:
        self._auth = auth
        self._required = frozenset(auth.required_scopes)
        self._backend = BearerAuthBackend(
            auth.verifier, resource_server_url=_parsed(auth.resource_url) if auth.check_resource else None
        )
        self._app = AuthContextMiddleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        connection = HTTPConnection(scope)
        try:
            found = await self._backend.authenticate(connection)
        except Exception:
            logger.exception("the token verifier failed")
            await _unavailable()(scope, receive, send)
            return
        if found is None:
            error = "invalid_token" if "authorization" in connection.headers else None
            await self._challenge(401, error)(scope, receive, send)
            return
        credentials, user = found
        if not self._required.issubset(credentials.scopes):
            await self._challenge(403, "insufficient_scope")(scope, receive, send)
            return
        await self._app({**scope, "auth": credentials, "user": user}, receive, send)

    def _challenge(self, status: int, error: str | None) -> JSONResponse:
        parts = {
            "error": error,
            "error_description": _DESCRIPTIONS[error],
            "scope": " ".join(self._auth.required_scopes) or None,
            "resource_metadata": self._auth.metadata_url,
        }
        told = ", ".join(f'{name}="{value}"' for name, value in parts.items() if value is not None)
        body = {"error": error or "unauthorized", "error_description": _DESCRIPTIONS[error] or _MISSING}
        return JSONResponse(body, status, {"WWW-Authenticate": f"Bearer {told}"})


_MISSING: Final = "This server asks for a bearer token; WWW-Authenticate says where to get one"
# RFC 6750 section 3.1: to a request without a token no error is told.
_DESCRIPTIONS: Final[Mapping[str | None, Any]] = {
    None: None,
    "invalid_token": "The token is wrong, expired, or not issued for this server",
    "insufficient_scope": "The token lacks a scope that this server requires",
}


def _unavailable() -> JSONResponse:
    body = {"error": "temporarily_unavailable", "error_description": "Tokens cannot be verified at the moment"}
    return JSONResponse(body, 503, {"Retry-After": str(_RETRY_AFTER_S)})
