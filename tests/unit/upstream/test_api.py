"""A tool's call from its arguments to its output, over real connections."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import httpx2
import pytest

from discern_server.handler import ABSENT, RequestScope
from discern_server.result import Severity
from discern_server.upstream.api import Upstream, UpstreamSettings
from discern_server.upstream.binding import (
    BodyBinding,
    OAuthFlow,
    OperationBinding,
    ParameterBinding,
    SchemeUse,
    SecurityScheme,
    Server,
)
from discern_server.upstream.errors import CredentialsMissing
from discern_server.upstream.limits import Limits, RetryPolicy
from discern_server.upstream.rendering import as_data, as_text
from discern_server.upstream.results import META
from tests.unit.upstream.server import reply, serving

pytestmark = pytest.mark.anyio

ENVIRON = {"ID": "cid", "SECRET": "client-secret", "KEY": "api-key-1234"}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@dataclass
class Reference:
    env: str
    file: None = None


CLIENT = {"client_id": Reference("ID"), "client_secret": Reference("SECRET")}


def settings(**changes):
    changes.setdefault("retry", RetryPolicy(base_wait_s=0))
    return UpstreamSettings(credentials={"o": CLIENT, "k": Reference("KEY")}, **changes)


def schemes(token_server=None, **changes):
    url = f"{token_server.url}/token" if token_server else "https://auth.example.com/token"
    flow = OAuthFlow(kind="clientCredentials", token_url=url)
    return {
        "o": SecurityScheme(name="o", kind="oauth2", flows=(flow,), **changes),
        "k": SecurityScheme(name="k", kind="apiKey", location="header", parameter="X-Key"),
        "missing": SecurityScheme(name="missing", kind="http", scheme="bearer"),
    }


def binding(server, *schemes, method="GET", **changes):
    security = (tuple(SchemeUse(name=name, scopes=("read",)) for name in schemes),) if schemes else ()
    return OperationBinding(method=method, path="/j", server=Server(url=server.url), security=security, **changes)


def token(text="T1", **members):
    fields = "".join(f',"{name}":{value}' for name, value in members.items())
    return reply(body=f'{{"access_token":"{text}","token_type":"Bearer"{fields}}}')


@dataclass
class Context:
    scope: RequestScope = field(
        default_factory=lambda: RequestScope(
            era="modern", revision="2026-07-28", transport="http", method="tools/call", headers={"x-tenant": "t1"}
        )
    )


async def test_a_handler_calls_the_api_and_passes_on_what_is_allowed():
    with serving(reply(body='{"a":1}')) as server:
        upstream = Upstream({}, settings(forward_headers=("X-Tenant",)))
        handler = upstream.handler("tool", binding(server), {"type": "object"})
        async with upstream.open():
            output = await handler({}, Context())
    assert output.structured == {"a": 1}
    assert server.seen[0].header("x-tenant") == "t1"


async def test_a_handler_outside_of_the_lifespan_is_a_bug_that_says_so():
    with serving() as server:
        handler = Upstream({}, settings()).handler("tool", binding(server))
        with pytest.raises(RuntimeError, match=r"Upstream\.open"):
            await handler({}, Context())


@pytest.mark.parametrize(
    ("invalid_output", "is_error", "structured"), [("error", True, ABSENT), ("deliver", False, {})]
)
async def test_a_broken_promise_is_an_error_unless_the_source_says_otherwise(invalid_output, is_error, structured):
    with serving() as server:
        upstream = Upstream({}, settings(invalid_output=invalid_output))
        handler = upstream.handler("tool", binding(server), {"type": "object", "required": ["a"]})
        async with upstream.open():
            output = await handler({}, Context())
    assert (output.is_error, output.structured) == (is_error, structured)


async def test_a_missing_credential_is_told_before_anything_is_sent():
    with serving() as server, serving() as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o", "missing"), {})
    assert server.seen == auth.seen == []
    assert output.meta[META]["error"] == "credentials_missing"
    assert output.meta[META]["diagnostics"][0]["path"] == "credentials.missing"


async def test_arguments_that_cannot_be_sent_are_told_before_a_token_is_fetched():
    parameter = ParameterBinding(argument="X-Note", name="X-Note", location="header", style="simple")
    with serving() as server, serving() as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o", parameters=(parameter,)), {"X-Note": "a\nb"})
    assert server.seen == auth.seen == []
    assert output.meta[META]["error"] == "invalid_arguments"


async def test_a_token_is_fetched_once_for_many_calls():
    with serving() as server, serving(token(expires_in=3600)) as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        async with upstream.open(), anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(upstream.call, "tool", binding(server, "o", "k"), {})
    assert [seen.body for seen in auth.seen] == [b"grant_type=client_credentials&scope=read"]
    assert auth.seen[0].header("Authorization") == "Basic Y2lkOmNsaWVudC1zZWNyZXQ="
    assert {(seen.header("Authorization"), seen.header("X-Key")) for seen in server.seen} == {
        ("Bearer T1", "api-key-1234")
    }


async def test_a_token_that_the_api_refuses_is_replaced_once():
    refused = reply(401, '{"e":1}')
    with serving(reply(), refused, reply(), refused) as server, serving(token("T1"), token("T2"), token("T3")) as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        body = BodyBinding(argument="body", media_type="application/json", kind="json")
        operation = binding(server, "o", method="POST", body=body)
        async with upstream.open():
            outputs = [await upstream.call("tool", operation, {"body": {"n": 1}}) for _ in range(3)]
    assert [output.is_error for output in outputs] == [False, False, True]
    assert [seen.header("Authorization") for seen in server.seen] == [
        "Bearer T1",
        "Bearer T1",
        "Bearer T2",
        "Bearer T2",
        "Bearer T3",
    ]
    assert {seen.body for seen in server.seen} == {b'{"n":1}'}


async def test_a_refused_credential_of_another_kind_is_an_answer():
    with serving(reply(401)) as server:
        upstream = Upstream(schemes(), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "k"), {})
    assert len(server.seen) == 1
    assert output.meta[META]["data"]["status"] == 401


async def test_no_token_is_no_call_and_names_no_secret():
    with serving() as server, serving(reply(400, '{"error":"invalid_client"}')) as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o"), {})
    assert (len(auth.seen), server.seen) == (1, [])
    assert output.meta[META]["error"] == "token_refused"
    assert "invalid_client" in output.content[0]["text"]
    assert "client-secret" not in str(output)
    assert "Y2lkOm" not in str(output)


async def test_a_token_endpoint_that_redirects_is_not_followed():
    with serving() as server, serving(reply(307, Location="/elsewhere")) as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o"), {})
    assert len(auth.seen) == 1
    assert output.is_error


async def test_a_guarded_token_endpoint_is_no_address_of_this_machine():
    with serving() as server, serving() as auth:
        upstream = Upstream(schemes(auth, guarded=True), settings(), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o"), {})
    assert auth.seen == server.seen == []
    assert output.meta[META]["error"] == "token_refused"


async def test_the_time_limit_holds_over_tokens_and_retries():
    with serving() as server, serving(lambda handler: handler.wait_for_hang_up()) as auth:
        upstream = Upstream(schemes(auth), settings(limits=Limits(timeout_s=0.2)), environ=ENVIRON)
        async with upstream.open():
            output = await upstream.call("tool", binding(server, "o"), {})
    assert server.seen == []
    assert output.meta[META]["error"] == "timed_out"


async def test_not_now_is_asked_again_and_a_wait_beyond_the_time_limit_is_not_begun():
    busy = reply(429, '{"message":"try tomorrow"}', Retry_After="3600")
    with serving(reply(503, Retry_After="0"), reply(502), reply(), busy) as server:
        upstream = Upstream({}, settings())
        async with upstream.open():
            first = await upstream.call("tool", binding(server), {})
            with anyio.fail_after(60):
                second = await upstream.call("tool", binding(server), {})
    assert (first.is_error, second.is_error) == (False, True)
    assert len(server.seen) == 4
    assert "try tomorrow" in second.content[1]["text"]


async def test_a_preview_sends_nothing_and_masks_every_credential():
    with serving() as server, serving() as auth:
        upstream = Upstream(schemes(auth), settings(), environ=ENVIRON)
        body = BodyBinding(argument="body", media_type="application/octet-stream", kind="binary")
        operation = binding(server, "o", "k", method="POST", body=body)
        request = upstream.preview(operation, {"body": {"base64": "AP8="}}).request
    assert server.seen == auth.seen == []
    data = as_data(request)
    host = server.url.removeprefix("http://")
    assert (data["method"], data["url"], data["body_base64"]) == ("POST", f"{server.url}/j", "AP8=")
    assert ["Host", host] in data["headers"]
    assert ["Authorization", "Bearer ***"] in data["headers"]
    assert ["X-Key", "***"] in data["headers"]
    assert as_text(request).endswith("Content-Length: 2\n\n(2 bytes that are not text)")
    assert "api-key-1234" not in repr(data) + as_text(request)


async def test_a_preview_needs_no_secret_to_be_set_and_says_which_is_not():
    with serving() as server:
        upstream = Upstream(schemes(), settings(), environ={"ID": "cid", "SECRET": "client-secret"})
        preview = upstream.preview(binding(server, "o", "k"), {})
    assert {("Authorization", "Bearer ***"), ("X-Key", "***")} <= set(map(tuple, as_data(preview.request)["headers"]))
    (unset,) = preview.unset
    assert unset.severity is Severity.WARNING
    assert unset.message == "the environment variable KEY is not set or empty: a placeholder stands for it"


async def test_a_preview_is_refused_where_no_secret_is_even_named():
    with serving() as server, pytest.raises(CredentialsMissing):
        Upstream(schemes(), settings(), environ=ENVIRON).preview(binding(server, "missing"), {})


async def test_a_transport_can_stand_in_for_the_network():
    stub = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"host": request.url.host}))
    upstream = Upstream({}, settings(), transport=stub)
    for guarded in (False, True):
        server = Server(url="https://api.example.com", guarded=guarded)
        async with upstream.open():
            output = await upstream.call("tool", OperationBinding(method="GET", path="/j", server=server), {})
        assert output.structured == {"host": "api.example.com"}


async def test_an_upstream_is_opened_once_at_a_time():
    upstream = Upstream({}, settings())
    async with upstream.open():
        with pytest.raises(RuntimeError, match="open already"):
            async with upstream.open():
                pass


async def test_an_upstream_can_be_opened_again_once_it_is_closed():
    with serving() as server:
        upstream = Upstream({}, settings())
        for _ in range(2):
            async with upstream.open():
                assert not (await upstream.call("tool", binding(server), {})).is_error
