"""One client on a pair of streams, each of whose requests is answered from a fresh server.

The SDK's dispatcher correlates, cancels and spawns a task for each request; what a request means is decided here, for
each one by itself: its era (`eras`), its scope, its server. The streams are the transport's: standard input
and output (`stdio`), or memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
from mcp.server.connection import Connection, NotifyOnlyOutbound
from mcp.server.runner import ServerRunner, aclose_shielded, modern_error_data
from mcp.shared.dispatcher import DispatchContext
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import MessageMetadata, ServerMessageMetadata, SessionMessage
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from discern_server.handler import Era, RequestScope, Transport
from discern_server.protocol import eras
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.parsing import unreadable
from discern_server.protocol.window import (
    STALLED_CLIENT_S,
    ReadStream,
    Window,
    WindowedRead,
    WindowedWrite,
    WriteStream,
)

logger = logging.getLogger(__name__)

DEFAULT_MAX_IN_FLIGHT: Final = 256
DEFAULT_MAX_LINE_BYTES: Final = 64 << 20
DEFAULT_DRAIN_TIMEOUT_S: Final = 1.5
"""Below the two seconds that the SDK's client waits, after it has closed its end, before it ends the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a client on a pair of streams is served.

    Attributes:
        transport: What the streams belong to.
        legacy: Whether clients of the handshake revisions are refused or served too.
        max_in_flight: How many requests may be open before reading pauses.
        max_line_bytes: How long a line may be; only named here, in what an overlong one is answered.
        drain_timeout_s: How long, in seconds, requests may still run once the client has closed its end.
    """

    transport: Transport
    legacy: eras.LegacyPolicy = "reject"
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT
    max_line_bytes: int = DEFAULT_MAX_LINE_BYTES
    drain_timeout_s: float = DEFAULT_DRAIN_TIMEOUT_S

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        eras.checked(self.legacy)
        if self.max_in_flight < 1:
            raise ValueError(f"max_in_flight must be at least 1, got {self.max_in_flight}")


class StreamConnection:
    """Answers each request of one client from a fresh server.

    Args:
        factory: Builds the servers.
        state: What the factory's lifespan yielded.
        options: How to serve.
        read: What the client sends.
        write: What is sent to it.
        input_ended: Whether the input is known to have ended although messages are still waiting.
    """

    def __init__(
        self,
        factory: ServerFactory,
        state: Any,
        options: StreamOptions,
        read: ReadStream,
        write: WriteStream,
        *,
        input_ended: Callable[[], bool] = lambda: False,
    ) -> None:
        self._factory = factory
        self._state = state
        self._listening = factory.streams()
        self._options = options
        self._window = window = Window(options.max_in_flight, options.drain_timeout_s)
        self._plain_write = write
        self._client_reads = True
        self._read = WindowedRead(
            read,
            window,
            can_send_request=lambda request: self._is_legacy(request.method, request.params),
            input_ended=input_ended,
            at_end=self._shut_streams,
        )
        self._write = WindowedWrite(write, window)
        self._dispatcher = JSONRPCDispatcher(
            cast("Any", self._read),
            self._write,
            transport_builder=_transport,
            # The handshake is answered before the next message is looked at: clients pipeline behind it.
            inline_methods=frozenset({"initialize"}) if options.legacy == "serve" else frozenset(),
            on_stream_exception=self._on_unreadable,
        )
        self._outbound = NotifyOnlyOutbound(self._dispatcher)
        self._legacy: Connection | None = None
        self._logged_eras: set[Era] = set()

    async def run(self) -> None:
        """Serve until the input has ended and what was read is answered."""
        try:
            await self._dispatcher.run(self._on_request, self._on_notify)
        finally:
            if self._legacy is not None:
                await aclose_shielded(self._legacy)

    def input_has_ended(self) -> None:
        """Take notice that `input_ended` may be true now, also while the window is full."""
        self._window.wake()

    def _shut_streams(self) -> None:
        """Answer this client's listening streams: they would stay open for ever."""
        if self._listening is not None:
            self._listening.client_left()

    def _is_legacy(self, method: str, params: Mapping[str, Any] | None) -> bool:
        return self._options.legacy == "serve" and not eras.is_modern(method, params)

    async def _on_request(
        self, dctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        try:
            if self._is_legacy(method, params):
                return await self._serve_legacy(dctx, method, params)
            return await self._serve_modern(dctx, method, params)
        except (MCPError, ValidationError):
            raise  # the dispatcher says these on the wire
        except Exception as error:
            told = modern_error_data(error)  # logs it, and keeps what it says from the wire
            raise MCPError(code=told.code, message=told.message, data=told.data) from error

    async def _serve_modern(
        self, dctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        route = eras.route(method, params)
        self._log_era("modern", route.protocol_version)
        scope = RequestScope(
            era="modern",
            revision=route.protocol_version,
            transport=self._options.transport,
            method=method,
            client=route.client_info,
            capabilities=route.client_capabilities,
        )
        connection = Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities, outbound=self._outbound
        )
        server = self._factory.build(scope, self._listening)
        runner = ServerRunner(server, connection, self._state)
        try:
            return await runner.on_request(dctx, method, params)
        finally:
            del runner.on_request  # the runner keeps it, and so itself and the server, until the collector comes by
            await aclose_shielded(connection)

    async def _serve_legacy(
        self, dctx: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if self._legacy is None:
            self._legacy = Connection.for_loop(self._dispatcher)
        connection = self._legacy
        client = connection.client_params
        scope = RequestScope(
            era="legacy",
            revision=connection.protocol_version,
            transport=self._options.transport,
            method=method,
            client=None if client is None else client.client_info.model_dump(by_alias=True, exclude_none=True),
            capabilities={} if client is None else client.capabilities.model_dump(by_alias=True, exclude_none=True),
        )
        runner = ServerRunner(self._factory.build(scope, self._listening), connection, self._state)
        result = await runner.on_request(dctx, method, params)
        self._log_era("legacy", connection.protocol_version)
        return result

    async def _on_notify(
        self, _dctx: DispatchContext[TransportContext], method: str, _params: Mapping[str, Any] | None
    ) -> None:
        # The dispatcher has applied a cancellation already; of the others only the handshake's end means something.
        if method == "notifications/initialized" and self._legacy is not None:
            self._legacy.initialized.set()

    async def _on_unreadable(self, error: Exception) -> None:
        # Not through the window, which knows of no such request; and not for ever, since reading waits meanwhile.
        if self._client_reads:
            with anyio.move_on_after(STALLED_CLIENT_S) as patience:
                await self._plain_write.send(SessionMessage(unreadable(error, self._options.max_line_bytes)))
            self._client_reads = not patience.cancelled_caught

    def _log_era(self, era: Era, revision: str) -> None:
        """Say once which era a client is served in, where there is a choice."""
        if self._options.legacy == "serve" and era not in self._logged_eras:
            self._logged_eras.add(era)
            logger.warning("serving a client in the %s era, revision %s", era, revision)


def _transport(metadata: MessageMetadata) -> TransportContext:
    may_send = isinstance(metadata, ServerMessageMetadata) and metadata.can_send_request
    return TransportContext(kind="stdio", can_send_request=may_send)
