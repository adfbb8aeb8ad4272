"""Prompts, resources, templates and completions, read off the wire."""

from __future__ import annotations

import base64
import json

import anyio
import pytest

from discern_server.definition import DefinitionError
from discern_server.prompts import Prompt, PromptDefinition
from discern_server.protocol.pages import CacheHint
from discern_server.protocol.surface import Surface
from discern_server.resources import (
    Content,
    Resource,
    ResourceDefinition,
    ResourceTemplate,
    ResourceTemplateDefinition,
)
from tests.unit.protocol.raw import raw_client

pytestmark = pytest.mark.anyio

GREET = {
    "name": "greet",
    "title": "Greet",
    "description": "Says hello.",
    "arguments": [{"name": "who", "required": True}, {"name": "how"}],
    "x-vendor": [1],
    "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}],
    "_meta": {"a/b": None},
}


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def greet(args, ctx):
    return f"{args.get('how', 'hello')}, {args['who']}"


async def complete_who(args, ctx):
    return [name for name in ("ada", "alan", "grace") if name.startswith(args["value"])]


def prompt(handler=greet, wire=None, **completions) -> Prompt:
    return Prompt(PromptDefinition.from_wire(wire or GREET), handler, completions)


def resource(handler, uri="note:today", **wire) -> Resource:
    return Resource(ResourceDefinition.from_wire({"uri": uri, "name": "today", **wire}), handler)


def template(handler, uri="note://{day}", completions=None, **wire) -> ResourceTemplate:
    definition = ResourceTemplateDefinition.from_wire({"uriTemplate": uri, "name": "notes", **wire})
    return ResourceTemplate(definition, handler, completions or {})


def giving(value):
    async def handler(args, ctx):
        return value

    return handler


# --- prompts ----------------------------------------------------------------------------------------


async def test_a_prompt_is_listed_as_it_was_defined_and_gives_its_message():
    async with raw_client(Surface("s", "1", prompts=[prompt()])) as client:
        listed = await client.result("prompts/list")
        assert listed["prompts"] == [GREET]
        assert list(listed["prompts"][0]) == list(GREET)
        got = await client.result("prompts/get", name="greet", arguments={"who": "Ada"})
        assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": "hello, Ada"}}]
        assert got["description"] == "Says hello."
        assert got["resultType"] == "complete"


async def test_messages_may_be_given_one_by_one():
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    messages = ["first", {"role": "assistant", "content": "second"}, {"role": "user", "content": image}]
    async with raw_client(Surface("s", "1", prompts=[prompt(giving(messages))])) as client:
        got = await client.result("prompts/get", name="greet", arguments={"who": "x"})
        assert [message["role"] for message in got["messages"]] == ["user", "assistant", "user"]
        assert got["messages"][1]["content"] == {"type": "text", "text": "second"}
        assert got["messages"][2]["content"] == image


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({"name": "nope"}, "nope"),
        ({"name": "greet"}, "missing 'who'"),
        ({"name": "greet", "arguments": {"who": "x", "else": "y"}}, "unknown 'else'"),
    ],
    ids=["unknown-prompt", "missing-argument", "unknown-argument"],
)
async def test_a_wrong_request_for_a_prompt_is_refused_and_named(params, named):
    """server/prompts, "error handling": -32602."""
    async with raw_client(Surface("s", "1", prompts=[prompt()])) as client:
        error = await client.error("prompts/get", **params)
        assert error["code"] == -32602
        assert named in error["message"]


@pytest.mark.parametrize("value", ["\ud800", [{"role": "nobody", "content": "x"}], [{"role": "user", "content": 5}]])
async def test_a_prompt_that_cannot_be_sent_is_our_fault_and_the_connection_lives_on(value):
    async with raw_client(Surface("s", "1", prompts=[prompt(giving(value))])) as client:
        assert (await client.error("prompts/get", name="greet", arguments={"who": "x"}))["code"] == -32603
        assert "result" in await client.ask("prompts/list")


async def test_a_handler_that_raises_says_nothing_of_why():
    async def broken(args, ctx):
        raise RuntimeError("secret")

    async with raw_client(Surface("s", "1", prompts=[prompt(broken)], resources=[resource(broken)])) as client:
        for error in (
            await client.error("prompts/get", name="greet", arguments={"who": "x"}),
            await client.error("resources/read", uri="note:today"),
        ):
            assert error["code"] == -32603
            assert "secret" not in str(error)


# --- resources --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", {"text": "text"}),
        (b"\x00\xff", {"blob": base64.b64encode(b"\x00\xff").decode()}),
        ({"a": [1]}, {"text": '{"a": [1]}', "mimeType": "application/json"}),
        (
            Content(data="x", mime_type="text/x", meta={"a/b": 1}),
            {"text": "x", "mimeType": "text/x", "_meta": {"a/b": 1}},
        ),
    ],
    ids=["text", "bytes", "json", "content"],
)
async def test_a_resource_gives_text_bytes_or_json(value, content):
    async with raw_client(Surface("s", "1", resources=[resource(giving(value))])) as client:
        got = await client.result("resources/read", uri="note:today")
        assert got["contents"] == [{"uri": "note:today", **content}]


async def test_a_resource_may_have_several_contents_of_its_own_uris():
    contents = [Content(data="a", uri="note:a"), Content(data="b", uri="note:b"), "c"]
    async with raw_client(Surface("s", "1", resources=[resource(giving(contents), mimeType="text/plain")])) as client:
        got = await client.result("resources/read", uri="note:today")
        assert [content["uri"] for content in got["contents"]] == ["note:a", "note:b", "note:today"]
        assert {content["mimeType"] for content in got["contents"]} == {"text/plain"}


async def test_a_template_reads_the_resources_that_fit_it():
    async def read(args, ctx):
        return args["day"] if args["day"] != "never" else None

    async with raw_client(Surface("s", "1", templates=[template(read)])) as client:
        assert (await client.result("resources/read", uri="note://mon%20day"))["contents"][0]["text"] == "mon day"
        listed = await client.result("resources/templates/list")
        assert listed["resourceTemplates"] == [{"uriTemplate": "note://{day}", "name": "notes"}]
        assert (await client.result("resources/list"))["resources"] == []


@pytest.mark.parametrize("uri", ["else:x", "note://never"], ids=["nothing-fits", "handler-finds-nothing"])
async def test_a_resource_that_is_not_there_is_told_with_its_uri(uri):
    """server/resources, "error handling": -32602 in this revision."""

    async def read(args, ctx):
        return None

    async with raw_client(Surface("s", "1", templates=[template(read)])) as client:
        error = await client.error("resources/read", uri=uri)
        assert error["code"] == -32602
        assert error["data"] == {"uri": uri}


@pytest.mark.requirement(60)
async def test_caching_hints_are_given_for_each_method():
    surface = Surface(
        "s",
        "1",
        prompts=[prompt()],
        resources=[resource(giving("x"))],
        cache={"resources/read": CacheHint(ttl_ms=7), "prompts/list": CacheHint(ttl_ms=8, scope="public")},
    )
    async with raw_client(surface) as client:
        read = await client.result("resources/read", uri="note:today")
        assert (read["ttlMs"], read["cacheScope"]) == (7, "private")
        listed = await client.result("prompts/list")
        assert (listed["ttlMs"], listed["cacheScope"]) == (8, "public")
        discovered = await client.result("server/discover")
        assert (discovered["ttlMs"], discovered["cacheScope"]) == (0, "private")


@pytest.mark.parametrize(
    ("method", "key", "offers"),
    [
        ("prompts/list", "prompts", {"prompts": [prompt(wire={"name": f"p{n}"}) for n in range(5)]}),
        ("resources/list", "resources", {"resources": [resource(greet, uri=f"a:{n}") for n in range(5)]}),
        (
            "resources/templates/list",
            "resourceTemplates",
            {"templates": [template(greet, uri=f"a{n}:{{x}}") for n in range(5)]},
        ),
    ],
)
@pytest.mark.requirement(62)
async def test_every_list_has_pages_and_refuses_a_cursor_it_never_gave(method, key, offers):
    async with raw_client(Surface("s", "1", page_size=2, **offers)) as client:
        items, cursor = [], None
        while True:
            page = await client.result(method, **({} if cursor is None else {"cursor": cursor}))
            items += page[key]
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        assert len(items) == 5
        assert (await client.error(method, cursor="made-up"))["code"] == -32602


async def test_what_a_surface_has_not_is_neither_declared_nor_served():
    async with raw_client(Surface("s", "1")) as client:
        assert (await client.result("server/discover"))["capabilities"] == {"tools": {"listChanged": False}}
        for method in ("prompts/list", "resources/list", "resources/templates/list"):
            assert (await client.error(method))["code"] == -32601


# --- completions ------------------------------------------------------------------------------------


async def complete(client, ref, name="who", value="", **context):
    argument = {"name": name, "value": value}
    return await client.ask("completion/complete", ref=ref, argument=argument, **context)


async def test_arguments_are_completed_with_what_is_known_of_the_others():
    seen = []

    async def completer(args, ctx):
        seen.append(args)
        return await complete_who(args, ctx)

    async with raw_client(Surface("s", "1", prompts=[prompt(who=completer)])) as client:
        ref = {"type": "ref/prompt", "name": "greet"}
        answer = await complete(client, ref, value="a", context={"arguments": {"how": "hi"}})
        assert answer["result"]["completion"] == {"values": ["ada", "alan"], "total": 2}
        assert seen == [{"value": "a", "arguments": {"how": "hi"}}]
        answer = await complete(client, ref, name="how")
        assert answer["result"]["completion"] == {"values": [], "total": 0}


async def test_no_more_than_a_hundred_values_are_sent_and_the_rest_is_said():
    async def many(args, ctx):
        return [str(number) for number in range(150)]

    async with raw_client(Surface("s", "1", templates=[template(greet, completions={"day": many})])) as client:
        answer = await complete(client, {"type": "ref/resource", "uri": "note://{day}"}, name="day")
        completion = answer["result"]["completion"]
        assert (len(completion["values"]), completion["total"], completion["hasMore"]) == (100, 150, True)


@pytest.mark.parametrize("ref", [{"type": "ref/prompt", "name": "x"}, {"type": "ref/resource", "uri": "x:y"}])
async def test_completing_for_what_is_not_there_is_refused(ref):
    async with raw_client(Surface("s", "1", prompts=[prompt(who=complete_who)])) as client:
        assert (await complete(client, ref))["error"]["code"] == -32602


# --- definitions ------------------------------------------------------------------------------------


def test_every_fault_of_a_definition_is_told_with_its_place():
    with pytest.raises(DefinitionError) as caught:
        PromptDefinition.from_wire({"title": 5, "arguments": [{"required": "yes"}]}, "p.json")
    assert {diagnostic.path for diagnostic in caught.value.diagnostics} >= {
        "p.json#/title",
        "p.json#/arguments/0/required",
    }
    with pytest.raises(DefinitionError, match="uri"):
        ResourceDefinition.from_wire({"uri": "no scheme", "name": "x"})


def test_definitions_are_read_from_a_folder_in_the_order_of_the_files(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"name": name}), encoding="utf-8")
    (tmp_path / "README.md").write_text("not a definition", encoding="utf-8")
    assert [definition.name for definition in PromptDefinition.load(tmp_path)] == ["a", "b"]


def test_every_fault_of_every_file_of_a_folder_is_told_with_its_line(tmp_path):
    (tmp_path / "a.json").write_text('{\n  "uri": "no scheme",\n  "name": "a"\n}', encoding="utf-8")
    (tmp_path / "b.json").write_text("{", encoding="utf-8")
    with pytest.raises(DefinitionError) as caught:
        ResourceDefinition.load(tmp_path)
    first, second = caught.value.diagnostics
    assert (first.rule, first.line, first.path) == ("resource.shape", 2, f"{tmp_path / 'a.json'}#/uri")
    assert second.rule == "json.syntax"
    with pytest.raises(DefinitionError, match="cannot read the folder"):
        ResourceTemplateDefinition.load(tmp_path / "nowhere")


def test_a_definition_is_frozen_and_does_not_change_with_its_source():
    source = {"uri": "a:b", "name": "x", "annotations": {"audience": ["user"]}}
    definition = ResourceDefinition.from_wire(source)
    source["annotations"]["audience"].append("assistant")
    assert definition.wire["annotations"]["audience"] == ("user",)
    with pytest.raises(TypeError):
        definition.wire["name"] = "y"  # type: ignore[index]


async def test_a_plain_function_serves_in_a_thread():
    def read(args, ctx):
        anyio.from_thread.run(ctx.progress, 1, 1)
        return "from a thread"

    async with raw_client(Surface("s", "1", resources=[resource(read)])) as client:
        got = await client.result("resources/read", uri="note:today", _meta={"progressToken": "t"})
        assert got["contents"][0]["text"] == "from a thread"
        assert client.notifications[0]["params"] == {"progressToken": "t", "progress": 1, "total": 1}
