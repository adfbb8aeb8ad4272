"""Tools on stdio: what is listed, what a call gives, what it gives when something is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

HERE = Path(__file__).parent
SERVER = [sys.executable, str(HERE / "wire_server.py")]

ODD_SCHEMA = (
    '{"x-vendor":{"z":1,"a":null},"required":["b"],"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema",'
    '"properties":{"b":{"default":null,"type":["string","null"],"x-unknown":[1.0,1,12345678901234567890]},"a":{"const":"é\\u0001😀"}}}'
)

FROM_FILES = """
import sys
from discern_server import Catalog, ServerFactory, Surface, serve_stdio
async def answer(args, ctx):
    return args
catalog = Catalog.load(sys.argv[1])
serve_stdio(ServerFactory(Surface("files", "1", catalog, handlers={name: answer for name in catalog.names})))
"""


def call(name: str, arguments: object, *, id: int = 1) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments}, id=id)


@pytest.fixture
def server():
    with StdioServer(SERVER, limits=PATIENT) as server:
        yield server


@pytest.mark.requirement(46)
def test_a_listed_schema_is_its_file_byte_for_byte(tmp_path):
    definition = '{"description":"odd","name":"odd","x-extra":[null],"inputSchema":%s}' % ODD_SCHEMA  # noqa: UP031 - braces would need escaping
    (tmp_path / "odd.json").write_text(definition, encoding="utf-8")
    with StdioServer([sys.executable, "-c", FROM_FILES, str(tmp_path)], limits=PATIENT) as server:
        server.send(modern_request("tools/list"))
        line = server.receive_line()
    source = json.dumps(json.loads(ODD_SCHEMA), ensure_ascii=False, separators=(",", ":"))
    assert source.encode() in line
    assert json.dumps(json.loads(definition), ensure_ascii=False, separators=(",", ":")).encode() in line


@pytest.mark.requirement(53, 54)
def test_arguments_that_break_the_definition_name_the_place_the_rule_and_the_mend(server):
    result = server.ask(call("echo", {"text": 5, "extra": 1}))["result"]
    assert result["isError"] is True
    diagnostics = {finding["rule"]: finding for finding in result["structuredContent"]["diagnostics"]}
    assert diagnostics["type"]["path"] == "/text"
    assert "extra" in diagnostics["additionalProperties"]["message"]
    assert all(finding["fix"] for finding in diagnostics.values())
    assert "/text" in result["content"][0]["text"]


@pytest.mark.requirement(51)
def test_an_unknown_tool_is_a_protocol_error(server):
    error = server.ask(call("no_such_tool", {}))["error"]
    assert error["code"] == -32602
    assert "no_such_tool" in error["message"]


@pytest.mark.requirement(55)
def test_a_handler_that_raises_gives_an_error_without_its_text_and_logs_its_traceback(server):
    result = server.ask(call("boom", {}))["result"]
    assert result["isError"] is True
    assert "secret" not in json.dumps(result)
    server.wait_for_stderr("RuntimeError: a secret that must stay in the log")


@pytest.mark.parametrize("params", [{}, {"arguments": None}, {"arguments": {}}], ids=["absent", "null", "empty"])
def test_no_arguments_are_the_same_however_they_are_said(server, params):
    result = server.ask(modern_request("tools/call", {"name": "now", **params}))["result"]
    assert result["content"] == [{"type": "text", "text": "2026-07-28T00:00:00Z"}]


@pytest.mark.requirement(35)
def test_progress_is_reported_on_the_client_s_token(server):
    request = call("slow", {"seconds": 0.2})
    request["params"]["_meta"]["progressToken"] = "t"
    server.ask(request)
    values = [m["params"]["progress"] for m in server.unclaimed if m["method"] == "notifications/progress"]
    assert values == [1, 2, 3, 4]


@pytest.mark.requirement(62)
def test_a_cursor_that_was_never_given_is_refused(server):
    """server/utilities/pagination; an empty string is a cursor like any other."""
    for number, cursor in enumerate(["made-up", ""], start=1):
        error = server.ask(modern_request("tools/list", {"cursor": cursor}, id=number))["error"]
        assert error["code"] == -32602
