"""Every request gets a server of its own, which is garbage afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

SERVER = [sys.executable, str(Path(__file__).with_name("fresh_server.py"))]


def call(name: str, arguments: dict, *, id: int) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments}, id=id)


@pytest.fixture
def server():
    with StdioServer(SERVER, limits=PATIENT) as server:
        yield server


def test_as_many_servers_are_built_as_requests_are_served(server):
    for number in range(1, 8):
        server.ask(modern_request("tools/list", id=number))
    report = server.ask(call("report", {}, id=100))["result"]["structuredContent"]
    assert report["built"] == 8


@pytest.mark.requirement(17, 19)
def test_two_interleaved_requests_see_different_servers(server):
    server.send(call("meet", {"me": "a", "other": "b"}, id=1))
    server.send(call("meet", {"me": "b", "other": "a"}, id=2))
    first = server.reply(1)["result"]["structuredContent"]
    second = server.reply(2)["result"]["structuredContent"]
    assert first["is_there"]
    assert second["is_there"]
    assert first["server"] != second["server"]
    assert first["identity"] != second["identity"]


def test_a_server_is_gone_with_its_request_and_waits_for_no_collector(server):
    for number in range(1, 21):
        server.ask(modern_request("tools/list", id=number))
    report = server.ask(call("report", {}, id=100))["result"]["structuredContent"]
    assert report == {"built": 21, "uncollected": 1, "alive": 1}


def test_a_request_that_is_refused_builds_no_server(server):
    server.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    report = server.ask(call("report", {}, id=2))["result"]["structuredContent"]
    assert report["built"] == 1
