"""Importing the SDK for the launcher: what is left out, and that nothing is missing. Each in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

WATCHED = ("mcp.client", "mcp.server.mcpserver", "uvicorn", "httpx2")


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
from pydantic import BaseModel
class Mine(BaseModel):
    n: int
print(json.dumps([gc.isenabled(), "defer_build" in BaseModel.model_config, Mine.__pydantic_complete__]))
"""
    assert in_a_process(code) == [True, False, True]


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
