"""`transport_builder` decides whether a handler may call back: `can_send_request=False` makes it raise."""

from __future__ import annotations

from typing import Any

import anyio
from common.memory import connect, fresh
from common.messages import call
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import CallToolRequestParams

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


async def call_tool(ctx: Any, _params: CallToolRequestParams) -> dict[str, Any]:
    try:
        await ctx.session.elicit_form("Who are you?", SCHEMA, related_request_id=ctx.request_id)
    except NoBackChannelError as error:
        return {"resultType": "complete", "content": [], "structuredContent": {"raised": type(error).__name__}}
    raise AssertionError


def transport(metadata: MessageMetadata) -> TransportContext:
    assert isinstance(metadata, ServerMessageMetadata)
    return TransportContext(kind="research", can_send_request=metadata.can_send_request)


async def main() -> None:
    build = fresh(lambda: Server("research", version="1", on_call_tool=call_tool))  # type: ignore[arg-type]
    for may_send in (False, True):
        async with connect(build, transport_builder=transport) as peer:
            await peer.send(call(1, "ask"), ServerMessageMetadata(can_send_request=may_send))
            message = await peer.receive()
            told = message.get("method") or message["result"]["structuredContent"]
            print(f"can_send_request={may_send}: the client receives {told}")


if __name__ == "__main__":
    anyio.run(main)
