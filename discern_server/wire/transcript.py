"""The record of what went over the wire: what a person reads to see who said what, and when."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_MAX_ENTRIES: Final = 1000
_MAX_TEXT_CHARS: Final = 4096


class Direction(StrEnum):
    """Who spoke."""

    SENT = ">"
    RECEIVED = "<"
    STDERR = "!"
    EVENT = "*"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transcript.

    Attributes:
        at_s: Seconds since the transcript began.
        direction: Who spoke; an event is something that happened, such as an exit.
        text: What was said, shortened where it was long.
    """

    at_s: float
    direction: Direction
    text: str

    def __str__(self) -> str:
        return f"{self.at_s:7.3f} {self.direction} {self.text}"


class Transcript:
    """A bounded, thread-safe list of entries: 1000 of up to 4096 characters, the rest is counted."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._entries: list[Entry] = []
        self._lock = threading.Lock()
        self.dropped = 0

    def add(self, direction: Direction, data: bytes | str) -> None:
        """Record what was said now; bytes that are no UTF-8 are shown escaped."""
        cut = data[: 4 * _MAX_TEXT_CHARS]
        text = cut.decode("utf-8", "backslashreplace") if isinstance(cut, bytes) else cut
        if len(text) > _MAX_TEXT_CHARS or len(cut) < len(data):
            text = f"{text[:_MAX_TEXT_CHARS]}... ({len(data)} in all)"
        entry = Entry(time.monotonic() - self._started, direction, text)
        with self._lock:
            if len(self._entries) < _MAX_ENTRIES:
                self._entries.append(entry)
            else:
                self.dropped += 1

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was recorded so far."""
        with self._lock:
            return tuple(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __str__(self) -> str:
        lines = [str(entry) for entry in self.entries]
        if self.dropped:
            lines.append(f"        ... and {self.dropped} more")
        return "\n".join(lines)
