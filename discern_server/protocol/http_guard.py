"""Bounds on a connection before there is a request, which uvicorn leaves to a proxy: for `serve_http`.

A client that sends no request, or its head one byte at a time, would hold a connection for ever; one that never ends
its head would fill memory, with the parser that uvicorn takes by itself (h11 has a bound of its own).
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from discern_server.protocol.http_headers import MAX_HEADER_BYTES

HEAD_TIMEOUT_S: Final = 30.0
_MAX_HEAD_BYTES: Final = 2 * MAX_HEADER_BYTES
"""The first line, and what stands between names and values, is in it too."""
_TOO_LARGE: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def guarded(protocol: type[Any], *, head_timeout_s: float = HEAD_TIMEOUT_S) -> type[Any]:
    """`protocol`, one of uvicorn's for HTTP/1.1, with bounds on the head of a request.

    A connection on which no whole head has come within `head_timeout_s` is closed; between two requests it is
    uvicorn's keep-alive that counts.
    """
    return type("Guarded", (_HeadGuard, protocol), {"_head_timeout_s": head_timeout_s})


class _HeadGuard:
    """Goes before a protocol of uvicorn's, whose methods it calls."""

    transport: Any
    cycle: Any
    _head_timeout_s: float
    _timer: asyncio.TimerHandle | None = None
    _head_bytes: int | None = None
    """How much of a head has come; None while none is being read."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)  # type: ignore[misc]
        self._await_head()

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(error)  # type: ignore[misc]

    def data_received(self, data: bytes) -> None:
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        super().data_received(data)  # type: ignore[misc]
        if self._head_bytes is not None and self._head_bytes > _MAX_HEAD_BYTES:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._timer is None and not self.transport.is_closing():
            self._await_head()

    # httptools calls these two; h11 has its own bound and no such calls

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        super().on_message_begin()  # type: ignore[misc]

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        super().on_headers_complete()  # type: ignore[misc]

    def _await_head(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._head_timeout_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
