"""The extra ``fast``: uvicorn takes uvloop by itself; on stdio a program asks for it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT
from tests.e2e.http_serving import serving_command

EXAMPLES = Path(__file__).parents[2] / "docs" / "guide" / "examples" / "http"
LOOP_OVER_HTTP = """
import asyncio
from discern_server import Catalog, ServerFactory, Surface, ToolDefinition, http_app, serve_http

async def loop(args, ctx):
    return {"loop": type(asyncio.get_running_loop()).__module__}

tool = ToolDefinition.from_wire({"name": "loop", "description": "Names the loop.", "inputSchema": {"type": "object"}})
serve_http(http_app(ServerFactory(Surface("s", "1", Catalog.of([tool]), {"loop": loop}))), port=0)
"""

pytestmark = pytest.mark.skipif(find_spec("uvloop") is None, reason="uvloop is not installed; nox -s e2e installs it")


def result(answer: dict | None) -> dict:
    assert answer is not None
    structured: dict = answer["result"]["structuredContent"]
    return structured


def test_http_is_served_on_uvloop_where_it_is_installed():
    with serving_command([sys.executable, "-c", LOOP_OVER_HTTP]) as served:
        answer = served.http.ask(modern_request("tools/call", {"name": "loop", "arguments": {}}))
    assert result(answer.response(1))["loop"].startswith("uvloop")


def test_a_program_serves_stdio_on_uvloop_where_it_asks_for_it():
    call = modern_request("tools/call", {"name": "refund", "arguments": {"amount": 5}})
    with StdioServer([sys.executable, "fast_stdio.py"], cwd=EXAMPLES, limits=PATIENT) as server:
        assert result(server.ask(call))["refunded"] == 5
        server.close_stdin()
        assert server.wait() == 0
