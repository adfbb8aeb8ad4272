"""The plain server as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Self

PLAIN_SERVER: Final = Path(__file__).with_name("plain_server.py")


class Process:
    """The plain server, spoken to over its pipes. Reads block: the runner bounds the finding as a whole."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            # -P: the folder of the script is no place to import from; a file there is named like one of the library.
            [sys.executable, "-P", str(PLAIN_SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._process.kill()
        self._process.wait()
        self._stdout.close()

    def write(self, *lines: str | Mapping[str, Any]) -> None:
        """Write messages, or lines as they are."""
        self._stdin.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        self._stdin.flush()

    def read(self) -> Any:
        """The next message."""
        return json.loads(self._stdout.readline())

    def ask(self, message: Mapping[str, Any]) -> Any:
        """Write a request and read the next message."""
        self.write(message)
        return self.read()

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def close_output(self) -> None:
        """Close the client's end of the server's standard output."""
        self._stdout.close()

    def close_input(self) -> None:
        """Close the server's standard input."""
        self._stdin.close()

    def read_all(self) -> list[Any]:
        """Every message until the server closes its output."""
        return [json.loads(line) for line in self._stdout]

    def ends_within(self, seconds: float) -> bool:
        """Whether the process ends within `seconds`."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


def converse(messages: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Ask one request after another, each once the last is answered; return the answers."""
    with Process() as server:
        return [server.ask(message) for message in messages]
