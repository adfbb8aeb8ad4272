"""Subscriptions, log entries and progress: what a server says besides its answers."""

from __future__ import annotations

from types import SimpleNamespace

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.protocol import context
from discern_server.protocol.events import Subscriptions
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.memory import memory_streams
from discern_server.protocol.scopes import RequiredScopes
from discern_server.protocol.surface import Surface
from discern_server.resources import Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition
from tests.unit.protocol.raw import RawClient, raw_client

pytestmark = pytest.mark.anyio

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def surface(handler, **options) -> Surface:
    definition = ToolDefinition.from_wire({"name": "t", "inputSchema": {"type": "object"}})
    return Surface("s", "1", Catalog.of([definition]), {"t": handler}, **options)


async def nothing(args, ctx):
    return None


def readable(**options) -> Surface:
    """A surface with the resources ``a:b`` and ``a:secret``, and the template ``t:{x}``."""
    return Surface(
        "s",
        "1",
        resources=[
            Resource(ResourceDefinition.from_wire({"uri": uri, "name": uri}), nothing) for uri in ("a:b", "a:secret")
        ],
        templates=[
            ResourceTemplate(ResourceTemplateDefinition.from_wire({"uriTemplate": "t:{x}", "name": "t"}), nothing)
        ],
        **options,
    )


async def acknowledged(client: RawClient, **notifications) -> dict:
    """Listen, and what the server said it would tell."""
    await client.request("subscriptions/listen", notifications=notifications)
    message = await client.receive()
    assert message["method"] == "notifications/subscriptions/acknowledged", message
    return message["params"]["notifications"]


@pytest.mark.requirement(37, 38)
async def test_a_listener_is_acknowledged_and_told_only_what_it_asked_for():
    subscriptions = Subscriptions()
    async with raw_client(ServerFactory(readable(), subscriptions=subscriptions)) as client:
        listening = await client.request(
            "subscriptions/listen", notifications={"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}
        )
        first = await client.receive()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["_meta"][SUBSCRIPTION] == listening
        await subscriptions.prompts_changed()
        await subscriptions.resource_updated("else:x")
        await subscriptions.resource_updated("a:b")
        await subscriptions.tools_changed()
        told = [await client.receive(), await client.receive()]
        assert [message["method"] for message in told] == [
            "notifications/resources/updated",
            "notifications/tools/list_changed",
        ]
        assert {message["params"]["_meta"][SUBSCRIPTION] for message in told} == {listening}


@pytest.mark.requirement(38, 40)
async def test_two_listeners_on_fresh_servers_share_the_bus_and_a_stream_ends_with_an_answer():
    subscriptions = Subscriptions()
    async with raw_client(ServerFactory(surface(nothing), subscriptions=subscriptions)) as client:
        first = await client.request("subscriptions/listen", notifications={"toolsListChanged": True})
        second = await client.request("subscriptions/listen", notifications={"toolsListChanged": True})
        for _ in range(2):
            await client.receive()
        await subscriptions.tools_changed()
        told = [await client.receive() for _ in range(2)]
        assert {message["params"]["_meta"][SUBSCRIPTION] for message in told} == {first, second}
        subscriptions.close()
        ended = [await client.receive() for _ in range(2)]
        assert {message["id"] for message in ended} == {first, second}
        assert all(message["result"]["_meta"][SUBSCRIPTION] == message["id"] for message in ended)


@pytest.mark.requirement(40)
async def test_listening_takes_no_room_from_the_requests_in_flight_and_ends_with_the_input():
    subscriptions = Subscriptions()
    factory = ServerFactory(surface(nothing), subscriptions=subscriptions)
    async with memory_streams(factory, max_in_flight=1) as (read, write):
        client = RawClient(read, write)
        listening = await client.request("subscriptions/listen", notifications={"toolsListChanged": True})
        await client.receive()
        assert "result" in await client.ask("tools/list")
        await write.aclose()
        ended = await client.receive()
        assert ended["id"] == listening
        assert "result" in ended


async def test_a_client_that_leaves_ends_its_own_streams_alone():
    subscriptions = Subscriptions(max_streams=2)
    factory = ServerFactory(surface(nothing), subscriptions=subscriptions)
    async with raw_client(factory) as staying:
        await acknowledged(staying, toolsListChanged=True)
        for _ in range(3):  # more often than there are places: each one is given back
            async with raw_client(factory) as leaving:
                await acknowledged(leaving, toolsListChanged=True)
        await subscriptions.tools_changed()
        assert (await staying.receive())["method"] == "notifications/tools/list_changed"


async def test_no_more_streams_are_open_than_may_be_and_a_further_one_is_told_why():
    factory = ServerFactory(surface(nothing), subscriptions=Subscriptions(max_streams=1))
    async with raw_client(factory) as first, raw_client(factory) as second:
        await acknowledged(first, toolsListChanged=True)
        refused = await second.error("subscriptions/listen", notifications={"toolsListChanged": True})
        assert (refused["code"], "All 1 streams" in refused["message"]) == (-32603, True)


async def test_a_stream_that_is_asked_for_with_the_last_words_is_answered_too():
    factory = ServerFactory(surface(nothing), subscriptions=Subscriptions())
    async with memory_streams(factory) as (read, write):
        client = RawClient(read, write)
        listening = await client.request("subscriptions/listen", notifications={"toolsListChanged": True})
        await write.aclose()
        answer = await client.answer(listening)
        assert answer.keys() & {"result", "error"}


async def test_a_resource_that_is_hidden_from_the_caller_is_left_out_as_one_that_is_not_there():
    subscriptions = Subscriptions()
    hiding = readable(required_scopes=RequiredScopes(resources={"a:secret": ["admin"]}))
    async with raw_client(ServerFactory(hiding, subscriptions=subscriptions)) as client:
        told = await acknowledged(client, resourceSubscriptions=["a:b", "a:secret", "a:none", "t:1"])
        assert told == {"resourceSubscriptions": ["a:b", "t:1"]}
        for uri in ("a:secret", "a:none", "a:b"):
            await subscriptions.resource_updated(uri)
        assert (await client.receive())["params"]["uri"] == "a:b"
    async with raw_client(ServerFactory(hiding, subscriptions=subscriptions)) as client:
        assert await acknowledged(client, resourceSubscriptions=["a:secret"]) == {}


async def test_a_template_that_is_hidden_lets_nobody_listen_to_its_resources():
    hiding = readable(required_scopes=RequiredScopes(templates={"t:{x}": ["admin"]}))
    async with raw_client(ServerFactory(hiding, subscriptions=Subscriptions())) as client:
        assert await acknowledged(client, resourceSubscriptions=["t:1"], toolsListChanged=True) == {
            "toolsListChanged": True
        }


async def test_one_stream_listens_to_a_bounded_number_of_resources():
    async with raw_client(ServerFactory(readable(), subscriptions=Subscriptions())) as client:
        many = [f"t:{number}" for number in range(1025)]
        refused = await client.error("subscriptions/listen", notifications={"resourceSubscriptions": many})
        assert (refused["code"], "1024" in refused["message"]) == (-32602, True)


@pytest.mark.requirement(39)
async def test_without_subscriptions_the_server_declares_none_and_knows_no_such_method():
    async with raw_client(surface(nothing)) as client:
        assert (await client.error("subscriptions/listen", notifications={}))["code"] == -32601
    async with raw_client(ServerFactory(surface(nothing), subscriptions=Subscriptions())) as client:
        assert (await client.result("server/discover"))["capabilities"] == {"tools": {"listChanged": True}}


# --- logging ----------------------------------------------------------------------------------------


async def logs(args, ctx):
    for level in ("debug", "info", "error"):
        await ctx.log(level, {"at": level}, "t")


async def logged(client, **meta) -> list[str]:
    await client.result("tools/call", name="t", arguments={}, _meta=meta)
    return [note["params"]["level"] for note in client.notifications if note["method"] == "notifications/message"]


@pytest.mark.parametrize(
    ("level", "sent"),
    [(None, []), ("debug", ["debug", "info", "error"]), ("info", ["info", "error"]), ("critical", [])],
)
@pytest.mark.requirement(64)
async def test_log_entries_go_only_to_a_request_that_asked_for_their_level(level, sent):
    async with raw_client(surface(logs, logging=True)) as client:
        meta = {} if level is None else {"io.modelcontextprotocol/logLevel": level}
        assert await logged(client, **meta) == sent


@pytest.mark.requirement(66)
async def test_a_surface_without_logging_declares_none_and_sends_none():
    async with raw_client(surface(logs)) as client:
        assert "logging" not in (await client.result("server/discover"))["capabilities"]
        assert await logged(client, **{"io.modelcontextprotocol/logLevel": "debug"}) == []
    async with raw_client(surface(logs, logging=True)) as client:
        assert "logging" in (await client.result("server/discover"))["capabilities"]


# --- progress ---------------------------------------------------------------------------------------


async def progress_of(handler) -> list[dict]:
    async with raw_client(surface(handler)) as client:
        await client.result("tools/call", name="t", arguments={}, _meta={"progressToken": 0})
        return [note["params"] for note in client.notifications if note["method"] == "notifications/progress"]


@pytest.mark.requirement(35)
async def test_progress_that_does_not_grow_is_dropped():
    async def handler(args, ctx):
        for done in (1, 1, 0.5, 2, float("nan"), float("inf"), 3):
            await ctx.progress(done)

    assert [note["progress"] for note in await progress_of(handler)] == [1, 2, 3]


@pytest.mark.requirement(36)
async def test_the_rate_of_progress_is_limited_and_the_last_value_passes(monkeypatch):
    monkeypatch.setattr(context, "time", SimpleNamespace(monotonic=lambda: 0.0))

    async def handler(args, ctx):
        for done in range(1, 1001):
            await ctx.progress(done, 1000)

    assert [note["progress"] for note in await progress_of(handler)] == [*range(1, 21), 1000]


async def test_as_time_goes_by_progress_is_let_through_again(monkeypatch):
    now = 0.0
    monkeypatch.setattr(context, "time", SimpleNamespace(monotonic=lambda: now))

    async def handler(args, ctx):
        nonlocal now
        for done in range(1, 1001):
            await ctx.progress(done, 2000)
        now = 0.1
        for done in range(1001, 1101):
            await ctx.progress(done, 2000)

    assert [note["progress"] for note in await progress_of(handler)] == [*range(1, 21), 1001, 1002]


async def test_progress_carries_a_message_that_can_be_written():
    async def handler(args, ctx):
        await ctx.progress(1, 2, "half \ud800")

    assert await progress_of(handler) == [{"progressToken": 0, "progress": 1, "total": 2, "message": "half ?"}]


@pytest.mark.requirement(30)
async def test_a_cancelled_request_stops_its_handler():
    stopped = anyio.Event()

    async def handler(args, ctx):
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with raw_client(surface(handler)) as client:
        asked = await client.request("tools/call", name="t", arguments={})
        await anyio.wait_all_tasks_blocked()
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})
        with anyio.fail_after(60):
            await stopped.wait()
        assert "result" in await client.ask("tools/list")
        assert client.notifications == []


# --- what a handler raises --------------------------------------------------------------------------


async def raises_in_a_task_group(args, ctx):
    async def fail() -> None:
        raise RuntimeError("a secret")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fail)


async def raises_a_protocol_error_in_a_task_group(args, ctx):
    async def fail() -> None:
        raise MCPError(code=-32021, message="needs more")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fail)


async def leaves(args, ctx):
    raise SystemExit(3)


@pytest.mark.parametrize("handler", [raises_in_a_task_group, leaves], ids=["task group", "sys.exit"])
async def test_whatever_a_handler_raises_is_a_failed_tool_and_the_server_lives_on(handler):
    async with raw_client(surface(handler)) as client:
        result = await client.result("tools/call", name="t", arguments={})
        assert result["structuredContent"]["error"] == "tool_failed"
        assert "secret" not in str(result)
        assert "result" in await client.ask("tools/list")


async def test_a_protocol_error_of_a_handler_s_task_is_told_as_one():
    async with raw_client(surface(raises_a_protocol_error_in_a_task_group)) as client:
        assert (await client.error("tools/call", name="t", arguments={}))["code"] == -32021
