"""OAuth 2.0 client credentials (RFC 6749, section 4.4): tokens, fetched once and kept until shortly before they expire.

One `Tokens` serves all requests of the process. Calls that need the same token at the same time wait for one
fetch. A token that the API refuses is discarded, if it is still the one that is kept.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote_plus, urlencode, urlsplit

import anyio

from discern_server.upstream.answer import Answer
from discern_server.upstream.errors import TokenRefused
from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import USER_AGENT, UpstreamRequest, callable_url
from discern_server.upstream.security import Grant, basic

Send: TypeAlias = Callable[[UpstreamRequest], Awaitable[Answer]]

ClientAuthentication: TypeAlias = Literal["basic", "body"]
"""How the client shows who it is: HTTP Basic, which every server must take, or the form (RFC 6749, section 2.3.1)."""

_LONGEST_MARGIN_S: Final = 60.0
_MARGIN: Final = 0.1
_SHOWN: Final = 200


@dataclass(slots=True)
class _Slot:
    """The token kept for one grant; `expires_at` is None where the server has not said."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    token: str | None = None
    expires_at: float | None = None


class Tokens:
    """The tokens of a process.

    Args:
        authentication: How the client shows who it is.
        now: The clock, in seconds.
    """

    def __init__(
        self, authentication: ClientAuthentication = "basic", *, now: Callable[[], float] = anyio.current_time
    ) -> None:
        self._authentication = authentication
        self._now = now
        self._slots: dict[Grant, _Slot] = {}

    async def token(self, grant: Grant, send: Send) -> str:
        """The token for `grant`, fetched with `send` where none is kept that lasts.

        Raises:
            TokenRefused: The authorization server gave none.
            UpstreamError: As `send` does.
        """
        slot = self._slots.setdefault(grant, _Slot())
        async with slot.lock:
            if slot.token is None or (slot.expires_at is not None and self._now() >= slot.expires_at):
                slot.token = None
                asked_at = self._now()
                request = token_request(grant, self._authentication)
                slot.token, lifetime_s = _read_token(grant, request, await send(request))
                slot.expires_at = None if lifetime_s is None else asked_at + lifetime_s - _margin_s(lifetime_s)
            return slot.token

    def discard(self, grant: Grant, token: str) -> None:
        """Forget `token`, unless another call has replaced it already."""
        slot = self._slots.get(grant)
        if slot is not None and slot.token == token:
            slot.token = None


def _margin_s(lifetime_s: float) -> float:
    """How long before it expires a token is no longer used: a request takes time to arrive."""
    return min(_LONGEST_MARGIN_S, lifetime_s * _MARGIN)


def token_request(grant: Grant, authentication: ClientAuthentication = "basic") -> UpstreamRequest:
    """The request for a token.

    Raises:
        TokenRefused: The token endpoint is no http or https URL, or no https one and named by a description from the
            network.
    """
    if not callable_url(grant.token_url) or (grant.guarded and urlsplit(grant.token_url).scheme != "https"):
        wanted = "https address" if grant.guarded else "http or https address"
        raise TokenRefused(scheme=grant.scheme, description=f"its token address is no {wanted}")
    form = {"grant_type": "client_credentials"}
    if grant.scopes:
        form["scope"] = " ".join(grant.scopes)
    headers = [("Accept", "application/json"), ("User-Agent", USER_AGENT)]
    secrets: tuple[str, ...] = (grant.client_secret,)
    if authentication == "basic":
        presented = basic(quote_plus(grant.client_id), quote_plus(grant.client_secret))
        headers += presented.headers
        secrets += presented.secrets
    else:
        form |= {"client_id": grant.client_id, "client_secret": grant.client_secret}
    headers.append(("Content-Type", "application/x-www-form-urlencoded"))
    return UpstreamRequest(
        method="POST",
        url=grant.token_url,
        headers=tuple(headers),
        body=urlencode(form).encode("ascii"),
        public_url=grant.token_url,
        guarded=grant.guarded,
        secrets=secrets,
    )


def _read_token(grant: Grant, request: UpstreamRequest, answer: Answer) -> tuple[str, float | None]:
    """The token and its lifetime in seconds (RFC 6749, section 5.1)."""
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        said = {}
    token = said.get("access_token")
    if not answer.is_success or not isinstance(token, str) or not token.isprintable() or " " in token or not token:
        raise _refusal(grant, request, answer, said)
    if str(said.get("token_type", "bearer")).lower() != "bearer":
        raise _refusal(grant, request, answer, {"error_description": "its tokens are not bearer tokens"})
    try:
        return token, max(0.0, float(said["expires_in"]))
    except (KeyError, TypeError, ValueError):
        return token, None


def _refusal(grant: Grant, request: UpstreamRequest, answer: Answer, said: dict[str, Any]) -> TokenRefused:
    redact = Redactor(request.secrets).text

    def told(name: str) -> str | None:
        text = said.get(name)
        return redact(text)[:_SHOWN] if isinstance(text, str) else None

    return TokenRefused(
        scheme=grant.scheme,
        status=None if answer.is_success else answer.status,
        oauth_error=told("error"),
        description=told("error_description"),
        method=request.method,
        url=request.public_url,
    )
