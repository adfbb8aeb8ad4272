"""After a handshake only the `Connection` must persist: each request may have a server of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from common.messages import initialize, legacy_request, notification, outcome
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import CallToolRequestParams, jsonrpc_message_adapter


async def call_tool(ctx: Any, _params: CallToolRequestParams) -> dict[str, Any]:
    return {"content": [], "structuredContent": {"client": ctx.session.client_params.client_info.name}}


async def serve(inline_methods: frozenset[str]) -> list[str]:
    """Send the whole handshake and a call at once; return what each request got, in the order of the ids."""
    sender, read = anyio.create_memory_object_stream[Any](10)
    write, receiver = anyio.create_memory_object_stream[SessionMessage](10)
    dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(read, write, inline_methods=inline_methods)
    connection = Connection.for_loop(dispatcher)
    built = 0

    async def on_request(dctx: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        nonlocal built
        built += 1
        server = Server("research", version="1", on_call_tool=call_tool)  # type: ignore[arg-type]
        return await ServerRunner(server, connection, None).on_request(dctx, method, params)

    async def on_notify(*_args: Any) -> None:
        return

    async with anyio.create_task_group() as tasks, sender, receiver:
        tasks.start_soon(dispatcher.run, on_request, on_notify)
        await send(sender, initialize(1), legacy_request(2, "tools/call", name="any"))
        answers = [(await receiver.receive()).message.model_dump(by_alias=True, exclude_unset=True) for _ in range(2)]
        await send(sender, notification("notifications/initialized"))
        tasks.cancel_scope.cancel()
    answers.sort(key=lambda answer: answer["id"])
    shown = [outcome(answer) for answer in answers]
    return [*shown, f"revision {connection.protocol_version}", f"{built} servers built"]


async def send(sender: MemoryObjectSendStream[Any], *messages: Mapping[str, Any]) -> None:
    for message in messages:
        await sender.send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))


async def main() -> None:
    print(f"initialize inline, a call pipelined behind it: {await serve(frozenset({'initialize'}))}")


if __name__ == "__main__":
    anyio.run(main)
