"""discern-server's stdio loop cut off at a layer: what lies above answers with a constant.

Usage: python layers.py TOOLS_FILE LAYER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, cast

import anyio
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from ours import surface

from discern_server import ServerFactory, serve_stdio
from discern_server.protocol.lines import MessageReader, MessageWriter
from discern_server.protocol.pipes import LineReader, LineWriter
from discern_server.protocol.window import Window, WindowedRead, WindowedWrite


def result(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a call, made with as little work as there can be."""
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": json.dumps(arguments)}],
        "structuredContent": arguments,
    }


async def pipes(reader: LineReader, writer: LineWriter) -> None:
    """Lines alone: a line is parsed by the standard library, and answered."""
    async for line in reader:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result(request["params"].get("arguments", {}))}
        await writer.write(json.dumps(answer) + "\n")


async def messages(reader: LineReader, writer: LineWriter) -> None:
    """Messages: parsed and serialized by the SDK's models."""
    read, write = MessageReader(reader), MessageWriter(writer)
    while True:
        try:
            item = await read.receive()
        except anyio.EndOfStream:
            return
        assert isinstance(item, SessionMessage)
        assert isinstance(item.message, JSONRPCRequest)
        answer = result((item.message.params or {}).get("arguments", {}))
        await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result=answer)))


async def dispatcher(reader: LineReader, writer: LineWriter) -> None:
    """The SDK's dispatcher, a task for each request, and the window of open requests around it."""
    counts = Window(256, 1.5)
    read = WindowedRead(
        MessageReader(reader),
        counts,
        can_send_request=lambda _request: False,
        input_ended=lambda: reader.at_end,
        at_end=lambda: None,
    )

    async def on_request(_dctx: Any, _method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        return result((params or {}).get("arguments", {}))

    async def on_notify(*_args: Any) -> None:
        return

    write = WindowedWrite(MessageWriter(writer), counts)
    await JSONRPCDispatcher(cast("Any", read), write).run(on_request, on_notify)


LAYERS: Final[dict[str, Callable[[LineReader, LineWriter], Coroutine[Any, Any, None]]]] = {
    "pipes": pipes,
    "messages": messages,
    "dispatcher": dispatcher,
}


async def serve(layer: str) -> None:
    reader = LineReader(0, max_line_bytes=1 << 20)
    await LAYERS[layer](reader, LineWriter(1, on_broken=lambda: None))


if __name__ == "__main__":
    if sys.argv[2] == "whole":
        serve_stdio(ServerFactory(surface(Path(sys.argv[1]))))
    else:
        anyio.run(serve, sys.argv[2])
