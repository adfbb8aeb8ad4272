"""The lowlevel server checks the shape of the request and of the result, and nothing against the tool's schemas."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from common.memory import connect, fresh
from common.messages import call, compact, outcome, request
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, ListToolsResult, Tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DEFINITION = Tool(name="counted", input_schema=SCHEMA, output_schema=SCHEMA)


async def list_tools(*_args: Any) -> ListToolsResult:
    return ListToolsResult(tools=[DEFINITION])


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> Any:
    arguments = params.arguments or {}
    match params.name:
        case "raises":
            raise RuntimeError("a secret")
        case "untyped":
            return {"content": [], "structuredContent": {"n": 1}}
        case "misshapen":
            return {"resultType": "complete", "content": [{"type": "text"}]}
        case "extra":
            return {"resultType": "complete", "content": [], "x-own": 1}
        case _:
            return {"resultType": "complete", "content": [], "structuredContent": arguments}


def build() -> Server[Any]:
    return Server("research", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    logging.disable()
    async with connect(fresh(build)) as peer:
        answer = await peer.ask(call(1, "counted", n="no integer"))
        print(f"arguments and a structured result that break the schemas: {compact(answer['result'])}")
        print(f"a tool that is in no list reaches the handler: {outcome(await peer.ask(call(2, 'unknown')))}")
        print(f"params without a name: {outcome(await peer.ask(request(3, 'tools/call')))}")
        print(f"an exception is told whole: {outcome(await peer.ask(call(4, 'raises')))}")
        print(f"a dict without resultType: {outcome(await peer.ask(call(5, 'untyped')))}")
        answer = await peer.ask(call(6, "misshapen"))
        print(f"a content block without its text takes all content with it, in silence: {compact(answer['result'])}")
        answer = await peer.ask(call(7, "extra"))
        print(f"a key that the model does not know is dropped: {'x-own' not in answer['result']}")


if __name__ == "__main__":
    anyio.run(main)
