"""Streams of our own for `stdio_server`: no more than it asks of them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio


class Reader:
    """Gives lines: all that is asked of an input is to be iterated."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        if not self._lines:
            raise StopAsyncIteration
        return self._lines.pop(0)


class Writer:
    """Keeps the calls: all that is asked of an output is to be written and flushed."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.flushed = anyio.Event()

    async def write(self, text: str) -> None:
        self.calls.append(f"write({text!r})")

    async def flush(self) -> None:
        self.calls.append("flush()")
        self.flushed.set()
