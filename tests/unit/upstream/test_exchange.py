"""Calls over real connections, to a server on loopback."""

from __future__ import annotations

import logging
import tracemalloc
import zlib

import anyio
import anyio.to_thread
import pytest

from discern_server.upstream.api import Upstream, UpstreamSettings
from discern_server.upstream.binding import (
    BodyBinding,
    OperationBinding,
    ParameterBinding,
    SchemeUse,
    SecurityScheme,
    Server,
)
from discern_server.upstream.limits import Limits, RetryPolicy
from discern_server.upstream.rendering import as_text
from discern_server.upstream.results import META
from tests.unit.upstream.server import PATIENCE_S, drop, reply, serving

pytestmark = pytest.mark.anyio

QUICK = RetryPolicy(base_wait_s=0)
BODY = BodyBinding(argument="body", media_type="application/json", kind="json")
KEY = SecurityScheme(name="key", kind="apiKey", location="query", parameter="key")
TOKEN = SecurityScheme(name="token", kind="http", scheme="bearer")


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Reference:
    """A credential by reference, as a project's configuration gives it."""

    def __init__(self, env=None, file=None):
        self.env = env
        self.file = file


ENVIRON = {"KEY": "s3cret+key", "TOKEN": "t0p-secret-token"}
CREDENTIALS = {"key": Reference(env="KEY"), "token": Reference(env="TOKEN")}


def binding(server, method="GET", path="/j", **changes):
    return OperationBinding(method=method, path=path, server=Server(url=server.url), **changes)


def secured(*names):
    return ((*(SchemeUse(name=name) for name in names),),)


def stall(handler):
    """Send half of an answer, and wait."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"half")
    handler.server.half_sent.set()
    handler.wait_for_hang_up()


async def call(operation, arguments=None, *, settings=None, output=None, inbound=None):
    upstream = Upstream({"key": KEY, "token": TOKEN}, settings or UpstreamSettings(retry=QUICK), environ=ENVIRON)
    with anyio.fail_after(60):
        async with upstream.open():
            return await upstream.call("tool", operation, arguments or {}, output=output, inbound=inbound or {})


def text_of(output):
    return "\n".join(block["text"] for block in output.content if block["type"] == "text")


def facts_of(output):
    return output.meta[META]["data"]


# --- what is sent -------------------------------------------------------------------------------------


async def test_the_request_arrives_as_it_was_built():
    with serving() as server:
        operation = binding(
            server,
            method="POST",
            path="/a b/{id}",
            parameters=(
                ParameterBinding(argument="id", name="id", location="path", style="simple"),
                ParameterBinding(argument="q", name="q", location="query"),
                ParameterBinding(argument="X-Note", name="X-Note", location="header", style="simple"),
            ),
            body=BODY,
            security=secured("key", "token"),
        )
        arguments = {"id": "é/1", "q": ["a", "b"], "X-Note": "naïve", "body": {"n": 9223372036854775807}}
        upstream = Upstream(
            {"key": KEY, "token": TOKEN}, UpstreamSettings(credentials=CREDENTIALS, retry=QUICK), environ=ENVIRON
        )
        shown = as_text(upstream.preview(operation, arguments).request)
        async with upstream.open():
            output = await upstream.call("tool", operation, arguments)
    seen = server.seen[0]
    assert not output.is_error
    assert (seen.method, seen.target) == ("POST", "/a%20b/%C3%A9%2F1?q=a,b&key=s3cret%2Bkey")
    assert seen.body == b'{"n":9223372036854775807}'
    sent = {name.lower(): text for name, text in seen.headers}
    assert sent.pop("x-note") == "naïve".encode().decode("latin-1")
    assert sent.pop("authorization") == "Bearer t0p-secret-token"
    head, _, body = shown.partition("\n\n")
    masked = dict(line.split(": ", 1) for line in head.splitlines()[1:])
    assert head.startswith("POST /a%20b/%C3%A9%2F1?q=a,b&key=*** HTTP/1.1")
    assert (masked.pop("Authorization"), masked.pop("X-Note"), body) == ("Bearer ***", "naïve", seen.body.decode())
    assert {name.lower(): text for name, text in masked.items()} == sent


async def test_a_method_goes_out_as_it_is_spelled():
    with serving() as server:
        await call(binding(server, method="QUERY", body=BODY), {"body": {"q": 1}})
        await call(binding(server, method="copy"))
    assert [seen.method for seen in server.seen] == ["QUERY", "copy"]


async def test_cookies_of_one_answer_never_reach_another_request():
    with serving(reply(Set_Cookie="session=1; Path=/")) as server:
        upstream = Upstream({}, UpstreamSettings())
        async with upstream.open():
            for _ in range(2):
                await upstream.call("tool", binding(server), {})
            assert upstream._exchange is not None
            assert [len(client.cookies.jar) for client in upstream._exchange._clients.values()] == [0]
    assert [seen.header("Cookie") for seen in server.seen] == [None, None]


async def test_connections_are_kept_between_calls():
    ports = []

    def note_port(handler):
        ports.append(handler.client_address[1])
        reply()(handler)

    with serving(note_port) as server:
        upstream = Upstream({}, UpstreamSettings())
        async with upstream.open():
            for _ in range(3):
                await upstream.call("tool", binding(server), {})
    assert len(set(ports)) == 1


async def test_inbound_headers_stay_here_unless_they_are_named():
    inbound = {"x-tenant": "t1", "x-other": "o", "authorization": "Bearer inbound"}
    with serving() as server:
        await call(binding(server), inbound=inbound)
        await call(binding(server), inbound=inbound, settings=UpstreamSettings(forward_headers=("X-Tenant", "X-None")))
    first, second = server.seen
    assert (first.header("X-Tenant"), second.header("X-Tenant")) == (None, "t1")
    assert {seen.header(name) for seen in server.seen for name in ("X-Other", "Authorization")} == {None}


@pytest.mark.parametrize("name", ["Authorization", "cookie", "Content-Length", "Host"])
def test_some_inbound_headers_can_never_be_named(name):
    with pytest.raises(ValueError, match=name):
        UpstreamSettings(forward_headers=(name,))


async def test_credentials_stay_out_of_the_librarys_log(caplog):
    caplog.set_level(logging.DEBUG)
    with serving() as server:
        await call(binding(server, security=secured("key")), settings=UpstreamSettings(credentials=CREDENTIALS))
    assert server.seen[0].target == "/j?key=s3cret%2Bkey"
    assert f"HTTP Request: GET {server.url}/j " in caplog.text
    assert "s3cret" not in caplog.text


# --- what comes back, bounded -------------------------------------------------------------------------


async def test_an_answer_of_fifty_megabytes_is_read_to_the_limit():
    chunk = b"x" * 65_536

    def endless(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(800 * len(chunk)))
        handler.end_headers()
        for _ in range(800):
            handler.wfile.write(chunk)

    with serving(endless) as server:
        tracemalloc.start()
        output = await call(binding(server), settings=UpstreamSettings(limits=Limits(max_response_bytes=100_000)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert server.hung_up.wait(PATIENCE_S)
    assert output.is_error
    assert output.meta[META]["error"] == "answer_too_large"
    assert facts_of(output)["limit_bytes"] == 100_000
    assert len(text_of(output)) < 10_000
    assert peak < 3_000_000


async def test_an_answer_that_is_not_read_to_its_end_gives_its_connection_back_at_once():
    with serving(stall) as server:
        upstream = Upstream({}, UpstreamSettings(limits=Limits(max_response_bytes=2)))
        async with upstream.open():
            output = await upstream.call("tool", binding(server), {})
            assert await anyio.to_thread.run_sync(server.hung_up.wait, PATIENCE_S)
    assert output.meta[META]["error"] == "answer_too_large"


async def test_a_gzip_bomb_is_counted_decompressed():
    compressor = zlib.compressobj(wbits=31)
    bomb = b"".join(compressor.compress(bytes(1_000_000)) for _ in range(200)) + compressor.flush()
    assert len(bomb) < 250_000
    with serving(reply(body=bomb, Content_Type="text/plain", Content_Encoding="gzip")) as server:
        tracemalloc.start()
        output = await call(binding(server), settings=UpstreamSettings(limits=Limits(max_response_bytes=100_000)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert output.meta[META]["error"] == "answer_too_large"
    assert peak < 8_000_000


async def test_a_compressed_answer_is_read():
    with serving(reply(body='{"a":1}', gzipped=True)) as server:
        output = await call(binding(server))
    assert (output.structured, output.is_error) == ({"a": 1}, False)


async def test_a_broken_content_encoding_is_told():
    with serving(reply(body="no gzip", Content_Encoding="gzip")) as server:
        output = await call(binding(server))
    assert (output.is_error, output.meta[META]["error"]) == (True, "answer_unreadable")


async def test_a_content_encoding_that_was_not_asked_for_is_told():
    with serving(reply(body="\x8b", Content_Encoding="br")) as server:
        output = await call(binding(server))
    assert server.seen[0].header("Accept-Encoding") == "gzip, deflate"
    assert output.meta[META]["error"] == "answer_unreadable"


# --- redirects ----------------------------------------------------------------------------------------


async def test_a_redirect_within_the_origin_is_followed_with_credentials():
    with serving(reply(307, Location="/other?x=1"), reply(body='{"ok":true}')) as server:
        output = await call(
            binding(server, method="PUT", body=BODY, security=secured("token")),
            {"body": {"n": 1}},
            settings=UpstreamSettings(credentials=CREDENTIALS, retry=QUICK),
        )
    assert output.structured == {"ok": True}
    assert [(seen.method, seen.target, seen.body) for seen in server.seen] == [
        ("PUT", "/j", b'{"n":1}'),
        ("PUT", "/other?x=1", b'{"n":1}'),
    ]
    assert server.seen[1].header("Authorization") == "Bearer t0p-secret-token"


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [(303, "POST", "GET"), (302, "POST", "GET"), (301, "POST", "GET"), (303, "PUT", "GET"), (301, "PUT", "PUT")],
)
async def test_a_redirect_that_becomes_get_drops_the_body(status, method, then):
    """RFC 9110, section 15.4."""
    with serving(reply(status, Location="/done"), reply()) as server:
        await call(binding(server, method=method, body=BODY), {"body": {"n": 1}})
    assert server.seen[1].method == then
    dropped = then == "GET"
    assert (server.seen[1].body == b"", server.seen[1].header("Content-Type") is None) == (dropped, dropped)


async def test_a_redirect_to_another_origin_is_not_followed_and_tells_where_it_leads():
    settings = UpstreamSettings(credentials=CREDENTIALS, retry=QUICK)
    with serving() as other, serving(reply(302, Location=f"{other.url}/x?key=s3cret%2Bkey#f")) as server:
        output = await call(binding(server, security=secured("key", "token")), settings=settings)
    assert other.seen == []
    assert (output.is_error, output.meta[META]["error"]) == (True, "redirect_refused")
    assert facts_of(output)["location"] == f"{other.url}/x"
    assert "s3cret" not in str(output)


@pytest.mark.parametrize(
    "location", ["//evil.example/x", "http://[x]/", "https://127.0.0.1/x", "ftp://127.0.0.1/x", "http://u:p@HOST/x"]
)
async def test_another_scheme_host_or_user_is_another_origin(location):
    with serving() as server:
        port = server.url.rpartition("/")[2]
        server._scripts.put(reply(302, Location=location.replace("HOST", port)))
        output = await call(binding(server))
    assert len(server.seen) == 1
    assert output.meta[META]["error"] == "redirect_refused"


async def test_a_redirect_loop_ends():
    with serving(reply(302, Location="/j")) as server:
        output = await call(binding(server), settings=UpstreamSettings(limits=Limits(max_redirects=3), retry=QUICK))
    assert len(server.seen) == 4
    assert output.meta[META]["error"] == "redirect_refused"


# --- what goes wrong ----------------------------------------------------------------------------------


async def test_no_connection_is_told_without_a_traceback():
    with serving() as server:
        operation = binding(server, method="POST")
    output = await call(operation)
    assert (output.is_error, output.meta[META]["error"]) == (True, "connect_failed")
    assert "Traceback" not in text_of(output)


async def test_a_broken_header_name_in_the_description_is_told():
    parameter = ParameterBinding(argument="x", name="X Bad", location="header", style="simple")
    with serving() as server:
        output = await call(binding(server, parameters=(parameter,)), {"x": "1"})
    assert server.seen == []
    assert output.meta[META]["error"] == "request_invalid"


async def test_a_dropped_connection_says_that_the_api_may_have_acted():
    with serving(drop) as server:
        output = await call(binding(server, method="POST", body=BODY), {"body": {}})
    assert len(server.seen) == 1
    assert output.meta[META]["error"] == "connection_lost"
    assert "may have acted" in text_of(output)


async def test_an_answer_that_ends_early_is_no_answer():
    def half(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"half")
        handler.close_connection = True

    with serving(half) as server:
        output = await call(binding(server, method="POST"))
    assert output.meta[META]["error"] == "connection_lost"


async def test_a_slow_answer_ends_with_the_tools_time_and_hangs_up():
    with serving(reply(), lambda handler: handler.wait_for_hang_up()) as server:
        upstream = Upstream({}, UpstreamSettings(limits=Limits(timeout_s=3)))
        async with upstream.open():
            await upstream.call("tool", binding(server), {})  # connects, so that the time goes into waiting
            output = await upstream.call("tool", binding(server), {})
        assert server.hung_up.wait(PATIENCE_S)
    assert output.meta[META]["error"] == "timed_out"
    assert facts_of(output)["timeout_s"] == 3


@pytest.mark.parametrize("script", [lambda handler: handler.wait_for_hang_up(), stall], ids=["waiting", "reading"])
async def test_cancelling_the_call_hangs_up(script):
    with serving(script) as server:
        upstream = Upstream({}, UpstreamSettings())
        async with upstream.open(), anyio.create_task_group() as tasks:
            tasks.start_soon(upstream.call, "tool", binding(server), {})
            reached = server.half_sent if script is stall else server.arrived
            assert await anyio.to_thread.run_sync(reached.wait, PATIENCE_S)
            tasks.cancel_scope.cancel()
        assert server.hung_up.wait(PATIENCE_S)
    assert len(server.seen) == 1
