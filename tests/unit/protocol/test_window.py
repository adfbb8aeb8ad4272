"""The window of open requests: back-pressure, draining, and the two wrapped streams."""

from __future__ import annotations

from typing import Self

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from discern_server.protocol.parsing import UnreadableError
from discern_server.protocol.window import StoppableRead, Window, WindowedRead, WindowedWrite

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def request(id: int | str) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=id, method="tools/list"))


def response(id: int | str) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=id, result={}))


class Wire:
    """Both wrapped streams over memory streams."""

    def __init__(self, window: Window, *, ended: bool = False) -> None:
        self.feed, inner_read = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        inner_write, self.written = anyio.create_memory_object_stream[SessionMessage](100)
        self.read = WindowedRead(
            inner_read, window, can_send_request=lambda _request: False, input_ended=lambda: ended, at_end=lambda: None
        )
        self.write = WindowedWrite(inner_write, window)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self.feed.close()
        self.written.close()
        await self.read.aclose()
        await self.write.aclose()


async def test_reading_pauses_while_the_window_is_full_and_goes_on_once_one_is_answered():
    async with Wire(Window(1, 1.0)) as wire:
        await wire.feed.send(request(1))
        await wire.feed.send(request(2))
        await wire.read.receive()
        got = []

        async def read_another() -> None:
            got.append(await wire.read.receive())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_another)
            await anyio.wait_all_tasks_blocked()
            assert got == []
            await wire.write.send(response(1))
        assert got[0].message.id == 2


async def test_the_end_of_the_input_is_held_back_until_all_is_answered():
    async with Wire(Window(10, 30.0)) as wire:
        await wire.feed.send(request(1))
        wire.feed.close()
        await wire.read.receive()
        ended = anyio.Event()

        async def read_to_the_end() -> None:
            with pytest.raises(anyio.EndOfStream):
                await wire.read.receive()
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_to_the_end)
            await anyio.wait_all_tasks_blocked()
            assert not ended.is_set()
            await wire.write.send(response(1))
            with anyio.fail_after(60):
                await ended.wait()


async def test_a_request_that_runs_too_long_is_given_up_at_the_end():
    async with Wire(Window(10, 0.01)) as wire:
        await wire.feed.send(request(1))
        wire.feed.close()
        await wire.read.receive()
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await wire.read.receive()


async def test_a_full_window_that_does_not_move_ends_an_input_that_has_ended():
    async with Wire(Window(1, 0.01), ended=True) as wire:
        await wire.feed.send(request(1))
        await wire.feed.send(request(2))
        await wire.read.receive()
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await wire.read.receive()


async def test_a_request_with_the_id_of_an_open_one_is_refused_and_the_id_is_free_once_that_is_answered():
    async with Wire(Window(10, 30.0)) as wire:
        for message in (request(1), request("1"), request(1)):
            await wire.feed.send(message)
        assert [(await wire.read.receive()).message.id for _ in range(2)] == [1, "1"]
        refused = await wire.read.receive()
        assert isinstance(refused, UnreadableError)
        assert (refused.code, refused.id) == (-32600, 1)
        await wire.write.send(response(1))
        await wire.feed.send(request(1))
        assert (await wire.read.receive()).message.id == 1


async def test_a_cancelled_request_counts_as_done_though_it_is_never_answered():
    async with Wire(Window(10, 30.0)) as wire:
        await wire.feed.send(request(1))
        wire.feed.close()
        item = await wire.read.receive()
        assert item.metadata.on_request_unanswered is not None
        await item.metadata.on_request_unanswered()
        with anyio.fail_after(60), pytest.raises(anyio.EndOfStream):
            await wire.read.receive()


async def test_stopping_ends_the_input_although_the_stream_behind_is_open():
    feed, inner = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    async with feed, StoppableRead(inner) as stream:
        await feed.send(request(1))
        assert (await stream.receive()).message.id == 1
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                with pytest.raises(anyio.EndOfStream):
                    await stream.receive()

            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            stream.stop()
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()


async def test_a_string_id_stays_a_string_also_where_it_is_cancelled():
    async with Wire(Window(10, 1.0)) as wire:
        await wire.feed.send(request("5"))
        cancelled = JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": "5", "reason": "r"}
        )
        await wire.feed.send(SessionMessage(cancelled))
        asked = (await wire.read.receive()).message
        named = (await wire.read.receive()).message.params["requestId"]
        for value in (asked.id, named):
            assert value == "5"
            with pytest.raises(ValueError, match="string id"):
                int(value)


@pytest.mark.requirement(9)
async def test_what_the_dispatcher_gives_up_is_not_said_in_a_code_that_new_code_should_not_use():
    """basic/index: no codes in -32000..-32019."""
    async with Wire(Window(10, 1.0)) as wire:
        error = ErrorData(code=-32000, message="Connection closed")
        await wire.feed.send(request(1))
        await wire.read.receive()
        await wire.write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=1, error=error)))
        assert (await wire.written.receive()).message.error.code == -32603


async def test_an_error_without_an_id_counts_nothing_out():
    window = Window(1, 1.0)
    async with Wire(window) as wire:
        await wire.feed.send(request(1))
        await wire.read.receive()
        error = ErrorData(code=-32700, message="Parse error")
        await wire.write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=None, error=error)))
        assert not window.has_room


async def test_an_input_that_ends_while_the_window_is_full_ends_although_nothing_moves():
    window = Window(1, 0.01)
    ended = False
    feed, inner = anyio.create_memory_object_stream[SessionMessage | Exception](10)
    read = WindowedRead(
        inner, window, can_send_request=lambda _request: False, input_ended=lambda: ended, at_end=lambda: None
    )
    await feed.send(request(1))
    await feed.send(request(2))
    await read.receive()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:

            async def read_on() -> None:
                with pytest.raises(anyio.EndOfStream):
                    await read.receive()

            tasks.start_soon(read_on)
            await anyio.wait_all_tasks_blocked()
            ended = True
            window.wake()
    feed.close()
    inner.close()
