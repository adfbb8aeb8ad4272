"""A server as a child process, spoken to in raw lines over its standard streams.

`StdioServer` starts the command in a session of its own, reads stdout and stderr on threads so that
no server can block the caller, and writes on a third. Every wait has a bound. A line of stdout that is
no JSON object is kept as noise and skipped: a banner is reported, not fatal. Leaving the ``with``
block closes stdin, and ends whatever is left of the process and its children.

    with StdioServer(["my-server"]) as server:
        answer = server.ask(modern_request("server/discover"))
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from discern_server.wire.errors import (
    AnswerError,
    EndedError,
    InputClosedError,
    SendError,
    SilenceError,
    StartError,
    TooMuchError,
)
from discern_server.wire.limits import Limits
from discern_server.wire.messages import Message, RequestId, answers, decode, encode
from discern_server.wire.transcript import Direction, Transcript

_CHUNK_BYTES: Final = 65536
_LINE_COST_BYTES: Final = 256
_MAX_NOISE_LINES: Final = 1000
_STDERR_BYTES: Final = 262144
_HOPELESS_S: Final = 0.2
_READER_S: Final = 2.0
_CERTAIN_S: Final = 10.0
_POSIX: Final = os.name == "posix"


class StdioServer:
    """A child process that should speak MCP on its standard streams.

    Attributes:
        command: The argument list it was started with.
        transcript: What went over the wire, in the order seen.
        noise: The lines of stdout that were no JSON objects, in order; the first thousand of them.
        unclaimed: Messages that came while `reply` waited for another one, in order.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        reading: bool = True,
    ) -> None:
        """Prepare; the process starts on entering the ``with`` block.

        Args:
            command: The argument list; no shell is involved.
            cwd: The working directory, or None for the caller's.
            env: The whole environment, or None for the caller's.
            limits: Bounds on time and size.
            reading: False leaves stdout unread until `read_on`, as a client that has stalled.
        """
        self.command = tuple(command)
        self.limits = limits or Limits()
        self.transcript = Transcript()
        self.noise: list[bytes] = []
        self.unclaimed: list[Message] = []
        self._cwd = cwd
        self._env = env
        self._reading = reading
        self._ended: AnswerError | None = None
        self._given_up = False

    # --- start and end ------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Start the process.

        Raises:
            StartError: The command was not found or could not be executed.
        """
        try:
            self._process = subprocess.Popen(
                self.command,
                cwd=self._cwd,
                env=dict(self._env) if self._env is not None else None,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=_POSIX,
            )
        except (OSError, ValueError, IndexError) as error:
            raise StartError(self.command, self._why_not(error)) from error
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._stdin = _Writer(self._process.stdin)
        self._stdout = _LineReader(self._process.stdout, self.limits, self.transcript, reading=self._reading)
        self._stderr = _TailReader(self._process.stderr, self.transcript)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close stdin, and end what is still there: asked first, then killed, children included."""
        self.close_stdin()
        hopeless = self._given_up or kind is not None or self._ended is not None
        if not self._is_gone(_HOPELESS_S if hopeless else self.limits.exit_s):
            self._signal_all(signal.SIGTERM)
            if not self._is_gone(1.0):
                self._kill_all()
                self._is_gone(_CERTAIN_S)
        self._stdout.stop()
        if not self._stderr.join(0.2):
            self._kill_all()  # a child that outlived the process still holds the pipe
            self._stderr.join(_READER_S)

    def give_up(self) -> None:
        """Leave the process little time to end by itself when the ``with`` block is left."""
        self._given_up = True

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Send a signal to the process alone; nothing happens where it is gone."""
        self.transcript.add(Direction.EVENT, f"signal {signal.Signals(number).name}")
        self._process.send_signal(number)

    def wait(self, timeout_s: float | None = None) -> int:
        """Wait for the process to end and return its exit code (negative: the signal that ended it).

        What it wrote to stderr is read by then, unless a child of its keeps the stream open.

        Raises:
            SilenceError: It is still running after `timeout_s` (default: the limit for an exit).
        """
        code = self._wait(self.limits.exit_s if timeout_s is None else timeout_s)
        self._stderr.join(_READER_S)
        return code

    def _wait(self, timeout_s: float) -> int:
        running = self._process.returncode is None
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise SilenceError(timeout_s, "the process to end") from None
        if running:
            self.transcript.add(Direction.EVENT, f"exit code {code}")
        return code

    def _why_not(self, error: Exception) -> str:
        reason = getattr(error, "strerror", None) or str(error)
        if self._cwd is not None and not Path(self._cwd).is_dir():
            return f"{reason}: the folder {self._cwd}"
        return reason

    def _is_gone(self, within_s: float) -> bool:
        try:
            self._wait(within_s)
        except SilenceError:
            return False
        return True

    def _kill_all(self) -> None:
        self._signal_all(signal.SIGKILL if _POSIX else signal.SIGTERM)

    def _signal_all(self, number: int) -> None:
        if not _POSIX:
            self._process.send_signal(number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    # --- sending ------------------------------------------------------------------------------------

    def send(self, message: Any, *, timeout_s: float | None = None) -> None:
        """Send one JSON value as a line.

        Raises:
            SendError: The server closed its input, or did not read it within the time.
        """
        self.send_raw(encode(message) + b"\n", timeout_s=timeout_s)

    def send_raw(self, data: bytes, *, timeout_s: float | None = None) -> None:
        """Send bytes as they are: half a line, no JSON, whatever is to be tried.

        Raises:
            SendError: The server closed its input, or did not read it within the time.
        """
        self.transcript.add(Direction.SENT, data.rstrip(b"\n") if data.count(b"\n") == 1 else data)
        try:
            self._stdin.write(data, self.limits.answer_s if timeout_s is None else timeout_s)
        except InputClosedError:
            self._exit_code()  # whether the write or the read sees the end first is chance; the evidence is the same
            raise

    def close_stdin(self) -> None:
        """End the server's input: on stdio that is how a client says goodbye."""
        if self._stdin.close():
            self.transcript.add(Direction.EVENT, "stdin closed")

    # --- receiving ----------------------------------------------------------------------------------

    def receive_line(self, timeout_s: float | None = None) -> bytes:
        """The next line of stdout, whatever it holds, without its newline.

        Raises:
            SilenceError: None came within the time (default: the limit for an answer).
            EndedError: The output ended.
            TooMuchError: The server wrote more than the limits allow; nothing more is read.
        """
        timeout_s = self.limits.answer_s if timeout_s is None else timeout_s
        if self._ended is not None:
            raise self._ended
        try:
            item = self._stdout.lines.get(timeout=max(timeout_s, 0))
        except queue.Empty:
            raise SilenceError(timeout_s) from None
        if isinstance(item, bytes):
            return item
        self._ended = EndedError(self._exit_code()) if item is None else item
        raise self._ended

    def receive(self, timeout_s: float | None = None) -> Message:
        """The next message; lines that are no JSON objects go to `noise`.

        Raises:
            AnswerError: As `receive_line`.
        """
        timeout_s = self.limits.answer_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                line = self.receive_line(deadline - time.monotonic())
            except SilenceError:
                raise SilenceError(timeout_s) from None
            message = decode(line)
            if message is not None:
                return message
            if len(self.noise) < _MAX_NOISE_LINES:
                self.noise.append(line)

    def reply(self, id: RequestId, timeout_s: float | None = None) -> Message:  # noqa: A002 - JSON-RPC's word
        """The response to the request `id`; other messages are kept in `unclaimed`.

        Raises:
            AnswerError: As `receive_line`.
        """
        for index, message in enumerate(self.unclaimed):
            if answers(message, id):
                return self.unclaimed.pop(index)
        timeout_s = self.limits.answer_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                message = self.receive(deadline - time.monotonic())
            except SilenceError:
                raise SilenceError(timeout_s, f"the answer to request {id!r}") from None
            if answers(message, id):
                return message
            self.unclaimed.append(message)

    def ask(self, message: Mapping[str, Any], timeout_s: float | None = None) -> Message:
        """Send a request and return its response.

        Raises:
            SendError: The server no longer reads.
            AnswerError: As `receive_line`.
        """
        self.send(message, timeout_s=timeout_s)
        return self.reply(message["id"], timeout_s)

    def read_on(self) -> None:
        """Begin to read stdout, for a server made with ``reading=False``."""
        self._stdout.read_on()

    def close_stdout(self) -> None:
        """Close the reading end of the server's output, as a client that went away."""
        self._stdout.stop()
        self.transcript.add(Direction.EVENT, "stdout closed by the client")

    @property
    def stderr(self) -> str:
        """What the process wrote to stderr so far: its last 256 KiB."""
        return self._stderr.text

    def wait_for_stderr(self, text: str, timeout_s: float | None = None) -> None:
        """Wait until stderr contains `text`.

        Raises:
            SilenceError: It does not within the time, or stderr ended without it.
        """
        timeout_s = self.limits.answer_s if timeout_s is None else timeout_s
        if not self._stderr.wait_for(text, timeout_s):
            raise SilenceError(timeout_s, f"{text!r} on stderr")

    def _exit_code(self) -> int | None:
        """The exit code of a process whose input or output has ended; it may need a moment to be gone."""
        try:
            return self.wait()
        except SilenceError:
            return None


class _Writer:
    """Writes on a thread of its own, so that a server that does not read cannot hold the caller."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._jobs: queue.SimpleQueue[tuple[bytes, queue.SimpleQueue[SendError | None]] | None] = queue.SimpleQueue()
        self._closed = False
        threading.Thread(target=self._run, daemon=True, name="stdin of the server").start()

    def write(self, data: bytes, timeout_s: float) -> None:
        if self._closed:
            raise SendError("stdin was closed")
        outcome: queue.SimpleQueue[SendError | None] = queue.SimpleQueue()
        self._jobs.put((data, outcome))
        try:
            fault = outcome.get(timeout=max(timeout_s, 0))
        except queue.Empty:
            raise SendError(f"the server did not read its input for {timeout_s:g} s") from None
        if fault is not None:
            raise fault

    def close(self) -> bool:
        """Close after what was written before; True the first time."""
        first, self._closed = not self._closed, True
        if first:
            self._jobs.put(None)
        return first

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            data, outcome = job
            outcome.put(self._write_all(data))
        with contextlib.suppress(OSError):
            self._pipe.close()

    def _write_all(self, data: bytes) -> SendError | None:
        view = memoryview(data)
        try:
            while view:
                view = view[self._pipe.write(view) :]
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            return InputClosedError(f"the server closed its input ({reason})")
        return None


class _LineReader:
    """Reads lines on a thread; `lines` gets each one, then None or a `TooMuchError` as the last item."""

    def __init__(self, pipe: IO[bytes], limits: Limits, transcript: Transcript, *, reading: bool) -> None:
        self.lines: queue.SimpleQueue[bytes | TooMuchError | None] = queue.SimpleQueue()
        self._pipe = pipe
        self._limits = limits
        self._transcript = transcript
        self._may_read = threading.Event()
        self._wake_read, self._wake_write = os.pipe()
        self._stopped = False
        if reading:
            self._may_read.set()
        self._thread = threading.Thread(target=self._run, daemon=True, name="stdout of the server")
        self._thread.start()

    def read_on(self) -> None:
        self._may_read.set()

    def stop(self) -> None:
        """Stop reading and close the pipe; a read that cannot be woken (Windows) ends with the process."""
        if self._stopped:
            return
        self._stopped = True
        self._may_read.set()
        os.close(self._wake_write)
        self._thread.join(_CERTAIN_S if _POSIX else 1.0)

    def _run(self) -> None:
        self._may_read.wait()
        try:
            last = self._read_lines()
        finally:
            self._pipe.close()
            os.close(self._wake_read)
        self.lines.put(last)

    def _read_lines(self) -> TooMuchError | None:
        pending: list[bytes] = []
        pending_bytes = total_bytes = 0
        while chunk := self._read():
            total_bytes += len(chunk)
            *complete, rest = chunk.split(b"\n")
            total_bytes += _LINE_COST_BYTES * len(complete)
            for line in complete:
                self._emit(b"".join([*pending, line]))
                pending, pending_bytes = [], 0
            pending.append(rest)
            pending_bytes += len(rest)
            if pending_bytes > self._limits.line_bytes:
                return self._give_up(TooMuchError("line", self._limits.line_bytes), b"".join(pending))
            if total_bytes > self._limits.output_bytes:
                return self._give_up(TooMuchError("output", self._limits.output_bytes), b"")
        if pending_bytes:
            self._emit(b"".join(pending))
        return None

    def _read(self) -> bytes:
        """The next chunk; empty at the end of the stream or once stopped."""
        descriptor = self._pipe.fileno()
        if _POSIX:
            with selectors.DefaultSelector() as selector:
                selector.register(descriptor, selectors.EVENT_READ)
                selector.register(self._wake_read, selectors.EVENT_READ)
                selector.select()
        if self._stopped:
            return b""
        try:
            return os.read(descriptor, _CHUNK_BYTES)
        except OSError:
            return b""

    def _emit(self, line: bytes) -> None:
        line = line.removesuffix(b"\r")
        self._transcript.add(Direction.RECEIVED, line)
        self.lines.put(line)

    def _give_up(self, reason: TooMuchError, seen: bytes) -> TooMuchError:
        if seen:
            self._transcript.add(Direction.RECEIVED, seen)
        self._transcript.add(Direction.EVENT, str(reason))
        return reason


class _TailReader:
    """Reads a stream on a thread and keeps its last part."""

    def __init__(self, pipe: IO[bytes], transcript: Transcript) -> None:
        self._pipe = pipe
        self._transcript = transcript
        self._tail = bytearray()
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="stderr of the server")
        self._thread.start()

    @property
    def text(self) -> str:
        with self._changed:
            return self._tail.decode("utf-8", "backslashreplace")

    def wait_for(self, text: str, timeout_s: float) -> bool:
        wanted = text.encode()
        with self._changed:
            self._changed.wait_for(lambda: wanted in self._tail or self._ended, timeout_s)
            return wanted in self._tail

    def join(self, timeout_s: float) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        unfinished = b""
        with self._pipe as pipe:
            while chunk := pipe.read(_CHUNK_BYTES):
                *lines, unfinished = (unfinished[-_CHUNK_BYTES:] + chunk).split(b"\n")
                for line in lines:
                    self._transcript.add(Direction.STDERR, line)
                self._note(chunk)
        if unfinished:
            self._transcript.add(Direction.STDERR, unfinished)
        self._note(b"", ended=True)

    def _note(self, chunk: bytes, *, ended: bool = False) -> None:
        with self._changed:
            self._tail += chunk
            del self._tail[:-_STDERR_BYTES]
            self._ended = ended
            self._changed.notify_all()
