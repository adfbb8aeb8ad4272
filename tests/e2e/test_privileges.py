"""What ``discern mcp`` touches, by its system calls and its children's; docs/guide/privileges.md says it in words."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import discern_server
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import DISCERN, environment
from tests.e2e.golden import copy_project

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None or subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode != 0,
    reason="needs strace, and to be allowed to trace",
)

READING: list[tuple[str, dict[str, Any]]] = [
    ("discern_status", {}),
    ("discern_map", {"name": "worth"}),
    ("discern_check", {}),
    ("discern_doctor", {}),
    ("discern_accept", {"dry_run": True}),
    ("discern_help", {"topic": "eras"}),
]
PYTHON = tuple({sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(discern_server.__file__).parents[1])})
SYSTEM = (
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
    "/etc/ld.so",
    "/etc/localtime",
    "/proc/",
    "/sys/",
    "/dev/",
)
WRITES = re.compile(
    r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^(mkdir|rename|unlink|rmdir|link|symlink|chmod|chown|truncate|mknod)"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_project(tmp_path / "project")


def calls_of(project: Path, tools: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """The system calls about files and networks that succeed while `tools` are called, from start to end."""
    trace = project.parent / "trace"
    strace = ["strace", "-f", "-qq", "-y", "-e", "trace=%file,%network", "-e", "signal=none", "-e", "status=successful"]
    command = [*strace, "-o", str(trace), *DISCERN, "mcp", "--root", str(project)]
    with StdioServer(command, cwd=project.parent, env=environment(), limits=PATIENT) as server:
        for name, arguments in tools:
            answer = server.ask(modern_request("tools/call", {"name": name, "arguments": arguments}), timeout_s=60)
            assert answer["result"]["structuredContent"]["ok"] is True, answer
        server.close_stdin()
        assert server.wait(60) == 0
    return [line.partition(" ")[2].strip() for line in trace.read_text(encoding="utf-8").splitlines()]


def path_in(call: str) -> str:
    named = re.search(r'"((?:[^"\\]|\\.)*)"', call)
    return named[1] if named else ""


def test_no_tool_opens_a_socket_not_even_the_server_that_era_starts(project: Path):
    """The event loop wakes itself by a pair of sockets without a name (socketpair): no network, and nobody else's."""
    calls = calls_of(project, [*READING, ("discern_accept", {}), ("discern_era", {})])
    opened = [call for call in calls if re.match(r"(socket|socketpair|connect|bind|listen|accept4?)\(", call)]
    assert any(call.startswith("socketpair(AF_UNIX") for call in opened), "nothing was traced"
    assert [call for call in opened if not call.startswith("socketpair(AF_UNIX")] == []
    assert [call for call in calls if re.search("AF_INET|AF_NETLINK|AF_PACKET", call)] == []


def test_the_tools_that_read_write_nothing_anywhere(project: Path):
    calls = calls_of(project, READING)
    assert any(path_in(call).endswith("discern.toml") for call in calls), "nothing was traced"
    assert [call for call in calls if WRITES.search(call) and path_in(call) != "/dev/null"] == []


def test_they_read_the_project_and_python_and_nothing_else(project: Path):
    opened = {path_in(call) for call in calls_of(project, READING) if call.startswith("open")}
    ours = (str(project), *PYTHON, *SYSTEM)
    strange = {path for path in opened if path.startswith("/") and not path.startswith(ours)}
    assert strange == set()


def test_accept_writes_the_definitions_and_their_list_and_nothing_else(project: Path):
    (project / "schemas" / "worth.json").unlink()
    calls = calls_of(project, [("discern_accept", {})])
    written = {Path(path_in(call)) for call in calls if WRITES.search(call)} - {Path("/dev/null")}
    assert written
    assert {path.parent for path in written} <= {project, project / "schemas"}
    assert (project / "schemas" / "worth.json").exists()
