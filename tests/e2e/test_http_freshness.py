"""Every request over HTTP gets a server of its own, which is garbage afterwards."""

from __future__ import annotations

import concurrent.futures

import pytest

from discern_server.wire.http import HttpAnswer
from discern_server.wire.messages import modern_request, notification, request
from tests.e2e.http_serving import serving


@pytest.fixture
def server():
    with serving("fresh_server.py") as served:
        yield served.http


def call(name: str, arguments: dict, *, id: int = 1) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments}, id=id)


def structured(answer: HttpAnswer, id: int = 1) -> dict:
    message = answer.response(id)
    assert message is not None
    content: dict = message["result"]["structuredContent"]
    return content


def test_as_many_servers_are_built_as_requests_are_served_and_none_is_left(server):
    for number in range(1, 21):
        assert server.ask(modern_request("tools/list", id=number)).status == 200
    report = structured(server.ask(call("report", {})))
    assert (report["built"], report["alive"]) == (21, 1)


@pytest.mark.requirement(17, 19)
def test_two_interleaved_requests_see_different_servers(server):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = pool.map(
            server.ask, [call("meet", {"me": "a", "other": "b"}), call("meet", {"me": "b", "other": "a"})]
        )
        first, second = map(structured, answers)
    assert first["is_there"]
    assert second["is_there"]
    assert first["identity"] != second["identity"]


def test_what_is_refused_or_dropped_builds_no_server(server):
    server.ask(request("tools/list"))
    server.ask(modern_request("tools/list"), headers={"Mcp-Method": "tools/call"})
    server.ask(modern_request("tools/list"), headers={"Host": "evil.example"})
    server.ask(notification("notifications/cancelled"), headers={"MCP-Protocol-Version": "2026-07-28"})
    server.exchange("POST", b"{", headers={"Content-Type": "application/json"})
    server.exchange("GET")
    assert structured(server.ask(call("report", {})))["built"] == 1
