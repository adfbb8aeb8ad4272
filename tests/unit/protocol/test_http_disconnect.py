"""The client's side of one exchange: its body, and that it leaves."""

from __future__ import annotations

import anyio
import pytest

from discern_server.protocol.http_disconnect import (
    BodyTooLargeError,
    ClientLeftError,
    cancel_when_client_leaves,
    read_body,
    replay,
)

GONE = {"type": "http.disconnect"}


def channel(*messages: dict):
    remaining = iter(messages)

    async def receive():
        return next(remaining)

    return receive


def part(body: bytes, *, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.fixture
def anyio_backend():
    return "asyncio"


pytestmark = pytest.mark.anyio


async def test_a_body_in_parts_is_put_together():
    receive = channel(part(b"a", more=True), part(b"", more=True), {"type": "http.request", "body": b"bc"})
    assert await read_body(receive, None, 3) == b"abc"


async def test_a_request_without_a_body_has_an_empty_one():
    assert await read_body(channel({"type": "http.request"}), None, 3) == b""


@pytest.mark.parametrize("declared", ["4", "9" * 5000])
async def test_a_body_that_is_declared_too_large_is_not_read(declared):
    with pytest.raises(BodyTooLargeError):
        await read_body(channel(), declared, 3)


@pytest.mark.parametrize("declared", [None, "3", "-1", "x"])
async def test_a_body_that_turns_out_too_large_is_not_read_on(declared):
    with pytest.raises(BodyTooLargeError):
        await read_body(channel(part(b"ab", more=True), part(b"cd", more=True)), declared, 3)


async def test_a_client_that_leaves_within_its_body_is_told_apart():
    with pytest.raises(ClientLeftError):
        await read_body(channel(part(b"a", more=True), GONE), None, 3)


async def test_a_body_is_given_again_once_and_then_the_channel_itself():
    again = replay(b"abc", channel(GONE))
    assert await again() == part(b"abc")
    assert await again() == GONE


async def test_what_runs_inside_is_cancelled_when_the_client_leaves():
    ran_on = False
    with anyio.fail_after(60):
        with cancel_when_client_leaves(channel(part(b""), GONE)):
            await anyio.sleep_forever()
            ran_on = True
    assert not ran_on


async def test_a_client_that_stays_is_not_asked_about_further():
    asked = anyio.Event()

    async def receive():
        asked.set()
        await anyio.sleep_forever()

    with anyio.fail_after(60), cancel_when_client_leaves(receive):
        await asked.wait()
    await anyio.lowlevel.checkpoint()
