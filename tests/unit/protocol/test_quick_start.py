"""Importing the SDK for the launcher: what is left out, and that nothing is missing. Each in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

WATCHED = (
    "mcp.client",
    "mcp.server.mcpserver",
    "mcp.server.streamable_http",
    "mcp_types._v2025_11_25",
    "starlette",
    "uvicorn",
    "httpx2",
)


def in_a_process(code: str, **environment: str) -> Any:
    """What `code`, which begins with the SDK imported by `import_sdk`, prints as JSON."""
    whole = f"from discern_server.protocol.quick_start import import_sdk\nimport json, sys\nimport_sdk()\n{code}"
    kept = {name: value for name, value in os.environ.items() if name != "DISCERN_PLAIN_IMPORTS"}
    done = subprocess.run(
        [sys.executable, "-c", whole], capture_output=True, encoding="utf-8", timeout=120, env={**kept, **environment}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_stdio_server_has_no_use_for_is_not_imported():
    loaded = in_a_process(f"print(json.dumps([n for n in {WATCHED!r} if n in sys.modules]))")
    assert loaded == []


def test_the_switch_turns_it_off():
    code = f"import discern_server.protocol.stdio; print(json.dumps([n for n in {WATCHED!r} if n in sys.modules]))"
    assert "mcp.client" in in_a_process(code, DISCERN_PLAIN_IMPORTS="1")


@pytest.mark.parametrize(
    "statement",
    [
        "from mcp import Client",
        "from mcp.server import MCPServer",
        "import mcp; mcp.ClientSession",
        "import mcp.server; mcp.server.MCPServer",
        "import mcp.client.stdio",
        "import uvicorn",
        "from mcp import *; ClientSession",
        "import inspect, mcp; inspect.getsource(mcp); inspect.unwrap(mcp)",
    ],
)
def test_every_other_import_still_works(statement):
    assert in_a_process(f"{statement}\nprint('true')") is True


def test_a_name_that_is_not_there_is_an_attribute_error_before_and_after():
    code = """
import mcp
found = [hasattr(mcp, "nothing"), hasattr(mcp, "nothing"), mcp.Client.__name__]
try:
    from mcp.server import nothing
except ImportError as error:
    found.append(type(error).__name__)
print(json.dumps(found))
"""
    assert in_a_process(code) == [False, False, "Client", "ImportError"]


def test_the_packages_hold_the_same_objects_as_their_modules():
    code = """
import mcp.server.lowlevel, mcp.server.lowlevel.server
from mcp.server import Server
from discern_server.protocol.factory import Server as ours
print(json.dumps(Server is mcp.server.lowlevel.Server is mcp.server.lowlevel.server.Server is ours))
"""
    assert in_a_process(code) is True


def test_what_was_changed_for_the_import_is_as_it_was():
    code = """
import gc
from pydantic import BaseModel, TypeAdapter
class Mine(BaseModel):
    n: "Later"
Later = int
built = [Mine.__pydantic_complete__, Mine.model_rebuild(), Mine.__pydantic_complete__]
adapted = TypeAdapter(int | str).pydantic_complete
print(json.dumps([gc.isenabled(), "defer_build" in BaseModel.model_config, built, adapted]))
"""
    assert in_a_process(code) == [True, False, [False, True, True], True]


def test_what_the_sdk_builds_for_a_module_is_built_on_use():
    code = """
from mcp_types import CallToolRequestParams, client_request_adapter
before = [CallToolRequestParams.__pydantic_complete__, client_request_adapter.pydantic_complete]
asked = client_request_adapter.validate_python({"method": "tools/call", "params": {"name": "a"}})
print(json.dumps([before, type(asked).__name__, CallToolRequestParams(name="b").name]))
"""
    assert in_a_process(code) == [[False, False], "CallToolRequest", "b"]


# --- the handshake revisions ------------------------------------------------------------------------------


def test_messages_of_the_handshake_revisions_are_judged_as_ever():
    code = """
from mcp_types import methods
def told(judge, key, message):
    try:
        return [str(key), repr(judge(*key, message))]
    except Exception as error:
        return [str(key), type(error).__name__, getattr(error, "error_count", int)()]
answers = [
    told(judge, key, message)
    for table, judge in [
        (methods.CLIENT_REQUESTS, methods.parse_client_request),
        (methods.CLIENT_NOTIFICATIONS, methods.parse_client_notification),
        (methods.CLIENT_RESULTS, methods.parse_client_result),
        (methods.SERVER_RESULTS, methods.serialize_server_result),
        (methods.SERVER_NOTIFICATIONS, methods.parse_server_notification),
    ]
    for key in table
    for message in ({}, {"name": "a", "uri": "b", "tools": [], "content": [], "progress": 1, "progressToken": 2})
]
print(json.dumps(answers))
"""
    quick = in_a_process(code)
    assert len(quick) > 200
    assert quick == in_a_process(code, DISCERN_PLAIN_IMPORTS="1")


def test_the_models_of_the_handshake_revisions_are_imported_for_the_first_such_message():
    code = """
from mcp_types.methods import validate_client_request
def there():
    return "mcp_types._v2025_11_25" in sys.modules
before = there()
validate_client_request("tools/list", "2026-07-28", {"_meta": {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}})
modern = there()
validate_client_request("ping", "2025-11-25", None)
print(json.dumps([before, modern, there()]))
"""
    assert in_a_process(code) == [False, False, True]


# --- serving HTTP in a process that was started for stdio -------------------------------------------------


STAND_INS = """
def stand_ins():
    owners = [(name, vars(module)) for name, module in list(sys.modules.items())]
    return sorted({name for name, names in owners for value in list(names.values())
                   if type(value).__name__ == "StandIn"})
"""


def test_a_server_of_the_project_can_still_serve_http_with_authorization():
    code = """
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
class Verifier:
    async def verify_token(self, token):
        return None
auth = AuthSettings(issuer_url="https://a.example", resource_server_url="https://b.example")
app = Server("mine").streamable_http_app(auth=auth, token_verifier=Verifier())
plain = Server("mine").streamable_http_app()
from starlette.applications import Starlette
from starlette.testclient import TestClient
status = TestClient(app).post("/mcp").status_code
print(json.dumps([type(app) is Starlette, type(plain) is Starlette, status]))
"""
    assert in_a_process(code) == [True, True, 401]


def test_the_sdks_high_level_server_can_still_serve_http():
    code = """
from mcp.server import MCPServer
from starlette.testclient import TestClient
with TestClient(MCPServer("mine").streamable_http_app(), base_url="http://localhost:1") as client:
    status = client.post("/mcp", json={}).status_code
print(json.dumps(status))
"""
    assert in_a_process(code) == in_a_process(code, DISCERN_PLAIN_IMPORTS="1") == 400


def test_stand_ins_are_in_the_sdks_server_alone_and_gone_once_it_serves_http():
    code = """
before = stand_ins()
from mcp.server.lowlevel import Server
Server("mine").streamable_http_app()
kept = [value for value in Server.streamable_http_app.__kwdefaults__.values() if type(value).__name__ == "StandIn"]
print(json.dumps([before, stand_ins(), kept]))
"""
    assert in_a_process(STAND_INS + code) == [["mcp.server.lowlevel.server"], [], []]


def test_a_package_is_run_once_though_threads_ask_for_it_together():
    code = """
import threading, mcp
start, found = threading.Barrier(4), []
def ask():
    start.wait()
    found.append(mcp.Client)
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps([len(found), len(set(map(id, found)))]))
"""
    assert in_a_process(code) == [4, 1]


def test_an_sdk_that_is_imported_already_is_left_alone():
    code = """
import mcp
before = type(mcp).__name__
print(json.dumps(before))
"""
    whole = f"import mcp\nfrom discern_server.protocol.quick_start import import_sdk\nimport_sdk()\nimport json\n{code}"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, encoding="utf-8", timeout=120)
    assert json.loads(done.stdout) == "module"
