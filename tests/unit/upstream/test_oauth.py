from __future__ import annotations

import json
from base64 import b64decode
from urllib.parse import parse_qsl

import anyio
import pytest

from discern_server.upstream.answer import Answer
from discern_server.upstream.errors import ConnectFailed, TokenRefused
from discern_server.upstream.oauth import Tokens, token_request
from discern_server.upstream.security import Grant

pytestmark = pytest.mark.anyio

FIELDS = {"scheme": "o", "token_url": "https://auth.example.com/token", "client_id": "cid", "client_secret": "sec"}
GRANT = Grant(**FIELDS)


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tokens(clock):
    return Tokens(now=clock)


def said(status=200, **members):
    return Answer(status=status, body=json.dumps(members).encode())


class Server:
    """An authorization server: a new token each time."""

    def __init__(self, **members):
        self.members = {"token_type": "Bearer", "expires_in": 3600} | members
        self.requests = []

    async def __call__(self, request):
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        members = {name: value for name, value in self.members.items() if value is not None}
        return said(access_token=f"T{len(self.requests)}", **members)


def test_the_request_is_a_form_with_http_basic():
    """RFC 6749, sections 4.4.2 and 2.3.1."""
    request = token_request(Grant(**(FIELDS | {"scopes": ("read", "list")})))
    assert (request.method, request.url) == ("POST", "https://auth.example.com/token")
    assert parse_qsl((request.body or b"").decode()) == [
        ("grant_type", "client_credentials"),
        ("scope", "read list"),
    ]
    assert dict(request.headers)["Authorization"] == "Basic Y2lkOnNlYw=="
    assert dict(request.headers)["Content-Type"] == "application/x-www-form-urlencoded"


def test_id_and_secret_are_form_encoded_before_they_are_joined():
    """RFC 6749, section 2.3.1."""
    request = token_request(Grant(**(FIELDS | {"client_id": "a:b", "client_secret": "p w+é"})))
    encoded = dict(request.headers)["Authorization"].removeprefix("Basic ")
    assert b64decode(encoded) == b"a%3Ab:p+w%2B%C3%A9"


def test_the_client_can_show_itself_in_the_form():
    request = token_request(GRANT, "body")
    assert "Authorization" not in dict(request.headers)
    assert ("client_secret", "sec") in parse_qsl((request.body or b"").decode())


async def test_a_token_is_fetched_once(tokens):
    server = Server()
    assert [await tokens.token(GRANT, server) for _ in range(3)] == ["T1", "T1", "T1"]
    assert len(server.requests) == 1


async def test_calls_at_the_same_time_wait_for_one_fetch(tokens):
    server = Server()
    got = []

    async def call():
        got.append(await tokens.token(GRANT, server))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(call)
    assert got == ["T1"] * 5
    assert len(server.requests) == 1


async def test_other_scopes_are_another_token(tokens):
    server = Server()
    await tokens.token(GRANT, server)
    assert await tokens.token(Grant(**(FIELDS | {"scopes": ("write",)})), server) == "T2"


@pytest.mark.parametrize(("lifetime", "lasts_s"), [(3600, 3540), (100, 90), ("3600", 3540)])
async def test_a_token_is_replaced_shortly_before_it_expires(tokens, clock, lifetime, lasts_s):
    server = Server(expires_in=lifetime)
    await tokens.token(GRANT, server)
    clock.now += lasts_s - 1
    assert await tokens.token(GRANT, server) == "T1"
    clock.now += 2
    assert await tokens.token(GRANT, server) == "T2"


async def test_a_token_that_has_expired_on_arrival_is_used_once(tokens):
    server = Server(expires_in=0)
    assert [await tokens.token(GRANT, server) for _ in range(2)] == ["T1", "T2"]


async def test_a_token_without_lifetime_is_kept_until_it_is_refused(tokens, clock):
    server = Server(expires_in=None)
    await tokens.token(GRANT, server)
    clock.now += 1e9
    assert await tokens.token(GRANT, server) == "T1"
    tokens.discard(GRANT, "T1")
    assert await tokens.token(GRANT, server) == "T2"
    tokens.discard(GRANT, "T1")
    assert await tokens.token(GRANT, server) == "T2"


async def test_a_failed_fetch_leaves_nothing_behind(tokens):
    async def fail(request):
        raise ConnectFailed(method=request.method, url=request.public_url)

    with pytest.raises(ConnectFailed):
        await tokens.token(GRANT, fail)
    assert await tokens.token(GRANT, Server()) == "T1"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            said(400, error="invalid_client", error_description="who is sec?"),
            "answered 400 (invalid_client: who is ***?)",
        ),
        (Answer(status=500, body=b"<html>"), "answered 500"),
        (said(200), "gave no usable token"),
        (said(200, access_token=""), "gave no usable token"),
        (said(200, access_token="a\r\nX: 1"), "gave no usable token"),
        (said(200, access_token=7), "gave no usable token"),
        (said(200, access_token="T", token_type="mac"), "not bearer tokens"),
        (Answer(status=200, body=b"[" * 100_000), "gave no usable token"),
    ],
)
async def test_a_refusal_tells_what_the_server_said(tokens, answer, told):
    """RFC 6749, section 5.2."""

    async def send(request):
        return answer

    with pytest.raises(TokenRefused) as caught:
        await tokens.token(GRANT, send)
    assert told in str(caught.value)
    assert "Y2lkOnNlYw" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "guarded", "sent"),
    [
        ("http://auth.example.com/token", False, True),
        ("http://auth.example.com/token", True, False),
        ("https://auth.example.com/token", True, True),
        ("/token", False, False),
        ("file:///etc/passwd", False, False),
    ],
)
def test_a_secret_goes_to_no_token_address_in_the_clear_that_the_network_named(url, guarded, sent):
    grant = Grant(**(FIELDS | {"token_url": url, "guarded": guarded}))
    if sent:
        assert token_request(grant).guarded is guarded
    else:
        with pytest.raises(TokenRefused):
            token_request(grant)


def test_a_grant_never_shows_its_secret():
    assert "sec" not in repr(GRANT).replace("scheme", "")
