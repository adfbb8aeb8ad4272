"""The bounds within which a server is listened to, so that none can hang or flood the probe."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on talking to a server.

    Attributes:
        answer_s: Seconds to wait for one answer, a process's start included.
        exit_s: Seconds to wait for the process to end once its input or its output is closed.
        total_s: Seconds after which a probe asks no further question.
        line_bytes: The longest line, or HTTP body, that is read.
        output_bytes: The most that is read from one process, or in one conversation over HTTP. A line counts for 256
            bytes more than it has: to look at millions of short ones would take minutes.
    """

    answer_s: float = 15.0
    exit_s: float = 5.0
    total_s: float = 120.0
    line_bytes: int = 16 * 2**20
    output_bytes: int = 64 * 2**20
