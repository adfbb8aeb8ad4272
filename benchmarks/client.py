"""A raw stdio client that measures: as little of its own time in a measurement as Python allows."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_CHUNK = 1 << 20
_LEAVE_S = 10.0


@dataclass(frozen=True, slots=True)
class Batch:
    """What it took a server to answer some requests.

    Attributes:
        wall_s: From the first byte written to the last one read, in seconds.
        cpu_s: What the server's threads ran for meanwhile, in seconds; 0 where the system does not tell.
        answers: The answers, a line each.
    """

    wall_s: float
    cpu_s: float
    answers: Sequence[bytes]


def cpu_s(pid: int) -> float:
    """What the living threads of a process have run for, in seconds; 0 outside Linux."""
    if sys.platform != "linux":
        return 0.0
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_bytes().split()[0]) for task in tasks) / 1e9


class StdioServer:
    """A server process, spoken to over its pipes."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, **(environment or {})},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def write(self, data: bytes) -> None:
        """Write bytes, however long that takes."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._input, view) :]

    def read_line(self) -> bytes:
        """The next line.

        Raises:
            EOFError: The server has left.
        """
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            part = os.read(self._output, _CHUNK)
            if not part:
                raise EOFError(f"the server left: {self._process.args!r}")
            parts.append(part)
        line, self._rest = b"".join(parts).split(b"\n", 1)
        return line

    def ask(self, request: bytes) -> bytes:
        """Write one request and read the next line."""
        self.write(request)
        return self.read_line()

    def one_by_one(self, requests: Sequence[bytes]) -> Batch:
        """Ask each request once the one before it is answered."""
        cpu = self.cpu_s()
        start = time.perf_counter()
        answers = [self.ask(request) for request in requests]
        return Batch(time.perf_counter() - start, self.cpu_s() - cpu, answers)

    def at_once(self, requests: Sequence[bytes]) -> Batch:
        """Write all requests, then read the answers."""
        cpu = self.cpu_s()
        start = time.perf_counter()
        self.write(b"".join(requests))
        answers = [self.read_line() for _ in requests]
        return Batch(time.perf_counter() - start, self.cpu_s() - cpu, answers)

    def cpu_s(self) -> float:
        """As `cpu_s`, of this process."""
        return cpu_s(self._process.pid)

    def memory_mib(self) -> float:
        """What the process holds in memory now, in MiB."""
        return self._status("VmRSS")

    def peak_memory_mib(self) -> float:
        """The most that the process has held in memory, in MiB."""
        return self._status("VmHWM")

    def _status(self, key: str) -> float:
        for line in Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == key:
                return int(value.split()[0]) / 1024
        raise OSError(f"the system does not tell {key}")
