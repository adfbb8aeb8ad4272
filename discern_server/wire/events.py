"""Server-Sent Events, as far as a probe needs them: the data of each complete event. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_EVENT_END: Final = re.compile(rb"(?>\r\n|\n|\r){2}")
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        name: Its ``event`` field; ``message`` where it has none.
        data: Its ``data`` fields, joined with newlines.
    """

    name: str
    data: bytes


def split_events(buffer: bytes) -> tuple[list[Event], bytes]:
    """The complete events at the head of `buffer`, and the rest that is still unfinished.

    Comments and events without data, such as keep-alives, are left out (HTML, "Server-sent events",
    9.2.6). A newline that belongs to a carriage return at the end of one buffer may begin the next one.
    """
    events = []
    start = 0
    while end := _EVENT_END.search(buffer, start):
        event = _event(buffer[start : end.start()])
        if event is not None:
            events.append(event)
        start = end.end()
    return events, buffer[start:]


def _event(block: bytes) -> Event | None:
    name, data = b"message", []
    for line in _LINE_END.split(block):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return Event(name.decode("utf-8", "replace"), b"\n".join(data)) if data else None
