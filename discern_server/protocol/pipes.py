"""Standard input and output on the event loop, instead of on two threads.

`native_stdio` gives lines of text that wait for readiness on the event loop, and None for a side where that cannot
be had (a regular file, Windows, another event loop): the SDK's `stdio_server` then uses its threads for that
side. It reads and writes the other one through ours: all that it asks of a stream is to be iterated, written and
flushed.

While they are open, descriptor 0 is the null device and descriptor 1 is standard error, so that whatever a
handler or its child process prints misses the wire. Explicit streams skip the SDK's own diversion, so
that is done here. ``O_NONBLOCK`` is never set: it belongs to the open file, which a parent, a terminal
or a ``2>&1`` may share. A single reader never blocks after readiness; writes are cut to ``PIPE_BUF``,
which a pipe that polls writable takes whole, or to all that fits where the system tells that a pipe is empty.
"""

from __future__ import annotations

import asyncio
import os
import select
import stat
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

_READ_SIZE: Final = 1 << 18
_PIPE_BUF: Final = getattr(select, "PIPE_BUF", 512)
READ_AHEAD_BYTES: Final = 16 << 20
"""How much memory unread input may take before the client's writes block: a client that writes all its requests
before it reads an answer is served up to here, and cannot fill memory beyond."""
LINE_OVERHEAD_BYTES: Final = sys.getsizeof(b"") + 16 + 8
"""What a line takes beside its bytes: the object, rounded up to 16, and its place in the queue. A client that sends
lines of two bytes would else fill twenty times the memory."""

OVERLONG: Final = "\x00overlong"
"""Stands in the place of a line that was longer than allowed. It is no JSON, so the SDK reports it as unparsable."""


class LineReader:
    """An async iterator over the lines of a descriptor, as text, without their line feed.

    A byte that is no UTF-8 stands in the text as a lone surrogate (PEP 383), so that the line can be refused.

    Args:
        descriptor: What to read; the caller owns it.
        max_line_bytes: A line longer than this is not kept: `OVERLONG` is given in its place.
    """

    def __init__(self, descriptor: int, *, max_line_bytes: int) -> None:
        self._descriptor = descriptor
        self._max_line_bytes = max_line_bytes
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._buffered = 0
        self._partial = bytearray()
        self._partial_size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._watching = False
        self._tell_ended: Callable[[], None] = lambda: None
        self.at_end = False
        self._watch()

    def when_ended(self, tell: Callable[[], None]) -> None:
        """Call `tell` once the input has ended."""
        self._tell_ended = tell

    def stop(self) -> None:
        """End the input here: what has been read and not yet iterated is dropped."""
        self._lines.clear()
        self._partial.clear()
        self._end()

    def close(self) -> None:
        """Stop watching the descriptor."""
        self._unwatch()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        if self._lines:
            await asyncio.sleep(0)  # between the lines of a burst the requests before them run
        while not self._lines:
            if self.at_end:
                raise StopAsyncIteration
            self._waiter = self._loop.create_future()
            await self._waiter
        line = self._lines.popleft()
        self._buffered -= len(line) + LINE_OVERHEAD_BYTES
        if self._buffered < READ_AHEAD_BYTES:
            self._watch()
        return line.decode("utf-8", "surrogateescape")

    def _watch(self) -> None:
        if not self._watching and not self.at_end:
            self._loop.add_reader(self._descriptor, self._on_readable)
            self._watching = True

    def _unwatch(self) -> None:
        if self._watching:
            self._loop.remove_reader(self._descriptor)
            self._watching = False

    def _on_readable(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""  # the other end of a socket or terminal went away
        if data:
            self._take(data)
        else:
            if self._partial_size:
                self._complete_line(b"")
            self._end()
        if self._lines:
            self._wake()
        if self._buffered >= READ_AHEAD_BYTES:
            self._unwatch()

    def _take(self, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._complete_line(piece)
        if rest:
            self._partial_size += len(rest)
            if self._partial_size <= self._max_line_bytes:
                self._partial += rest
            else:
                self._partial = bytearray()

    def _complete_line(self, piece: bytes) -> None:
        size = self._partial_size + len(piece)
        line = b"".join((self._partial, piece)) if self._partial else piece
        self._partial = bytearray()
        self._partial_size = 0
        if size > self._max_line_bytes:
            line = OVERLONG.encode("ascii")
        elif not line.strip():
            return  # a blank line is no message
        self._lines.append(line)
        self._buffered += len(line) + LINE_OVERHEAD_BYTES

    def _end(self) -> None:
        self.at_end = True
        self._unwatch()
        self._wake()
        self._tell_ended()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class LineWriter:
    """Writes text to a descriptor, waiting on the event loop while it is full.

    What has been handed over is written whole and in order, also where whoever waits for it is cancelled: half a
    line would spoil the next one.

    Args:
        descriptor: What to write to; the caller owns it.
        on_broken: Called once, when the other end has gone. What is written after that is dropped.
    """

    def __init__(self, descriptor: int, *, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._capacity = _pipe_capacity(descriptor)
        self._texts: deque[_Text] = deque()
        self._watching = False
        self._broken = False

    def close(self) -> None:
        """Stop watching the descriptor."""
        self._unwatch()

    async def write(self, text: str) -> None:
        """Write `text` whole, after whatever was written before."""
        if self._broken:
            return
        mine = _Text(memoryview(text.encode("utf-8")))
        self._texts.append(mine)
        if not self._watching:
            self._write_on()
        if mine.rest and not self._broken:
            mine.written = self._loop.create_future()
            await mine.written

    async def flush(self) -> None:
        """Wait until all that was handed over is written, or the other end has gone."""
        while self._texts and not self._broken:
            last = self._texts[-1]
            if last.written is None:
                last.written = self._loop.create_future()
            await last.written

    def _write_on(self) -> None:
        """Write as much as the descriptor takes, and watch it while there is more."""
        try:
            while self._texts and self._poll.poll(0):
                text = self._texts[0]
                text.rest = text.rest[os.write(self._descriptor, text.rest[: self._room(len(text.rest))]) :]
                if not text.rest:
                    self._texts.popleft().settle()
        except OSError:
            self._break()
        if self._texts:
            self._watch()
        else:
            self._unwatch()

    def _room(self, wanted: int) -> int:
        """How much may be written at once, once the descriptor polls writable.

        Each write wakes the reader: a page of ``tools/list`` in one piece takes a quarter of the time.
        """
        if wanted > _PIPE_BUF and self._capacity and not _unread(self._descriptor):
            return self._capacity
        return _PIPE_BUF

    def _break(self) -> None:
        self._broken = True
        for text in self._texts:
            text.settle()
        self._texts.clear()
        self._on_broken()

    def _watch(self) -> None:
        if not self._watching:
            self._loop.add_writer(self._descriptor, self._write_on)
            self._watching = True

    def _unwatch(self) -> None:
        if self._watching:
            self._loop.remove_writer(self._descriptor)
            self._watching = False


def _pipe_capacity(descriptor: int) -> int:
    """How many bytes an empty pipe takes; 0 where the system does not tell (Linux does), or for what is no pipe."""
    if sys.platform != "linux":
        return 0
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
    except OSError:
        return 0


def _unread(descriptor: int) -> int:
    """How many bytes lie in a pipe that its reader has not taken yet."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


@dataclass(slots=True)
class _Text:
    """What is still to be written of a text, and who waits for it."""

    rest: memoryview
    written: asyncio.Future[None] | None = None

    def settle(self) -> None:
        """Let go whoever waits."""
        if self.written is not None and not self.written.done():
            self.written.set_result(None)


@asynccontextmanager
async def native_stdio(
    *, max_line_bytes: int, on_broken: Callable[[], None], restore_stdout: bool = True
) -> AsyncIterator[tuple[LineReader | None, LineWriter | None]]:
    """Standard input and output on the event loop, or None for a side that cannot be served so.

    Args:
        max_line_bytes: As for `LineReader`.
        on_broken: As for `LineWriter`.
        restore_stdout: Whether descriptor 1 is the wire again afterwards. A process that ends then should leave
            it diverted: a thread that a handler left behind may still print.
    """
    with ExitStack() as cleanup:
        reader: LineReader | None = None
        writer: LineWriter | None = None
        if _can_be_watched(0):
            private = _divert_stdin(cleanup)
            reader = LineReader(private, max_line_bytes=max_line_bytes)
            cleanup.callback(reader.close)
        if _can_be_watched(1):
            writer = LineWriter(_divert_stdout(cleanup, restore=restore_stdout), on_broken=on_broken)
            cleanup.callback(writer.close)
        yield reader, writer


def _can_be_watched(descriptor: int) -> bool:
    """Whether the event loop can wait for `descriptor`: a pipe, a socket or a terminal, on asyncio, on POSIX."""
    if sys.platform == "win32":
        return False
    try:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(descriptor))):
            return False
        loop = asyncio.get_running_loop()  # RuntimeError on another event loop
        loop.add_reader(descriptor, lambda: None)
        loop.remove_reader(descriptor)
    except (OSError, RuntimeError, ValueError, NotImplementedError):
        return False
    return True


def _divert_stdin(cleanup: ExitStack) -> int:
    private = _duplicate(0)
    cleanup.callback(_restore, private, 0)
    ended, writing = os.pipe()  # a pipe that nobody writes to: there may be no /dev/null
    os.close(writing)
    os.dup2(ended, 0)
    os.close(ended)
    return private


def _divert_stdout(cleanup: ExitStack, *, restore: bool) -> int:
    sys.stdout.flush()
    private = _duplicate(1)
    if restore:
        cleanup.callback(_restore, private, 1)
    cleanup.callback(sys.stdout.flush)  # what was printed meanwhile belongs to standard error
    os.dup2(2, 1)
    return private


def _duplicate(descriptor: int) -> int:
    """A duplicate above the standard range that child processes do not inherit."""
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


def _restore(private: int, descriptor: int) -> None:
    os.dup2(private, descriptor)
    os.close(private)
