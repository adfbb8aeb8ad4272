"""Asking the client in the middle of a request: rounds, sealed state, capabilities."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.surface import Surface
from tests.unit.protocol.raw import raw_client

pytestmark = pytest.mark.anyio

NAME = {"properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}
KEYS = ["k" * 32]


@pytest.fixture
def anyio_backend():
    return "asyncio"


def factory(handler, *, keys=KEYS, name="s") -> ServerFactory:
    definition = ToolDefinition.from_wire({"name": "ask", "inputSchema": {"type": "object"}})
    return ServerFactory(Surface(name, "1", Catalog.of([definition]), {"ask": handler}), state_keys=keys)


async def two_questions(args, ctx):
    who = await ctx.elicit("who", "Who?", NAME)
    if not who.accepted:
        return f"nobody ({who.action})"
    sure = await ctx.elicit("sure", f"Sure, {who.content['name']}?", {"properties": {"yes": {"type": "boolean"}}})
    return f"{who.content['name']}: {sure.content.get('yes')}"


def accept(**content):
    return {"action": "accept", "content": content}


@pytest.mark.requirement(29, 42)
async def test_a_handler_asks_one_question_after_another_and_keeps_nothing_in_between():
    async with raw_client(factory(two_questions)) as client:
        first = await client.result("tools/call", name="ask", arguments={})
        assert first["resultType"] == "input_required"
        assert first["inputRequests"] == {
            "who": {
                "method": "elicitation/create",
                "params": {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", **NAME}},
            }
        }
        second = await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        assert list(second["inputRequests"]) == ["sure"]
        assert "Ada" not in second["requestState"]
        # The answer to the first question is not sent again: the sealed state carries it.
        third = await client.result(
            "tools/call",
            name="ask",
            arguments={},
            inputResponses={"sure": accept(yes=True)},
            requestState=second["requestState"],
        )
        assert third["content"] == [{"type": "text", "text": "Ada: True"}]


async def test_the_rounds_of_a_request_may_land_on_replicas_that_share_the_keys():
    async with raw_client(factory(two_questions)) as one, raw_client(factory(two_questions)) as other:
        second = await one.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        third = await other.result(
            "tools/call",
            name="ask",
            arguments={},
            inputResponses={"sure": accept(yes=False)},
            requestState=second["requestState"],
        )
        assert third["content"] == [{"type": "text", "text": "Ada: False"}]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: {"requestState": state[:-2] + ("AA" if not state.endswith("AA") else "BB")},
        lambda _state: {"requestState": "forged"},
        lambda state: {"requestState": state, "arguments": {"other": 1}},
    ],
    ids=["tampered", "forged", "other-arguments"],
)
@pytest.mark.requirement(43, 44)
async def test_a_state_that_is_not_what_was_given_out_is_refused(change):
    async with raw_client(factory(two_questions)) as client:
        state = (
            await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        )["requestState"]
        error = await client.error("tools/call", **{"name": "ask", "arguments": {}, **change(state)})
        assert error["code"] == -32602


@pytest.mark.requirement(43, 44)
async def test_a_state_of_another_key_or_another_service_is_refused():
    async with raw_client(factory(two_questions)) as client:
        state = (
            await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        )["requestState"]
    for other in (factory(two_questions, keys=["x" * 32]), factory(two_questions, name="another")):
        async with raw_client(other) as client:
            error = await client.error("tools/call", name="ask", arguments={}, requestState=state)
            assert error["code"] == -32602


async def test_the_key_ring_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("DISCERN_STATE_KEYS", f"{'new' * 11} {'old' * 11}")
    async with raw_client(factory(two_questions, keys=None)) as client:
        state = (
            await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        )["requestState"]
    async with raw_client(factory(two_questions, keys=["new" * 11])) as client:
        result = await client.result("tools/call", name="ask", arguments={}, requestState=state)
        assert list(result["inputRequests"]) == ["sure"]


async def test_what_is_done_once_is_done_in_the_first_round_alone():
    quotes = iter([100, 200])

    async def quote():
        return {"price": next(quotes)}

    async def offer(args, ctx):
        quoted = await ctx.once("quote", quote)
        label = await ctx.once("label", lambda: ("a", "b"))
        answer = await ctx.elicit("sure", f"For {quoted['price']}?", {"properties": {"yes": {"type": "boolean"}}})
        return {"price": quoted["price"], "yes": answer.content["yes"], "label": label}

    async with raw_client(factory(offer)) as one, raw_client(factory(offer)) as other:
        first = await one.result("tools/call", name="ask", arguments={})
        assert first["inputRequests"]["sure"]["params"]["message"] == "For 100?"
        assert "price" not in first["requestState"]
        for _ in range(2):
            last = await other.result(
                "tools/call",
                name="ask",
                arguments={},
                inputResponses={"sure": accept(yes=True), "quote": accept(price=1)},
                requestState=first["requestState"],
            )
            assert last["structuredContent"] == {"price": 100, "yes": True, "label": ["a", "b"]}
    assert next(quotes) == 200


async def in_a_task_group(args, ctx):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ctx.elicit, "a", "A?", NAME)
        tasks.start_soon(ctx.elicit, "b", "B?", NAME)
    return "both"


async def gathered(args, ctx):
    await asyncio.gather(ctx.elicit("a", "A?", NAME), ctx.elicit("b", "B?", NAME))
    return "both"


@pytest.mark.parametrize("handler", [in_a_task_group, gathered])
async def test_questions_that_are_asked_at_the_same_time_are_put_in_one_round(handler):
    async with raw_client(factory(handler)) as client:
        first = await client.result("tools/call", name="ask", arguments={})
        assert set(first["inputRequests"]) == {"a", "b"}
        answers = {"a": accept(name="x"), "b": accept(name="y")}
        second = await client.result("tools/call", name="ask", arguments={}, inputResponses=answers)
        assert second["content"] == [{"type": "text", "text": "both"}]


@pytest.mark.requirement(45)
async def test_only_what_is_still_missing_is_asked_for():
    async with raw_client(factory(in_a_task_group)) as client:
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses={"a": accept(name="x")})
        assert set(result["inputRequests"]) == {"b"}


@pytest.mark.parametrize(
    "answer",
    [accept(), accept(name=""), accept(name=5), {"action": "accept"}],
    ids=["missing", "too-short", "wrong-type", "no-content"],
)
async def test_an_answer_that_breaks_its_schema_is_asked_for_again(answer):
    async with raw_client(factory(two_questions)) as client:
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": answer})
        assert list(result["inputRequests"]) == ["who"]
        assert "requestState" not in result


@pytest.mark.requirement(45)
async def test_an_answer_to_a_question_that_nobody_asked_is_ignored():
    async with raw_client(factory(two_questions)) as client:
        responses = {"who": accept(name="Ada"), "else": accept(name="x")}
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses=responses)
        assert list(result["inputRequests"]) == ["sure"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_say_no(action):
    async with raw_client(factory(two_questions)) as client:
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": {"action": action}})
        assert result["content"] == [{"type": "text", "text": f"nobody ({action})"}]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_what_comes_with_a_no_was_not_checked_and_is_not_told(action):
    async def told(_args: Any, ctx: Any) -> Any:
        answer = await ctx.elicit("who", "Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        return dict(answer.content)

    async with raw_client(factory(told)) as client:
        responses = {"who": {"action": action, "content": {"name": 5}}}
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses=responses)
        assert result["structuredContent"] == {}


@pytest.mark.parametrize(
    ("capabilities", "served"),
    [
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({}, False),
    ],
    ids=["empty-means-form", "form", "url-only", "none"],
)
@pytest.mark.requirement(13, 42)
async def test_a_client_that_did_not_declare_the_capability_is_refused(capabilities, served):
    """basic/index: -32021 with what is required."""
    async with raw_client(factory(two_questions)) as client:
        meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
        answer = await client.ask("tools/call", name="ask", arguments={}, _meta=meta)
        if served:
            assert answer["result"]["resultType"] == "input_required"
        else:
            assert answer["error"]["code"] == -32021
            assert answer["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_a_page_a_model_and_the_roots_can_be_asked_for_too():
    async def handler(args, ctx):
        page = await ctx.elicit_url("page", "Log in", "https://example.com/login")
        said = await ctx.sample("said", {"messages": [], "maxTokens": 5})
        roots = await ctx.roots()
        return [page.action, said["model"], roots[0]["uri"]]

    said = {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"}
    answers = {"page": {"action": "accept"}, "said": said, "roots": {"roots": [{"uri": "file:///x"}]}}
    async with raw_client(factory(handler)) as client:
        asked = []
        given: dict = {}
        state: dict = {}
        for _ in range(4):
            result = await client.result("tools/call", name="ask", arguments={}, inputResponses=given, **state)
            if result["resultType"] == "complete":
                break
            asked.append({key: request["method"] for key, request in result["inputRequests"].items()})
            given = {key: answers[key] for key in result["inputRequests"]}
            state = {"requestState": result["requestState"]} if "requestState" in result else {}
        assert asked == [{"page": "elicitation/create"}, {"said": "sampling/createMessage"}, {"roots": "roots/list"}]
        assert result["structuredContent"] == ["accept", "m", "file:///x"]


async def test_a_handler_s_own_exception_handling_does_not_swallow_the_question():
    async def handler(args, ctx):
        try:
            return (await ctx.elicit("who", "Who?", NAME)).action
        except Exception:  # noqa: BLE001 - what a careless handler does
            return "swallowed"

    async with raw_client(factory(handler)) as client:
        assert (await client.result("tools/call", name="ask", arguments={}))["resultType"] == "input_required"


async def test_a_plain_function_asks_from_its_thread():
    def handler(args, ctx):
        return anyio.from_thread.run(ctx.elicit, "who", "Who?", NAME).content["name"]

    async with raw_client(factory(handler)) as client:
        assert (await client.result("tools/call", name="ask", arguments={}))["resultType"] == "input_required"
        result = await client.result("tools/call", name="ask", arguments={}, inputResponses={"who": accept(name="Ada")})
        assert result["content"] == [{"type": "text", "text": "Ada"}]


async def test_in_a_handshake_revision_the_question_goes_over_the_channel():
    async with raw_client(factory(two_questions), legacy="serve") as client:
        await client.send(
            {
                "jsonrpc": "2.0",
                "id": 100,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"elicitation": {}},
                    "clientInfo": {"name": "old", "version": "1"},
                },
            }
        )
        await client.answer(100)
        await client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = {"jsonrpc": "2.0", "id": 101, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
        await client.send(call)
        for answer in (accept(name="Ada"), accept(yes=True)):
            asked = await client.receive()
            assert asked["method"] == "elicitation/create"
            await client.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        assert (await client.answer(101))["result"]["content"] == [{"type": "text", "text": "Ada: True"}]
