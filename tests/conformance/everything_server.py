"""The server that the official conformance suite runs against, written with the public API alone.

The names and the texts of its tools, prompts and resources are the suite's.

Usage: python tests/conformance/everything_server.py [--legacy serve] PORT
"""

from __future__ import annotations

import argparse
import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import anyio

from discern_server import (
    Catalog,
    Content,
    Handler,
    Prompt,
    PromptDefinition,
    RequestContext,
    RequestScope,
    Resource,
    ResourceDefinition,
    ResourceTemplate,
    ResourceTemplateDefinition,
    ServerFactory,
    Subscriptions,
    Surface,
    ToolDefinition,
    ToolOutput,
    http_app,
    serve_http,
)

Arguments = dict[str, Any]

# --- contents -----------------------------------------------------------------------------------------


def red_pixel() -> bytes:
    """A PNG of one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def silence() -> bytes:
    """A WAV of one silent sample."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sIB", b"data", 1, 128)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


PNG, WAV = red_pixel(), silence()


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image() -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}


def embedded(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


# --- tools that answer --------------------------------------------------------------------------------


async def simple_text(_args: Arguments, _ctx: RequestContext) -> str:
    return "This is a simple text response for testing."


async def image_content(_args: Arguments, _ctx: RequestContext) -> ToolOutput:
    return ToolOutput(content=(image(),))


async def audio_content(_args: Arguments, _ctx: RequestContext) -> ToolOutput:
    return ToolOutput(
        content=({"type": "audio", "data": base64.b64encode(WAV).decode(), "mimeType": "audio/wav"},),
    )


async def embedded_resource(_args: Arguments, _ctx: RequestContext) -> ToolOutput:
    return ToolOutput(
        content=(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),)
    )


async def multiple_content_types(_args: Arguments, _ctx: RequestContext) -> ToolOutput:
    mixed = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return ToolOutput(content=(text("Multiple content types test:"), image(), mixed))


async def error_handling(_args: Arguments, _ctx: RequestContext) -> ToolOutput:
    return ToolOutput(content=(text("This tool intentionally returns an error for testing"),), is_error=True)


async def with_logging(_args: Arguments, ctx: RequestContext) -> str:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", step)
        await anyio.sleep(0.05)
    return "Logged three times."


async def with_progress(_args: Arguments, ctx: RequestContext) -> str:
    for done in (0, 50, 100):
        await ctx.progress(done, 100)
        await anyio.sleep(0.05)
    return "Done in three steps."


async def echo_arguments(args: Arguments, _ctx: RequestContext) -> str:
    return json.dumps(args)


# --- tools that ask -----------------------------------------------------------------------------------

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def sampling_request(prompt: str, max_tokens: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": max_tokens}


async def ask_for_a_name(_args: Arguments, ctx: RequestContext) -> str:
    answer = await ctx.elicit("user_name", "What is your name?", NAME)
    return f"Hello, {answer.content.get('name', answer.action)}!"


async def ask_the_model(_args: Arguments, ctx: RequestContext) -> str:
    answer = await ctx.sample("capital_question", sampling_request("What is the capital of France?", 100))
    return json.dumps(answer["content"])


async def ask_for_the_roots(_args: Arguments, ctx: RequestContext) -> str:
    return json.dumps([root["uri"] for root in await ctx.roots("client_roots")])


async def ask_with_state(_args: Arguments, ctx: RequestContext) -> str:
    state = await ctx.once("state", lambda: "state-ok")
    await ctx.elicit("confirm", "Please confirm", OK)
    return str(state)


async def ask_everything(_args: Arguments, ctx: RequestContext) -> str:
    await ctx.once("state", lambda: "asked at once")
    answers: dict[str, Any] = {}

    async def ask(key: str, question: Any) -> None:
        answers[key] = await question

    async with anyio.create_task_group() as questions:
        questions.start_soon(ask, "name", ctx.elicit("user_name", "What is your name?", NAME))
        questions.start_soon(ask, "greeting", ctx.sample("greeting", sampling_request("Generate a greeting", 50)))
        questions.start_soon(ask, "roots", ctx.roots("client_roots"))
    return f"{answers['greeting']['content']['text']} {answers['name'].content['name']}"


async def ask_in_two_rounds(_args: Arguments, ctx: RequestContext) -> str:
    await ctx.once("state", lambda: "from the first round on")
    name = await ctx.elicit("step1", "Step 1: What is your name?", NAME)
    color_schema = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    color = await ctx.elicit("step2", "Step 2: What is your favorite color?", color_schema)
    return f"{name.content.get('name')} likes {color.content.get('color')}"


async def ask_within_the_capabilities(_args: Arguments, ctx: RequestContext) -> str:
    if "elicitation" in ctx.scope.capabilities:
        await ctx.elicit("confirm", "Please confirm", OK)
    if "sampling" in ctx.scope.capabilities:
        await ctx.sample("greeting", sampling_request("Generate a greeting", 50))
    return "Asked what could be asked."


async def need_sampling(_args: Arguments, ctx: RequestContext) -> str:
    await ctx.sample("anything", sampling_request("Anything", 10))
    return "The client can sample."


async def ask_after_progress(_args: Arguments, ctx: RequestContext) -> str:
    await ctx.progress(1, 2)
    await ctx.elicit("confirm", "Please confirm", OK)
    return "Confirmed."


async def ask_the_given_question(args: Arguments, ctx: RequestContext) -> str:
    answer = await ctx.elicit("user", args["message"], USER)
    return f"User response: action={answer.action}, content={json.dumps(dict(answer.content))}"


async def sample_the_given_prompt(args: Arguments, ctx: RequestContext) -> str:
    answer = await ctx.sample("prompt", sampling_request(args["prompt"], 100))
    return f"LLM response: {answer['content']['text']}"


USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}

DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}


def titled(prefix: str, *titles: str) -> list[dict[str, str]]:
    return [{"const": f"{prefix}{number}", "title": title} for number, title in enumerate(titles, 1)]


ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled("value", "First Option", "Second Option", "Third Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": titled("value", "First Choice", "Second Choice", "Third Choice")},
        },
    },
}


def ask_a_form(schema: Mapping[str, Any]) -> Handler:
    async def ask(_args: Arguments, ctx: RequestContext) -> str:
        answer = await ctx.elicit("form", "Please fill in", schema)
        return f"Elicitation completed: action={answer.action}, content={json.dumps(dict(answer.content))}"

    return ask


# --- tools that change the server ---------------------------------------------------------------------

CHANGES = Subscriptions()
EXTRA: dict[str, bool] = {"tool": False, "prompt": False}


async def change_tools(_args: Arguments, _ctx: RequestContext) -> str:
    EXTRA["tool"] = not EXTRA["tool"]
    await CHANGES.tools_changed()
    return "The list of tools is another one now."


async def change_prompts(_args: Arguments, _ctx: RequestContext) -> str:
    EXTRA["prompt"] = not EXTRA["prompt"]
    await CHANGES.prompts_changed()
    return "The list of prompts is another one now."


# --- the tables ---------------------------------------------------------------------------------------


def takes(*names: str, **properties: Any) -> dict[str, Any]:
    """A schema of required text arguments, and of `properties`."""
    texts: dict[str, Any] = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": texts | properties, "required": [*names], "additionalProperties": False}


KEYWORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

TOOLS: dict[str, tuple[Handler, str, dict[str, Any]]] = {
    "test_simple_text": (simple_text, "Answers with text.", takes()),
    "test_image_content": (image_content, "Answers with an image.", takes()),
    "test_audio_content": (audio_content, "Answers with audio.", takes()),
    "test_embedded_resource": (embedded_resource, "Answers with a resource.", takes()),
    "test_multiple_content_types": (multiple_content_types, "Answers with a mixture.", takes()),
    "test_error_handling": (error_handling, "Fails.", takes()),
    "test_tool_with_logging": (with_logging, "Logs three times.", takes()),
    "test_logging_tool": (with_logging, "Logs three times.", takes()),
    "test_tool_with_progress": (with_progress, "Reports progress.", takes()),
    "json_schema_2020_12_tool": (echo_arguments, "Tool with JSON Schema 2020-12 features", KEYWORDS),
    "test_custom_headers": (
        echo_arguments,
        "Mirrors an argument into a header.",
        takes(region={"type": "string", "x-mcp-header": "Region"}),
    ),
    "test_sampling": (sample_the_given_prompt, "Asks the client's model.", takes("prompt")),
    "test_elicitation": (ask_the_given_question, "Asks the user.", takes("message")),
    "test_elicitation_sep1034_defaults": (ask_a_form(DEFAULTS), "Asks with defaults.", takes()),
    "test_elicitation_sep1330_enums": (ask_a_form(ENUMS), "Asks with choices.", takes()),
    "test_missing_capability": (need_sampling, "Needs a client that can sample.", takes()),
    "test_streaming_elicitation": (ask_after_progress, "Reports, then asks.", takes()),
    "test_trigger_tool_change": (change_tools, "Changes the list of tools.", takes()),
    "test_trigger_prompt_change": (change_prompts, "Changes the list of prompts.", takes()),
    "test_input_required_result_elicitation": (ask_for_a_name, "Asks for a name.", takes()),
    "test_input_required_result_sampling": (ask_the_model, "Asks the client's model.", takes()),
    "test_input_required_result_list_roots": (ask_for_the_roots, "Asks for the roots.", takes()),
    "test_input_required_result_request_state": (ask_with_state, "Keeps state between rounds.", takes()),
    "test_input_required_result_tampered_state": (ask_with_state, "Keeps state between rounds.", takes()),
    "test_input_required_result_multiple_inputs": (ask_everything, "Asks three questions at once.", takes()),
    "test_input_required_result_multi_round": (ask_in_two_rounds, "Asks one question after another.", takes()),
    "test_input_required_result_capabilities": (ask_within_the_capabilities, "Asks what it can.", takes()),
}


async def prompt_simple(_args: Arguments, _ctx: RequestContext) -> str:
    return "This is a simple prompt for testing."


async def prompt_with_arguments(args: Arguments, _ctx: RequestContext) -> str:
    return f"Prompt with arguments: arg1='{args['arg1']}', arg2='{args['arg2']}'"


async def prompt_with_resource(args: Arguments, _ctx: RequestContext) -> Any:
    resource = embedded(args["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return [{"role": "user", "content": resource}, "Please process the embedded resource above."]


async def prompt_with_image(_args: Arguments, _ctx: RequestContext) -> Any:
    return [{"role": "user", "content": image()}, "Please analyze the image above."]


async def prompt_that_asks(_args: Arguments, ctx: RequestContext) -> str:
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    answer = await ctx.elicit("user_context", "What context should the prompt use?", schema)
    return f"In the context of {answer.content.get('context')}"


async def complete_arg1(args: Arguments, _ctx: RequestContext) -> list[str]:
    return [word for word in ("paris", "park", "party") if word.startswith(args["value"])]


def prompt(name: str, handler: Handler, *arguments: str, **completions: Handler) -> Prompt:
    told = [{"name": argument, "description": f"The {argument}.", "required": True} for argument in arguments]
    definition = {"name": name, "description": name.replace("_", " "), "arguments": told}
    return Prompt(PromptDefinition.from_wire(definition), handler, completions)


PROMPTS = (
    prompt("test_simple_prompt", prompt_simple),
    prompt("test_prompt_with_arguments", prompt_with_arguments, "arg1", "arg2", arg1=complete_arg1),
    prompt("test_prompt_with_embedded_resource", prompt_with_resource, "resourceUri"),
    prompt("test_prompt_with_image", prompt_with_image),
    prompt("test_input_required_result_prompt", prompt_that_asks),
)


async def static_text(_args: Arguments, _ctx: RequestContext) -> str:
    return "This is the content of the static text resource."


async def static_binary(_args: Arguments, _ctx: RequestContext) -> Content:
    return Content(data=PNG)


async def template_data(args: Arguments, _ctx: RequestContext) -> str:
    return json.dumps({"id": args["id"], "templateTest": True, "data": f"Data for ID: {args['id']}"})


def resource(uri: str, mime_type: str, handler: Handler) -> Resource:
    name = uri.removeprefix("test://")
    definition = {"uri": uri, "name": name, "description": f"The resource {name}.", "mimeType": mime_type}
    return Resource(ResourceDefinition.from_wire(definition), handler)


RESOURCES = (
    resource("test://static-text", "text/plain", static_text),
    resource("test://static-binary", "image/png", static_binary),
    resource("test://watched-resource", "text/plain", static_text),
)
TEMPLATES = (
    ResourceTemplate(
        ResourceTemplateDefinition.from_wire(
            {
                "uriTemplate": "test://template/{id}/data",
                "name": "template",
                "description": "A resource for each id.",
                "mimeType": "application/json",
            }
        ),
        template_data,
    ),
)


def surface(*, extra_tool: bool, extra_prompt: bool) -> Surface:
    tools = dict(TOOLS)
    if extra_tool:
        tools["test_extra"] = (simple_text, "There since the list was changed.", takes())
    prompts = [*PROMPTS]
    if extra_prompt:
        prompts.append(prompt("test_extra", prompt_simple))
    definitions = [
        ToolDefinition.from_wire({"name": name, "description": description, "inputSchema": schema})
        for name, (_, description, schema) in tools.items()
    ]
    return Surface(
        "everything",
        "1",
        Catalog.of(definitions),
        {name: handler for name, (handler, _, _) in tools.items()},
        prompts=prompts,
        resources=RESOURCES,
        templates=TEMPLATES,
        logging=True,
    )


SURFACES = {
    (tool, prompt): surface(extra_tool=tool, extra_prompt=prompt) for tool in (False, True) for prompt in (False, True)
}


def choose(_scope: RequestScope) -> Surface:
    return SURFACES[EXTRA["tool"], EXTRA["prompt"]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--legacy", choices=["reject", "serve"], default="reject")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    factory = ServerFactory(choose, subscriptions=CHANGES, state_keys=["a key for tests alone, of 32 bytes"])
    serve_http(http_app(factory, legacy=options.legacy), port=options.port)


if __name__ == "__main__":
    main()
