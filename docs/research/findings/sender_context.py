"""The dispatcher looks for `last_context` on the stream it reads: what the sender's context holds reaches handlers."""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator
from typing import Any, Self

import anyio
from common.messages import request
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

COLOUR: contextvars.ContextVar[str] = contextvars.ContextVar("COLOUR", default="none")


class Stream:
    """One request, then the end."""

    def __init__(self) -> None:
        self._items = [SessionMessage(jsonrpc_message_adapter.validate_python(request(1, "ping"), by_name=False))]

    def __aiter__(self) -> AsyncIterator[SessionMessage]:
        return self

    async def __anext__(self) -> SessionMessage:
        if not self._items:
            await anyio.wait_all_tasks_blocked()
            raise StopAsyncIteration
        return self._items.pop()

    async def receive(self) -> SessionMessage:
        return await self.__anext__()

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        pass


class Blue(Stream):
    """A stream whose sender has set the colour."""

    @property
    def last_context(self) -> contextvars.Context:
        context = contextvars.copy_context()
        context.run(COLOUR.set, "blue")
        return context


async def seen_from(stream: Any) -> str:
    seen = ""

    async def on_request(*_args: Any) -> dict[str, Any]:
        nonlocal seen
        seen = COLOUR.get()
        return {}

    async def on_notify(*_args: Any) -> None:
        return

    write, kept = anyio.create_memory_object_stream[SessionMessage](1)
    async with write, kept:
        await JSONRPCDispatcher(stream, write).run(on_request, on_notify)
    return seen


async def main() -> None:
    print(f"a stream without last_context: {await seen_from(Stream())}")
    print(f"a stream with it: {await seen_from(Blue())}")


if __name__ == "__main__":
    anyio.run(main)
