"""A connection in memory: the SDK's dispatcher, a server built for each request, and our end of the streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import MessageMetadata, SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from common.messages import ENVELOPE, MODERN

OnRequest = Callable[[Any, str, Mapping[str, Any] | None], Any]


class Peer:
    """The client's end."""

    def __init__(
        self, sender: MemoryObjectSendStream[Any], receiver: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        self._sender = sender
        self._receiver = receiver

    async def send(self, message: Mapping[str, Any], metadata: MessageMetadata = None) -> None:
        """Send one message, parsed as the transports parse it; its id is kept as it is given."""
        parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
        if isinstance(parsed, JSONRPCRequest):
            parsed.id = message["id"]
        await self._sender.send(SessionMessage(parsed, metadata))

    async def send_error(self, error: Exception) -> None:
        """Hand over what a transport hands over in the place of a line that it could not read."""
        await self._sender.send(error)

    async def receive(self) -> dict[str, Any]:
        """The next message, as the transports would write it."""
        item = await self._receiver.receive()
        return item.message.model_dump(by_alias=True, exclude_unset=True)

    async def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return the next message."""
        await self.send(message)
        return await self.receive()

    def end_input(self) -> None:
        """What a transport does at the end of its input."""
        self._sender.close()


@asynccontextmanager
async def connect(on_request: OnRequest, **options: Any) -> AsyncIterator[Peer]:
    """A dispatcher that answers with `on_request`; `options` are the dispatcher's own."""

    async def on_notify(*_args: Any) -> None:
        return

    to_server, at_server = anyio.create_memory_object_stream[Any](100)
    from_server, at_client = anyio.create_memory_object_stream[SessionMessage](100)
    dispatcher = JSONRPCDispatcher(at_server, from_server, **options)
    async with to_server, at_server, from_server, at_client, anyio.create_task_group() as tasks:
        tasks.start_soon(dispatcher.run, on_request, on_notify)
        yield Peer(to_server, at_client)
        tasks.cancel_scope.cancel()


def fresh(build: Callable[[], Server[Any]]) -> OnRequest:
    """An `OnRequest` that serves each request from a server of its own."""

    async def on_request(dctx: Any, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        connection = Connection.from_envelope(MODERN, None, ENVELOPE["io.modelcontextprotocol/clientCapabilities"])
        return await serve_one(build(), dctx, method, params, connection=connection, lifespan_state=None)

    return on_request
