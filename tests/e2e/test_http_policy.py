"""Eras over HTTP, read off the raw wire, however the app answers."""

from __future__ import annotations

import pytest

from discern_server.wire.messages import initialize, modern_request, request
from tests.e2e.http_serving import serving


@pytest.fixture(scope="module", params=["auto", "json", "stream"])
def server(request):
    with serving("wire_server.py", "--answers", request.param) as served:
        yield served.http


@pytest.fixture(scope="module", params=["auto", "json", "stream"])
def dual_server(request):
    with serving("wire_server.py", "--answers", request.param, "--legacy", "serve") as served:
        yield served.http


def test_discover_names_the_modern_revision(server):
    answer = server.ask(modern_request("server/discover"))
    assert answer.status == 200
    assert answer.response(1)["result"]["supportedVersions"] == ["2026-07-28"]


def test_a_tool_is_called_without_any_handshake(server):
    answer = server.ask(modern_request("tools/call", {"name": "echo", "arguments": {"text": "hello"}}))
    assert answer.response(1)["result"]["content"] == [{"type": "text", "text": "hello"}]
    assert answer.header("mcp-session-id") is None


def test_initialize_is_refused_with_400_the_code_and_the_versions(server):
    answer = server.ask(initialize())
    assert answer.status == 400
    assert answer.response(1)["error"]["code"] == -32022
    assert answer.response(1)["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


def test_a_request_without_headers_and_envelope_is_refused_with_400(server):
    answer = server.ask(request("tools/list"))
    assert answer.status == 400
    assert answer.response(1)["error"]["code"] == -32602


def test_after_a_refusal_modern_requests_are_served(server):
    server.ask(initialize())
    assert server.ask(modern_request("tools/list")).status == 200


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


def test_where_legacy_is_served_modern_requests_are_served_too(dual_server):
    answer = dual_server.ask(modern_request("server/discover"))
    assert answer.response(1)["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_other_methods_are_405_and_told_which_one_is_allowed(server, dual_server, method):
    for either in (server, dual_server):
        answer = either.exchange(method, headers={"Accept": "text/event-stream"})
        assert answer.status == 405
        assert answer.header("allow") == "POST"
