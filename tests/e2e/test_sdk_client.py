"""The SDK's own client, in its default mode, with `discern mcp`: beside the raw tests, not instead of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from mcp.client import Client  # noqa: TID251 - the peer under test
from mcp.client.stdio import StdioServerParameters  # noqa: TID251 - the peer under test

from tests.e2e.cli import environment

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.anyio

ARGUMENTS = {"discern_accept": {"dry_run": True}}


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_it_negotiates_the_modern_revision_and_calls_every_tool():
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "discern_server", "mcp", "--root", str(ROOT)],
        cwd=str(ROOT),
        env=environment(),
    )
    async with Client(server, read_timeout_seconds=120) as client:
        assert client.protocol_version == "2026-07-28"
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert set(names) >= {"discern_status", "discern_map", "discern_check", "discern_accept", "discern_era"}
        for name in names:
            result = await client.call_tool(name, ARGUMENTS.get(name, {}))
            assert not result.is_error, (name, result.content)
            assert result.structured_content["ok"] is True
