"""The pages of the documentation do what they say."""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import discern, environment
from tests.e2e.pages import Block, blocks, run_command, write_file

DOCS = Path(__file__).parents[2] / "docs"
OWN_TESTS = {
    "guide/asking.md": "test_guide_http.py",
    "guide/auth.md": "test_guide_http.py",
    "guide/deploying.md": "test_guide_http.py",
    "guide/eras.md": "test_guide_eras.py",
    "guide/http.md": "test_guide_http.py",
    "guide/openapi.md": "test_guide_openapi.py",
}
"""Pages that show whole files beside them, which these tests run."""
PAGES = sorted(str(page.relative_to(DOCS)) for page in (DOCS / "index.md", *DOCS.glob("guide/*.md")))


def read(page: str) -> list[Block]:
    return blocks((DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OWN_TESTS])
def test_a_page_does_what_it_says(page: str, tmp_path: Path):
    for block in read(page):
        if block.file:
            write_file(block, tmp_path)
        for command, shown in block.commands() if block.language == "console" else ():
            run_command(command, shown, tmp_path)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "guide/rules.md"])  # it shows fragments
def test_what_a_page_shows_can_be_read(page: str):
    readers: dict[str, Callable[[str], object]] = {"python": ast.parse, "json": json.loads, "toml": tomllib.loads}
    for block in read(page):
        if block.language in readers:
            readers[block.language](dedent(block.text))


def test_the_pages_with_tests_of_their_own_have_them():
    for page, test in OWN_TESTS.items():
        assert Path(page).name in Path(__file__).with_name(test).read_text(encoding="utf-8")


def test_a_bundled_page_is_shown_as_it_is():
    for page in (DOCS / "reference").glob("*.md"):
        for target in re.findall(r"^```\{include\} (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert (page.parent / target).is_file(), f"{page.name}: {target}"


# --- the configurations of agents ---------------------------------------------------------------------

AGENTS = [block for block in read("guide/agents.md") if block.file]
SERVERS_UNDER = {".vscode/mcp.json": "servers", ".codex/config.toml": "mcp_servers"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the start page."""
    root = tmp_path_factory.mktemp("first")
    for words in ("init", "accept"):
        assert discern(words, cwd=root).code == 0
    return root


def command_in(server: dict[str, Any], project: Path) -> list[str]:
    """The command of a configuration, with this environment and this project in the place of the reader's."""
    program = str(Path(sys.executable).with_name("discern"))
    folders = ("/path/to/first", "${workspaceFolder}")
    words = [server["command"], *server["args"]]
    for folder in folders:
        words = [word.replace(f"{folder}/.venv/bin/discern", program).replace(folder, str(project)) for word in words]
    return words


@pytest.mark.parametrize("block", AGENTS, ids=lambda block: block.file)
def test_the_command_in_the_configuration_of_an_agent_serves_the_project(block: Block, project: Path, tmp_path: Path):
    configuration = tomllib.loads(block.text) if block.language == "toml" else json.loads(block.text)
    (server,) = configuration[SERVERS_UNDER.get(block.file, "mcpServers")].values()
    assert set(server) <= {"type", "command", "args"}
    assert server.get("type", "stdio") == "stdio"
    with StdioServer(command_in(server, project), cwd=tmp_path, env=environment(), limits=PATIENT) as served:
        answer = served.ask(modern_request("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}}))
        assert answer["result"]["structuredContent"] == 5


def test_the_configuration_on_the_start_page_is_that_of_the_agent():
    (shown,) = (json.loads(block.text) for block in read("index.md") if block.language == "json")
    (described,) = (json.loads(block.text) for block in AGENTS if block.file == ".mcp.json")
    assert described["mcpServers"]["first"] == {"type": "stdio", **shown["mcpServers"]["first"]}


def test_the_line_that_adds_the_server_to_claude_code_is_that_of_the_configuration():
    page = (DOCS / "guide/agents.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`claude mcp add first -- (.*?)`", page)
    (described,) = (json.loads(block.text)["mcpServers"]["first"] for block in AGENTS if block.file == ".mcp.json")
    assert shlex.split(line) == [described["command"], *described["args"]]
