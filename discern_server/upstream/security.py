"""What is presented to the API: the first alternative of the operation's security that can be met.

The list of an operation's security is "or", the schemes of one alternative are "and" (OpenAPI 3.2, Security
Requirement Object). The first alternative whose credentials are all there is taken; only where there is
none, and the list allows it, the call goes out without. A static credential is placed at once; an OAuth 2.0
client's token is a `Grant` that `oauth` turns into one.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from discern_server.result import Diagnostic
from discern_server.upstream.binding import SchemeUse, Security, SecurityScheme
from discern_server.upstream.credentials import Credential, SecretError, SecretReference
from discern_server.upstream.errors import CredentialsMissing
from discern_server.upstream.parameters import NOT_IN_COOKIE
from discern_server.upstream.request import Presented

ReadSecret: TypeAlias = Callable[[SecretReference], str]
"""Reads a secret; raises `SecretError` where it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A client credentials grant (RFC 6749, section 4.4): what a token is asked for with.

    Attributes:
        scheme: The security scheme's name.
        token_url: The token endpoint.
        client_id: The client's id.
        client_secret: The client's secret.
        scopes: The scopes the operation needs.
        guarded: Whether a token endpoint at an address that is not public is refused.
    """

    scheme: str
    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...] = ()
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """The alternative that is taken: what is presented as it is, and the grants to be turned into tokens."""

    presented: tuple[Presented, ...] = ()
    grants: tuple[Grant, ...] = ()


def choose(
    security: Security,
    schemes: Mapping[str, SecurityScheme],
    credentials: Mapping[str, Credential],
    read: ReadSecret,
) -> Chosen:
    """The first alternative of `security` that can be met.

    Raises:
        CredentialsMissing: None can, and a call without credentials is not allowed; with what each one lacks.
    """
    findings: list[Diagnostic] = []
    for alternative in security:
        met = [_meet(use, schemes.get(use.name), credentials.get(use.name), read) for use in alternative]
        lacking = [outcome for outcome in met if isinstance(outcome, Diagnostic)]
        if met and not lacking:
            return Chosen(
                presented=tuple(outcome for outcome in met if isinstance(outcome, Presented)),
                grants=tuple(outcome for outcome in met if isinstance(outcome, Grant)),
            )
        findings += lacking
    if findings and () not in security:
        raise CredentialsMissing(findings=tuple(dict.fromkeys(findings)))
    return Chosen()


def combine(presented: Sequence[Presented]) -> Presented:
    """All of these together."""
    return Presented(
        headers=tuple(header for each in presented for header in each.headers),
        query=tuple(pair for each in presented for pair in each.query),
        cookies=tuple(pair for each in presented for pair in each.cookies),
        secrets=tuple(secret for each in presented for secret in each.secrets),
    )


def bearer(token: str) -> Presented:
    """A token, by RFC 6750, section 2.1."""
    return _authorization("Bearer", token, (token,))


def basic(username: str, password: str) -> Presented:
    """A user's name and password (RFC 7617), in UTF-8; a client's, with both encoded, too (RFC 6749, section 2.3.1)."""
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode("ascii")
    return _authorization("Basic", encoded, (encoded, password))


def _authorization(scheme: str, credentials: str, secrets: tuple[str, ...]) -> Presented:
    return Presented(headers=(("Authorization", f"{scheme} {credentials}"),), secrets=secrets)


# --- one scheme ---------------------------------------------------------------------------------------

_USER_PARTS: Final = ("username", "password")
_CLIENT_PARTS: Final = ("client_id", "client_secret")


def _meet(
    use: SchemeUse, scheme: SecurityScheme | None, credential: Credential | None, read: ReadSecret
) -> Presented | Grant | Diagnostic:
    """What is presented for one scheme, or what is missing for it."""
    if scheme is None:
        return _finding(use.name, "unknown", "the API description does not define this security scheme")
    if scheme.kind == "mutualTLS":
        return _finding(use.name, "unsupported", "client certificates are not supported")
    if credential is None:
        return _finding(use.name, "missing", f"no credential is configured ({_kind(scheme)})", _how_to_name(scheme))
    try:
        if isinstance(credential, Mapping):
            return _meet_in_parts(use, scheme, credential, read)
        return _present(scheme, read(credential))
    except SecretError as error:
        return _finding(use.name, "missing", error.reason, error.fix)


def _present(scheme: SecurityScheme, secret: str) -> Presented | Diagnostic:
    if scheme.kind == "apiKey":
        return _present_key(scheme, secret)
    if scheme.kind != "http" or scheme.scheme == "bearer":
        return bearer(secret)
    if scheme.scheme == "basic":
        username, colon, password = secret.partition(":")
        if not colon:
            return _finding(scheme.name, "shape", "the secret is not user:password", _how_to_name(scheme))
        return basic(username, password)
    if scheme.scheme == "digest":
        return _finding(scheme.name, "unsupported", "digest authentication is not supported")
    return _authorization((scheme.scheme or "bearer").capitalize(), secret, (secret,))


def _present_key(scheme: SecurityScheme, key: str) -> Presented | Diagnostic:
    name = scheme.parameter or scheme.name
    if scheme.location == "query":
        return Presented(query=((name, key),), secrets=(key,))
    if scheme.location == "cookie":
        if NOT_IN_COOKIE.search(key):
            return _finding(scheme.name, "shape", "the secret holds what a cookie cannot hold, and goes out as it is")
        return Presented(cookies=((name, key),), secrets=(key,))
    return Presented(headers=((name, key),), secrets=(key,))


def _meet_in_parts(
    use: SchemeUse, scheme: SecurityScheme, parts: Mapping[str, SecretReference], read: ReadSecret
) -> Presented | Grant | Diagnostic:
    takes_user = scheme.kind == "http" and scheme.scheme == "basic"
    token_url = next((flow.token_url for flow in scheme.flows if flow.kind == "clientCredentials"), None)
    wanted = _USER_PARTS if takes_user else _CLIENT_PARTS if token_url else ()
    if not wanted or set(parts) != set(wanted):
        given = ", ".join(parts) or "nothing"
        return _finding(use.name, "shape", f"{_kind(scheme)} cannot be met with {given}", _how_to_name(scheme))
    first, second = (read(parts[name]) for name in wanted)
    if takes_user:
        return basic(first, second)
    return Grant(
        scheme=use.name,
        token_url=token_url or "",
        client_id=first,
        client_secret=second,
        scopes=use.scopes,
        guarded=scheme.guarded,
    )


def _kind(scheme: SecurityScheme) -> str:
    """What the scheme is, for a person."""
    if scheme.kind == "apiKey":
        return f"API key in {scheme.location} {scheme.parameter}"
    return f"http {scheme.scheme}" if scheme.kind == "http" else scheme.kind


def _how_to_name(scheme: SecurityScheme) -> str:
    named = '{ env = "NAME_OF_VARIABLE" }'
    if scheme.kind == "http" and scheme.scheme == "basic":
        value = f"{{ username = {named}, password = {named} }}"
    elif any(flow.kind == "clientCredentials" for flow in scheme.flows):
        value = f"{{ client_id = {named}, client_secret = {named} }}"
    else:
        value = named
    return f"write credentials.{scheme.name} = {value} for this source in discern.toml"


def _finding(scheme: str, rule: str, message: str, fix: str | None = None) -> Diagnostic:
    return Diagnostic(rule=f"credential.{rule}", message=f"{scheme}: {message}", path=f"credentials.{scheme}", fix=fix)
