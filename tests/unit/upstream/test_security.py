from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import pytest

from discern_server.upstream.binding import OAuthFlow, SchemeUse, SecurityScheme
from discern_server.upstream.credentials import read_secret
from discern_server.upstream.errors import CredentialsMissing
from discern_server.upstream.request import Presented
from discern_server.upstream.security import Grant, choose, combine


@dataclass
class Reference:
    env: str | None = None
    file: Path | None = None


FLOW = OAuthFlow(kind="clientCredentials", token_url="https://auth.example.com/token")
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        SecurityScheme(name="header", kind="apiKey", location="header", parameter="X-Key"),
        SecurityScheme(name="query", kind="apiKey", location="query", parameter="key"),
        SecurityScheme(name="cookie", kind="apiKey", location="cookie", parameter="sid"),
        SecurityScheme(name="basic", kind="http", scheme="basic"),
        SecurityScheme(name="bearer", kind="http", scheme="bearer"),
        SecurityScheme(name="other", kind="http", scheme="hoba"),
        SecurityScheme(name="digest", kind="http", scheme="digest"),
        SecurityScheme(name="client", kind="oauth2", flows=(FLOW,), guarded=True),
        SecurityScheme(name="person", kind="oauth2", flows=(OAuthFlow(kind="implicit"),)),
        SecurityScheme(name="oidc", kind="openIdConnect"),
        SecurityScheme(name="tls", kind="mutualTLS"),
    )
}
ENVIRON = {
    "SESSION": "s%3Aa+b/=",
    "A": "secret-a",
    "B": "p:ä",
    "USER": "svc",
    "PAIR": "svc:p:ä",
    "EMPTY": "",
    "BROKEN": "a\r\nX: 1",
}
READ = functools.partial(read_secret, environ=ENVIRON)


def use(*names, scopes=()):
    return tuple(SchemeUse(name=name, scopes=scopes) for name in names)


def present(*alternatives, **credentials):
    chosen = choose(alternatives, SCHEMES, credentials, READ)
    assert not chosen.grants
    return combine(chosen.presented)


def missing(*alternatives, **credentials):
    with pytest.raises(CredentialsMissing) as caught:
        choose(alternatives, SCHEMES, credentials, READ)
    return caught.value.diagnostics


A, B, PAIR = Reference(env="A"), Reference(env="B"), Reference(env="PAIR")
BASIC = "Basic c3ZjOnA6w6Q="  # RFC 7617, section 2: svc, colon, "p:ä" in UTF-8


@pytest.mark.parametrize(
    ("scheme", "credential", "presented"),
    [
        ("header", A, Presented(headers=(("X-Key", "secret-a"),))),
        ("query", A, Presented(query=(("key", "secret-a"),))),
        ("cookie", Reference(env="SESSION"), Presented(cookies=(("sid", "s%3Aa+b/="),))),
        ("bearer", A, Presented(headers=(("Authorization", "Bearer secret-a"),))),
        ("basic", PAIR, Presented(headers=(("Authorization", BASIC),))),
        (
            "basic",
            {"username": Reference(env="USER"), "password": B},
            Presented(headers=(("Authorization", BASIC),)),
        ),
        ("other", A, Presented(headers=(("Authorization", "Hoba secret-a"),))),
        ("person", A, Presented(headers=(("Authorization", "Bearer secret-a"),))),
        ("oidc", A, Presented(headers=(("Authorization", "Bearer secret-a"),))),
    ],
)
def test_a_credential_goes_where_its_scheme_says(scheme, credential, presented):
    found = present(use(scheme), **{scheme: credential})
    assert (found.headers, found.query, found.cookies) == (presented.headers, presented.query, presented.cookies)
    assert found.secrets
    assert "secret-a" not in repr(found.secrets).replace("'secret-a'", "")


def test_a_client_becomes_a_grant():
    credential = {"client_id": Reference(env="USER"), "client_secret": A}
    chosen = choose((use("client", scopes=("read",)),), SCHEMES, {"client": credential}, READ)
    assert chosen.grants == (
        Grant(
            scheme="client",
            token_url="https://auth.example.com/token",
            client_id="svc",
            client_secret="secret-a",
            scopes=("read",),
            guarded=True,
        ),
    )


def test_a_client_scheme_takes_a_ready_token_too():
    assert present(use("client"), client=A).headers == (("Authorization", "Bearer secret-a"),)


def test_all_schemes_of_an_alternative_are_presented():
    found = present(use("header", "query"), header=A, query=B)
    assert (found.headers, found.query) == ((("X-Key", "secret-a"),), (("key", "p:ä"),))


def test_the_first_alternative_that_can_be_met_is_taken():
    assert present(use("bearer"), use("header", "query"), use("query"), query=A, header=A).headers == (
        ("X-Key", "secret-a"),
    )
    assert present(use("bearer"), use("query"), bearer=Reference(env="EMPTY"), query=A).query == (("key", "secret-a"),)


def test_no_security_presents_nothing():
    assert present(bearer=A) == Presented()


def test_optional_security_presents_what_there_is():
    assert present(use("bearer"), ()) == Presented()
    assert present((), use("bearer"), bearer=A).headers == (("Authorization", "Bearer secret-a"),)


def test_what_is_missing_is_told_for_every_alternative_with_the_mend():
    findings = missing(use("bearer", "header"), use("query"), header=Reference(env="UNSET"))
    assert [(finding.path, finding.message) for finding in findings] == [
        ("credentials.bearer", "bearer: no credential is configured (http bearer)"),
        ("credentials.header", "header: the environment variable UNSET is not set or empty"),
        ("credentials.query", "query: no credential is configured (API key in query key)"),
    ]
    assert findings[0].fix == (
        'write credentials.bearer = { env = "NAME_OF_VARIABLE" } for this source in discern.toml'
    )


@pytest.mark.parametrize(
    ("scheme", "credential", "told"),
    [
        ("basic", A, "the secret is not user:password"),
        ("cookie", B, "what a cookie cannot hold"),
        ("basic", {"username": A}, "cannot be met with username"),
        ("bearer", {"username": A, "password": B}, "cannot be met with username, password"),
        ("person", {"client_id": A, "client_secret": B}, "cannot be met with client_id, client_secret"),
        ("digest", A, "digest authentication is not supported"),
        ("tls", A, "client certificates are not supported"),
        ("undefined", A, "does not define this security scheme"),
        ("bearer", Reference(env="BROKEN"), "holds line breaks"),
        ("bearer", Reference(), "no variable and no file is named"),
        ("bearer", Reference(file=Path("/no/such/file")), "cannot be read: No such file"),
    ],
)
def test_a_credential_that_cannot_be_presented_is_told_without_the_secret(scheme, credential, told):
    (finding,) = missing(use(scheme), **{scheme: credential})
    assert told in finding.message
    assert "secret-a" not in f"{finding}"


def test_what_is_missing_for_a_client_is_both_of_its_parts():
    (finding,) = missing(use("client"))
    assert "credentials.client = { client_id = { env = " in (finding.fix or "")


def test_a_file_holds_the_secret_and_line_breaks_at_its_end_do_not_count(tmp_path):
    file = tmp_path / "token"
    file.write_bytes(b"from-a-file\r\n")
    assert present(use("bearer"), bearer=Reference(file=file)).headers == (("Authorization", "Bearer from-a-file"),)
    file.write_bytes(b"rotated\n")
    assert present(use("bearer"), bearer=Reference(file=file)).headers == (("Authorization", "Bearer rotated"),)
    file.write_bytes(b"\xff")
    assert "not UTF-8" in missing(use("bearer"), bearer=Reference(file=file))[0].message
