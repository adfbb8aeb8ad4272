"""Params that break the schema of their method: where, and what belongs there."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server import Catalog, Surface
from tests.unit.protocol.raw import raw_client

pytestmark = pytest.mark.anyio

SURFACE = Surface("s", "1", Catalog.of([]))
LEVEL = "/_meta/io.modelcontextprotocol~1logLevel"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        ("tools/call", {}, "/name is missing"),
        ("tools/call", {"name": None}, "/name must be a string"),
        ("tools/call", {"name": 1, "arguments": []}, "/arguments must be an object; /name must be a string"),
        ("tools/list", {"cursor": 5}, "/cursor must be a string"),
        ("tools/list", {"_meta": {"progressToken": 1.5}}, "/_meta/progressToken must be a string or an integer"),
        ("prompts/get", {"name": "p", "arguments": {"a/b": 1}}, "/arguments/a~1b must be a string"),
        (
            "completion/complete",
            {"ref": 1, "argument": {}},
            "/argument/name is missing; /argument/value is missing; /ref must",
        ),
        (
            "completion/complete",
            {"ref": {"type": "x"}, "argument": {"name": "a", "value": ""}},
            "/ref/name is missing; /ref/type",
        ),
        ("tools/call", {"name": "x", "inputResponses": {"q": 5}}, "/inputResponses/q must be an object"),
        (
            "tools/call",
            {"name": "x", "inputResponses": {"q": {"action": "maybe"}}},
            "/inputResponses/q/action must be 'accept', ",
        ),
        (
            "subscriptions/listen",
            {"notifications": {"resourceSubscriptions": ["a", 5]}},
            "/notifications/resourceSubscriptions/1 must",
        ),
    ],
)
async def test_a_fault_in_the_params_is_told_by_its_place_and_what_belongs_there(method, params, told):
    async with raw_client(SURFACE) as client:
        error = await client.error(method, **params)
    assert error["code"] == -32602
    assert told in error["message"]
    assert "Result" not in error["message"]
    assert "Reference" not in error["message"]


async def test_an_unknown_log_level_names_the_known_ones():
    async with raw_client(SURFACE) as client:
        error = await client.error("tools/list", _meta={"io.modelcontextprotocol/logLevel": "loud"})
    assert error["message"].startswith(f"Invalid params: {LEVEL} must be 'alert', 'critical', 'debug', ")


async def test_many_faults_are_cut_short():
    filters: dict[str, Any] = {"resourceSubscriptions": list(range(1000))}
    async with raw_client(SURFACE) as client:
        error = await client.error("subscriptions/listen", notifications=filters)
    assert error["message"].endswith("/notifications/resourceSubscriptions/4 must be a string; and more")
