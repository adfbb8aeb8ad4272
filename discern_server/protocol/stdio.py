"""Serving over standard input and output, for a process that an agent spawned.

The story of a connection: lines come in, the SDK's adapter parses them, its dispatcher starts a task for each
request, and a `StreamConnection` answers it from a server that was built for it. What surrounds that is ours, on
the SDK's public seams: the event loop's own pipes (`pipes`, `lines`), a window of open requests (`window`), the era
policy (`eras`), and an orderly end:

- the client closes its end: what was read is answered, then the process exits with 0;
- SIGTERM or SIGINT: reading stops, what is open is answered, the process exits with 143 or 130; a second
  signal ends it at once;
- the client stops reading for good (its end is closed): the process exits.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

from discern_server.protocol import eras
from discern_server.protocol.connection import (
    DEFAULT_DRAIN_TIMEOUT_S,
    DEFAULT_MAX_IN_FLIGHT,
    DEFAULT_MAX_LINE_BYTES,
    StreamConnection,
    StreamOptions,
)
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.lines import MessageReader, MessageWriter
from discern_server.protocol.pipes import LineReader, LineWriter, native_stdio
from discern_server.protocol.window import STALLED_CLIENT_S, ReadStream, StoppableRead, WriteStream

_BLOCKED_READ_S: Final = 0.5


def serve_stdio(
    factory: ServerFactory,
    *,
    legacy: eras.LegacyPolicy = "reject",
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    drain_timeout_s: float = DEFAULT_DRAIN_TIMEOUT_S,
) -> None:
    """Serve `factory` over this process's standard input and output until the client leaves.

    Standard output carries MCP and nothing else: what handlers and their children print goes to
    standard error, also after this returns, since a thread may be left behind.

    Args:
        factory: What to serve: one fresh server for each request.
        legacy: Whether clients of the handshake revisions are refused or served too.
        max_in_flight: How many requests may be open before reading pauses.
        max_line_bytes: A longer line is refused with an error and costs nothing else.
        drain_timeout_s: How long, in seconds, requests may still run once the client has closed its end.

    Raises:
        SystemExit: With 143 after SIGTERM, 130 after SIGINT.
    """
    options = _options(legacy, max_in_flight, max_line_bytes, drain_timeout_s)
    gc.freeze()  # what was imported lives as long as the process: no need to look through it, now or later
    status = anyio.run(lambda: _serve(factory, options, restore_stdout=False))
    if _threads_are_stuck():
        _exit_before_long(status)
    if status:
        raise SystemExit(status)


async def serve_stdio_async(
    factory: ServerFactory,
    *,
    legacy: eras.LegacyPolicy = "reject",
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES,
    drain_timeout_s: float = DEFAULT_DRAIN_TIMEOUT_S,
) -> int:
    """As `serve_stdio`, in an event loop that is there already; standard output is restored at the end.

    Returns:
        The exit status that the process should end with: 0, or 128 plus the signal.
    """
    options = _options(legacy, max_in_flight, max_line_bytes, drain_timeout_s)
    return await _serve(factory, options, restore_stdout=True)


def _options(
    legacy: eras.LegacyPolicy, max_in_flight: int, max_line_bytes: int, drain_timeout_s: float
) -> StreamOptions:
    return StreamOptions(
        transport="stdio",
        legacy=legacy,
        max_in_flight=max_in_flight,
        max_line_bytes=max_line_bytes,
        drain_timeout_s=drain_timeout_s,
    )


async def _serve(factory: ServerFactory, options: StreamOptions, *, restore_stdout: bool) -> int:
    if sys.stdin is not None and sys.stdin.isatty():
        _greet()
    signals = _Signals()
    async with factory.lifespan() as state:
        with anyio.CancelScope() as client_reads:
            pipes = native_stdio(
                max_line_bytes=options.max_line_bytes, on_broken=client_reads.cancel, restore_stdout=restore_stdout
            )
            async with pipes as (reader, writer):
                await _serve_client(factory, state, options, signals, reader, writer)
    return signals.status


async def _serve_client(
    factory: ServerFactory,
    state: Any,
    options: StreamOptions,
    signals: _Signals,
    reader: LineReader | None,
    writer: LineWriter | None,
) -> None:
    async with _messages(reader, writer) as (read, write, stop):
        connection = StreamConnection(
            factory,
            state,
            options,
            read,
            write,
            input_ended=lambda: bool(signals.status) or (reader is not None and reader.at_end),
        )
        if reader is not None:
            reader.when_ended(connection.input_has_ended)

        def end_input() -> None:
            stop()
            connection.input_has_ended()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(signals.watch, end_input)
            await connection.run()
            tasks.cancel_scope.cancel()
        if writer is not None:
            with anyio.move_on_after(STALLED_CLIENT_S):
                await writer.flush()
        if signals.status and reader is None:
            _exit_before_long(signals.status)


@asynccontextmanager
async def _messages(
    reader: LineReader | None, writer: LineWriter | None
) -> AsyncIterator[tuple[ReadStream, WriteStream, Callable[[], None]]]:
    """What is read, what is written, and what ends the input: over our own pipes, or the SDK's threads for a side."""
    if reader is not None and writer is not None:
        yield MessageReader(reader), MessageWriter(writer), reader.stop
        return
    # Typed as anyio's files; all that the SDK asks of them is to be iterated, written and flushed.
    async with stdio_server(cast("Any", reader), cast("Any", writer)) as (read, write):
        stoppable = StoppableRead(read)

        def stop() -> None:
            if reader is not None:
                reader.stop()
            stoppable.stop()

        yield stoppable, write, stop


class _Signals:
    """SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once.

    Attributes:
        status: The exit status that the signal asks for; 0 while there was none.
    """

    def __init__(self) -> None:
        self.status = 0

    async def watch(self, stop: Callable[[], None]) -> None:
        """Call `stop` at the first; watch until cancelled.

        Outside the main thread, and on Windows, signals are left alone.
        """
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
            async for number in received:
                if self.status:
                    os._exit(128 + number)
                self.status = 128 + number
                stop()


def _threads_are_stuck() -> bool:
    """Whether a handler that was given up still holds its thread, for which the interpreter would wait at its end."""
    workers = [thread for thread in threading.enumerate() if thread.name == "AnyIO worker thread"]
    for thread in workers:
        thread.join(0.05)
    return any(thread.is_alive() for thread in workers)


def _exit_before_long(status: int) -> None:
    """End the process although a thread is blocked, which nothing can interrupt."""
    deadline = threading.Timer(_BLOCKED_READ_S, os._exit, (status,))
    deadline.daemon = True
    deadline.start()


def _greet() -> None:
    sys.stderr.write(
        "This is an MCP server: it waits for JSON-RPC messages on standard input, one a line.\n"
        "It is meant to be started by an agent. To connect one, give the agent this command as a stdio server;\n"
        "to see what it speaks, run: discern era -- <this command>. Ctrl-D or Ctrl-C ends it.\n"
    )
    sys.stderr.flush()
