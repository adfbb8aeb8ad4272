"""What can go wrong while talking to a server.

    WireError
    ├── StartError          the command did not start
    ├── ConnectError        the address could not be reached
    ├── SendError           the server no longer reads
    │   └── InputClosedError  since it closed its input
    └── AnswerError         nothing fitting came
        ├── SilenceError    not within the time
        ├── EndedError      the stream ended first
        └── TooMuchError    the server wrote more than the limits allow

Each carries what a report needs; messages are made from the fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal


class WireError(Exception):
    """The root of this tree."""


class StartError(WireError):
    """The command could not be started: not found, not executable, no such directory."""

    def __init__(self, command: Sequence[str], reason: str) -> None:
        super().__init__(f"cannot start {command[0] if command else 'an empty command'!r}: {reason}")
        self.command = tuple(command)
        self.reason = reason


class ConnectError(WireError):
    """The address could not be reached: refused, unknown host, no trust in its certificate."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"cannot connect to {url}: {reason}")
        self.url = url
        self.reason = reason


class SendError(WireError):
    """The server closed its input, or did not read it within the time."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot send: {reason}")
        self.reason = reason


class InputClosedError(SendError):
    """The server closed its input, most often because it ended."""


class AnswerError(WireError):
    """Nothing fitting came."""


class SilenceError(AnswerError):
    """Nothing fitting came within `waited_s` seconds."""

    def __init__(self, waited_s: float, awaited: str = "a message") -> None:
        super().__init__(f"no answer: waited {waited_s:g} s for {awaited}")
        self.waited_s = waited_s
        self.awaited = awaited


class EndedError(AnswerError):
    """The server's output ended first.

    Attributes:
        exit_code: The process's, where there is one and it is known (negative: a signal).
    """

    def __init__(self, exit_code: int | None = None, reason: str | None = None) -> None:
        if reason is None:
            reason = "the process is still running" if exit_code is None else f"exit code {exit_code}"
        super().__init__(f"the output ended without an answer ({reason})")
        self.exit_code = exit_code


class TooMuchError(AnswerError):
    """The server wrote more than the limits allow: of one line, one HTTP body, or the whole output."""

    def __init__(self, what: Literal["line", "output", "body"], limit_bytes: int) -> None:
        super().__init__(f"the server's {what} exceeds {limit_bytes} bytes")
        self.what = what
        self.limit_bytes = limit_bytes
