"""Eras over HTTP, beyond what the probe asks (test_eras.py), read off the raw wire, however the app answers."""

from __future__ import annotations

import pytest

from discern_server.wire.messages import initialize, modern_request, request
from tests.e2e.http_serving import serving


@pytest.fixture(scope="module", params=["auto", "json", "stream"])
def server(request):
    with serving("wire_server.py", "--answers", request.param) as served:
        yield served.http


@pytest.fixture(scope="module", params=["auto", "json", "stream"])
def dual(request):
    with serving("wire_server.py", "--answers", request.param, "--legacy", "serve") as served:
        yield served


@pytest.fixture
def dual_server(dual):
    return dual.http


@pytest.mark.requirement(26, 87)
def test_where_legacy_is_served_it_is_served_without_a_session(dual_server):
    answer = dual_server.ask(initialize())
    assert answer.response(1)["result"]["protocolVersion"] == "2025-11-25"
    assert answer.header("mcp-session-id") is None
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    call = request("tools/call", {"name": "echo", "arguments": {"text": "old"}}, id=2)
    answer = dual_server.ask(call, headers=headers)
    assert answer.response(2)["result"]["content"] == [{"type": "text", "text": "old"}]
    assert "resultType" not in answer.response(2)["result"]
    assert answer.header("mcp-session-id") is None


@pytest.mark.requirement(27)
def test_where_legacy_is_served_modern_requests_are_served_too(dual_server):
    answer = dual_server.ask(modern_request("server/discover"))
    assert answer.response(1)["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
@pytest.mark.requirement(73, 86)
def test_other_methods_are_405_and_told_which_one_is_allowed(server, dual_server, method):
    for either in (server, dual_server):
        answer = either.exchange(method, headers={"Accept": "text/event-stream"})
        assert answer.status == 405
        assert answer.header("allow") == "POST"


def test_where_legacy_is_served_the_log_says_once_who_came(dual):
    for _ in range(2):
        dual.http.ask(initialize())
        dual.http.ask(modern_request("server/discover"))
    for era in ("legacy", "modern"):
        dual.process.wait_for_stderr(f"serving clients in the {era} era")
        assert dual.process.stderr.count(f"serving clients in the {era} era") == 1
