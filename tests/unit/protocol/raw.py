"""Raw JSON-RPC over memory: what a test says is what the server reads, and what comes back is plain JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.memory import memory_streams
from discern_server.protocol.surface import Surface

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
}


class RawClient:
    """Sends messages as they are and keeps the notifications that come before an answer."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write
        self._id = 0
        self.notifications: list[dict[str, Any]] = []

    async def send(self, message: Mapping[str, Any]) -> None:
        await self._write.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))

    async def receive(self) -> dict[str, Any]:
        with anyio.fail_after(60):
            item = await self._read.receive()
        return item.message.model_dump(by_alias=True, exclude_unset=True)

    async def request(self, method: str, **params: Any) -> int:
        """Send a modern request; members of ``_meta`` are added to the envelope."""
        self._id += 1
        params["_meta"] = {**ENVELOPE, **params.get("_meta", {})}
        await self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    async def answer(self, request_id: int) -> dict[str, Any]:
        while True:
            message = await self.receive()
            if message.get("id") == request_id and "method" not in message:
                return message
            self.notifications.append(message)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer to a modern request."""
        return await self.answer(await self.request(method, **params))

    async def result(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a modern request, which must have one."""
        answer = await self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, **params: Any) -> dict[str, Any]:
        """The error of a modern request, which must have one."""
        answer = await self.ask(method, **params)
        assert "error" in answer, answer
        return answer["error"]


@asynccontextmanager
async def raw_client(served: ServerFactory | Surface, **options: Any) -> AsyncIterator[RawClient]:
    factory = served if isinstance(served, ServerFactory) else ServerFactory(served)
    async with memory_streams(factory, **options) as (read, write):
        yield RawClient(read, write)
