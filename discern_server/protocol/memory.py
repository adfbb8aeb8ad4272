"""Serving in memory: the streams of a client that lives in the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from mcp.shared.memory import create_client_server_memory_streams

from discern_server.protocol import eras
from discern_server.protocol.connection import DEFAULT_MAX_IN_FLIGHT, StreamConnection, StreamOptions
from discern_server.protocol.factory import ServerFactory


@asynccontextmanager
async def memory_streams(
    factory: ServerFactory,
    *,
    legacy: eras.LegacyPolicy = "reject",
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
) -> AsyncIterator[tuple[Any, Any]]:
    """The client's ends of a pair of streams, at whose other ends `factory` is served.

    The arguments are those of `discern_server.serve_stdio`.

    Yields:
        ``(read, write)``, as the SDK's client takes them from a transport.
    """
    async with create_client_server_memory_streams() as (client, server), factory.lifespan() as state:
        connection = StreamConnection(
            factory,
            state,
            StreamOptions(transport="memory", legacy=legacy, max_in_flight=max_in_flight),
            cast("Any", server[0]),
            cast("Any", server[1]),
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            yield client
            tasks.cancel_scope.cancel()
