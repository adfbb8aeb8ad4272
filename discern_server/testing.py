"""For the tests of those who build on this: the SDK's client, bound to a factory without processes or sockets.

    async with connect(ServerFactory(surface)) as client:
        result = await client.call_tool("refund", {"amount": 5})

It is a module of its own since a server does not need the client at run time, and should not load it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.client import Client

from discern_server.protocol.eras import LegacyPolicy
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.memory import memory_streams


@asynccontextmanager
async def connect(
    factory: ServerFactory, *, legacy: LegacyPolicy = "reject", **client_options: Any
) -> AsyncIterator[Client]:
    """The SDK's client, connected to `factory` in memory.

    The lifespan of the factory is entered for as long as the client is connected.

    Args:
        factory: What to serve.
        legacy: As for `discern_server.serve_stdio`.
        client_options: The client's own: ``elicitation_callback``, ``log_level``, ``mode`` and so on.
    """
    async with Client(memory_streams(factory, legacy=legacy), **client_options) as client:
        yield client
