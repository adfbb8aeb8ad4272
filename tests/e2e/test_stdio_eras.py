"""Eras on stdio, beyond what the probe asks (test_eras.py), read off the raw wire: no constant of an SDK is trusted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

SERVER = [sys.executable, str(Path(__file__).with_name("wire_server.py"))]

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}},
}


def modern(method: str, params: dict | None = None, *, id: int = 1, **envelope: object) -> dict:
    return {
        "jsonrpc": "2.0",
        "id": id,
        "method": method,
        "params": {"_meta": {**ENVELOPE, **envelope}, **(params or {})},
    }


def legacy(method: str, params: dict | None = None, *, id: int = 1) -> dict:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


@pytest.fixture
def server():
    with StdioServer(SERVER, limits=PATIENT) as server:
        yield server


@pytest.fixture
def dual_server():
    with StdioServer([*SERVER, "--legacy", "serve"], limits=PATIENT) as server:
        yield server


@pytest.mark.requirement(11, 17)
def test_a_refused_client_that_goes_on_is_still_refused(server):
    server.ask(INITIALIZE)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    error = server.ask(legacy("tools/list", id=2))["error"]
    assert error["code"] == -32602
    assert error["data"] == {"supported": ["2026-07-28"]}


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("io.modelcontextprotocol/protocolVersion", "protocolVersion"),
        ("io.modelcontextprotocol/clientCapabilities", "clientCapabilities"),
    ],
)
@pytest.mark.requirement(11)
def test_half_an_envelope_is_refused_and_what_is_missing_is_named(server, missing, named):
    """basic/index: a request without the required fields is -32602."""
    request = modern("tools/list")
    del request["params"]["_meta"][missing]
    error = server.ask(request)["error"]
    assert error["code"] == -32602
    assert named in error["message"]
    assert error["data"] == {"supported": ["2026-07-28"]}


@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", "nonsense"])
@pytest.mark.requirement(17, 22)
def test_a_version_that_is_not_served_is_refused_also_after_a_good_request(server, version):
    server.ask(modern("tools/list"))
    request = modern("tools/list", id=2, **{"io.modelcontextprotocol/protocolVersion": version})
    error = server.ask(request)["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.requirement(26)
def test_serving_legacy_is_asked_for_and_the_handshake_gives_the_legacy_revision(dual_server):
    result = dual_server.ask(INITIALIZE)["result"]
    assert result["protocolVersion"] == "2025-11-25"
    dual_server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = dual_server.ask(legacy("tools/list", id=2))["result"]
    assert "echo" in [tool["name"] for tool in listed["tools"]]
    assert "resultType" not in listed
    called = dual_server.ask(legacy("tools/call", {"name": "echo", "arguments": {"text": "old"}}, id=3))["result"]
    assert called["content"] == [{"type": "text", "text": "old"}]


@pytest.mark.requirement(17, 27)
def test_a_modern_request_stays_served_after_a_legacy_opening(dual_server):
    dual_server.ask(INITIALIZE)
    dual_server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert dual_server.ask(modern("tools/list", id=2))["result"]["resultType"] == "complete"
    assert "resultType" not in dual_server.ask(legacy("tools/list", id=3))["result"]


def test_a_legacy_client_is_served_after_a_modern_opening(dual_server):
    assert dual_server.ask(modern("server/discover"))["result"]["supportedVersions"] == ["2026-07-28"]
    assert dual_server.ask({**INITIALIZE, "id": 2})["result"]["protocolVersion"] == "2025-11-25"


def test_the_era_that_a_client_got_is_logged_once(dual_server):
    dual_server.ask(INITIALIZE)
    for number in (2, 3):
        dual_server.ask(modern("tools/list", id=number))
    dual_server.close_stdin()
    dual_server.wait()
    assert dual_server.stderr.count("legacy era, revision 2025-11-25") == 1
    assert dual_server.stderr.count("modern era, revision 2026-07-28") == 1
