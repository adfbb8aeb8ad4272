"""Lines off a descriptor and text onto it, on the event loop."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tracemalloc

import anyio
import anyio.lowlevel
import pytest

from discern_server.protocol.pipes import OVERLONG, READ_AHEAD_BYTES, LineReader, LineWriter

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


async def lines_of(*chunks: bytes, max_line_bytes: int = 1 << 20) -> list[str]:
    read_end, write_end = os.pipe()
    reader = LineReader(read_end, max_line_bytes=max_line_bytes)
    try:
        for chunk in chunks:
            os.write(write_end, chunk)
            await anyio.lowlevel.checkpoint()  # lets the reader take this piece by itself
        os.close(write_end)
        with anyio.fail_after(60):
            return [line async for line in reader]
    finally:
        reader.close()
        os.close(read_end)


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"one\ntwo\n"], ["one", "two"]),
        ([b"in ", b"pie", b"ces\n"], ["in pieces"]),
        ([b"a\nb", b"c\nd\n"], ["a", "bc", "d"]),
        ([b"\n\n  \nonly\n\n"], ["only"]),
        ([b"without a last newline"], ["without a last newline"]),
        ([b"crlf\r\n"], ["crlf\r"]),
        (["€😀\n".encode()[:2], "€😀\n".encode()[2:]], ["€😀"]),
        ([b"bad \xff byte\n"], ["bad \udcff byte"]),
        (["a\u2028b\u0085c\n".encode()], ["a\u2028b\u0085c"]),
        ([], []),
    ],
    ids=[
        "two",
        "pieces",
        "across",
        "blank",
        "no-newline",
        "crlf",
        "split-character",
        "bad-utf8",
        "separators",
        "empty",
    ],
)
async def test_lines_end_at_a_line_feed_alone(chunks, lines):
    assert await lines_of(*chunks) == lines


@pytest.mark.parametrize("chunks", [[b"x" * 11 + b"\nok\n"], [b"x" * 8, b"x" * 8, b"x" * 8 + b"\nok\n"]])
async def test_an_overlong_line_is_replaced_and_the_next_one_is_whole(chunks):
    assert await lines_of(*chunks, max_line_bytes=10) == [OVERLONG, "ok"]


async def test_a_line_of_just_the_allowed_length_is_kept():
    assert await lines_of(b"x" * 10 + b"\n", max_line_bytes=10) == ["x" * 10]


async def test_stopping_ends_the_lines(pipe):
    read_end, write_end = pipe
    reader = LineReader(read_end, max_line_bytes=100)
    async with anyio.create_task_group() as tasks:

        async def read() -> None:
            assert [line async for line in reader] == []

        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        reader.stop()
    os.write(write_end, b"nobody reads this\n")


async def write_until_it_blocks(write_end: int, line: bytes) -> int:
    """How many bytes of repeated lines a reader takes that nobody iterates."""
    written = 0
    os.set_blocking(write_end, False)
    text = line * (65536 // len(line))
    idle = 0
    with anyio.fail_after(60):
        while idle < 50:
            try:
                written += os.write(write_end, text)
                idle = 0
            except BlockingIOError:
                idle += 1
            await anyio.lowlevel.checkpoint()
    return written


async def test_reading_ahead_is_bounded(pipe):
    read_end, write_end = pipe
    reader = LineReader(read_end, max_line_bytes=READ_AHEAD_BYTES)
    written = await write_until_it_blocks(write_end, b"x" * 1023 + b"\n")
    assert READ_AHEAD_BYTES * 9 // 10 <= written < READ_AHEAD_BYTES + (2 << 20)
    reader.close()


@pytest.mark.parametrize("line", [b"{}\n", b"x" * 40 + b"\n"], ids=["2 bytes", "40 bytes"])
async def test_short_lines_take_no_more_memory_than_may_be_read_ahead(pipe, line):
    read_end, write_end = pipe
    reader = LineReader(read_end, max_line_bytes=100)
    tracemalloc.start()
    try:
        await write_until_it_blocks(write_end, line)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # What the allocator rounds up and a filled block of the queue are not traced.
    assert READ_AHEAD_BYTES / 2 < taken < READ_AHEAD_BYTES
    reader.close()


async def test_a_line_that_comes_in_small_pieces_takes_no_more_memory_than_its_bytes(pipe):
    read_end, write_end = pipe
    reader = LineReader(read_end, max_line_bytes=1 << 20)
    tracemalloc.start()
    try:
        for _ in range(10_000):
            os.write(write_end, b"ab")
            await anyio.lowlevel.checkpoint()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken < 100_000
    os.write(write_end, b"\n")
    assert await anext(reader) == "ab" * 10_000
    reader.close()


async def test_the_descriptor_is_never_made_non_blocking(pipe):
    """O_NONBLOCK belongs to the open file, which a parent may share."""
    read_end, write_end = pipe
    reader = LineReader(read_end, max_line_bytes=100)
    writer = LineWriter(write_end, on_broken=lambda: None)
    await writer.write("hello\n")
    assert await anext(reader) == "hello"
    for end in (read_end, write_end):
        assert not fcntl.fcntl(end, fcntl.F_GETFL) & os.O_NONBLOCK
    reader.close()


async def test_a_text_larger_than_the_pipe_is_written_whole_while_others_run(pipe):
    read_end, write_end = pipe
    text = "é" * 300_000 + "\n"
    reader = LineReader(read_end, max_line_bytes=1 << 20)
    writer = LineWriter(write_end, on_broken=lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.write, text)
        with anyio.fail_after(60):
            assert await anext(reader) == text.rstrip("\n")
    reader.close()


async def test_a_reader_that_went_away_is_told_once_and_later_writes_are_dropped(pipe):
    read_end, write_end = pipe
    os.close(read_end)
    told = []
    writer = LineWriter(write_end, on_broken=lambda: told.append(True))
    await writer.write("one\n")
    await writer.write("two\n")
    assert told == [True]


async def test_texts_written_by_several_at_once_are_each_whole_and_in_order(pipe):
    read_end, write_end = pipe
    texts = [letter * 100_000 for letter in "abc"]
    reader = LineReader(read_end, max_line_bytes=1 << 20)
    writer = LineWriter(write_end, on_broken=lambda: None)
    async with anyio.create_task_group() as tasks:
        for text in texts:
            tasks.start_soon(writer.write, text + "\n")
        with anyio.fail_after(60):
            assert [await anext(reader) for _ in texts] == texts
    reader.close()


async def test_a_text_is_written_whole_although_its_writer_is_cancelled(pipe):
    """Half a line would spoil the next one."""
    read_end, write_end = pipe
    text = "x" * 300_000
    writer = LineWriter(write_end, on_broken=lambda: None)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.write, text + "\n")
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    reader = LineReader(read_end, max_line_bytes=1 << 20)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.write, "next\n")
        with anyio.fail_after(60):
            assert [await anext(reader), await anext(reader)] == [text, "next"]
    reader.close()


async def test_a_reader_that_goes_away_releases_whoever_waits_to_write(pipe):
    read_end, write_end = pipe
    writer = LineWriter(write_end, on_broken=lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.write, "x" * 300_000 + "\n")
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(60):
            os.close(read_end)
            await writer.write("next\n")


@pytest.mark.parametrize("sizes", [(70_000,), (1, 4095, 4096, 70_000), (1 << 20, 1)])
async def test_a_pipe_that_nobody_reads_from_never_blocks_the_loop(pipe, sizes):
    """Whatever lies in it already, and however much is to be written."""
    _, write_end = pipe
    writer = LineWriter(write_end, on_broken=lambda: None)
    for size in sizes:
        with anyio.move_on_after(0.01) as scope:
            await writer.write("x" * size)
    assert scope.cancelled_caught
    writer.close()
