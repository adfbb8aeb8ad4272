"""JSON-RPC messages as lines of the event loop's own pipes: the streams that the dispatcher reads and writes.

A line is parsed (`parsing`) and a message is serialized as the SDK's `stdio_server` does it, by the SDK's own adapter
and models. What is left out are its two tasks and the queues between them and the dispatcher: a fifth of the time of a
call. Where a side cannot be watched by the event loop, `stdio_server` does all of it, on threads.
"""

from __future__ import annotations

import logging
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCResponse
from pydantic_core import PydanticSerializationError

from discern_server.protocol.parsing import parse
from discern_server.protocol.pipes import LineReader, LineWriter

logger = logging.getLogger(__name__)


class MessageReader:
    """The messages that come in on `lines`."""

    def __init__(self, lines: LineReader) -> None:
        self._lines = lines

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or what is wrong with the line in its place; raises `anyio.EndOfStream` at the end."""
        try:
            line = await anext(self._lines)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None
        try:
            return SessionMessage(parse(line))
        except ValueError as error:
            return error

    async def aclose(self) -> None:
        """End the messages here."""
        self._lines.stop()


class MessageWriter:
    """Messages that go out on `lines`, in the order in which they are sent, each whole."""

    def __init__(self, lines: LineWriter) -> None:
        self._lines = lines

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message."""
        try:
            text = _serialized(item.message)
        except PydanticSerializationError:
            logger.exception("a message cannot be written")
            spare = _spare(item.message)
            if spare is None:
                return
            text = _serialized(spare)
        await self._lines.write(text)

    async def aclose(self) -> None:
        """Nothing to close: the descriptor is its owner's."""


def _serialized(message: Any) -> str:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text + "\n"


def _spare(message: Any) -> JSONRPCError | None:
    """What is written in the place of an answer that cannot be: an error without what it holds of the request."""
    if isinstance(message, JSONRPCResponse):
        error = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
    elif isinstance(message, JSONRPCError):
        told = message.error.message.encode("utf-8", "replace").decode("utf-8")
        error = ErrorData(code=message.error.code, message=told)
    else:
        return None
    return JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
