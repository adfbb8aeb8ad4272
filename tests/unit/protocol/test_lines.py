"""Messages on the lines of a pipe: parsed and serialized as the SDK does it, each by itself."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from discern_server.protocol.lines import MessageReader, MessageWriter
from discern_server.protocol.pipes import LineReader, LineWriter

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


async def written(pipe: tuple[int, int], *messages: Any) -> list[Any]:
    """What `messages` are on the wire."""
    read_end, write_end = pipe
    writer = MessageWriter(LineWriter(write_end, on_broken=lambda: None))
    for message in messages:
        await writer.send(SessionMessage(message))
    os.close(write_end)
    with os.fdopen(os.dup(read_end), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


async def test_lines_are_read_as_messages_until_the_end(pipe):
    read_end, write_end = pipe
    os.write(write_end, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot JSON\n{"jsonrpc":"2.0","method":"n"}\n')
    os.close(write_end)
    reader = MessageReader(LineReader(read_end, max_line_bytes=100))
    with anyio.fail_after(60):
        request, fault, notification = [await reader.receive() for _ in range(3)]
        with pytest.raises(anyio.EndOfStream):
            await reader.receive()
    assert request == SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping"))
    assert isinstance(fault, ValueError)
    assert notification == SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="n"))


async def test_closing_ends_the_messages(pipe):
    read_end, _ = pipe
    reader = MessageReader(LineReader(read_end, max_line_bytes=100))
    await reader.aclose()
    with pytest.raises(anyio.EndOfStream):
        await reader.receive()


async def test_a_member_that_was_not_set_is_not_written(pipe):
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"é": None})
    assert await written(pipe, message) == [{"jsonrpc": "2.0", "id": 1, "result": {"é": None}}]


async def test_an_answer_that_cannot_be_written_costs_that_answer_alone(pipe, caplog):
    good = JSONRPCResponse(jsonrpc="2.0", id=2, result={})
    assert await written(pipe, JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "\ud800"}), good) == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Internal server error"}},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
    ]
    assert "cannot be written" in caplog.text


async def test_a_notification_that_cannot_be_written_is_left_out(pipe):
    bad = JSONRPCNotification(jsonrpc="2.0", method="n", params={"text": "\ud800"})
    assert await written(pipe, bad) == []


async def test_an_error_that_cannot_be_written_loses_what_it_repeats_of_the_request(pipe):
    bad = ErrorData(code=-32601, message="no \ud800", data="\ud800")
    assert await written(pipe, JSONRPCError(jsonrpc="2.0", id="a", error=bad)) == [
        {"jsonrpc": "2.0", "id": "a", "error": {"code": -32601, "message": "no ?"}}
    ]
