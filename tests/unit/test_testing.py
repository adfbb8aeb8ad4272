"""The SDK's client, bound to a factory in memory."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
from mcp_types import ElicitResult

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.surface import Surface
from discern_server.testing import connect

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def greet(args, ctx):
    answer = await ctx.elicit("who", "Who?", {"properties": {"name": {"type": "string"}}})
    return {"hello": answer.content["name"], "state": ctx.state, "transport": ctx.scope.transport}


def factory(**options) -> ServerFactory:
    definition = ToolDefinition.from_wire({"name": "greet", "inputSchema": {"type": "object"}})
    return ServerFactory(Surface("s", "1", Catalog.of([definition]), {"greet": greet}), **options)


async def test_the_client_negotiates_the_modern_revision_and_answers_questions():
    async def answer(context, params):
        return ElicitResult(action="accept", content={"name": "Ada"})

    async with connect(factory(), elicitation_callback=answer) as client:
        assert client.protocol_version == "2026-07-28"
        result = await client.call_tool("greet", {})
        assert result.structured_content == {"hello": "Ada", "state": None, "transport": "memory"}


async def test_the_lifespan_lives_as_long_as_the_client_is_connected():
    events = []

    @asynccontextmanager
    async def lifespan():
        events.append("open")
        yield "shared"
        events.append("closed")

    async with connect(factory(lifespan=lifespan)) as client:
        await client.list_tools()
        assert events == ["open"]
    assert events == ["open", "closed"]
