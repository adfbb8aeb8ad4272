"""The guide from an API description to a served tool: its files, its commands, and what they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e import petstore_api
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import DISCERN, environment
from tests.e2e.pages import blocks, run_command, write_file

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "openapi.md"
SHOWN = "127.0.0.1:8000"
"""Where the guide says that the API is."""
BOOKS = [{"id": 1, "title": "The Dispossessed"}]


@pytest.fixture
def api() -> Iterator[petstore_api.Api]:
    with petstore_api.serve() as served:
        yield served


def test_the_guide_does_what_it_says(tmp_path: Path, api: petstore_api.Api):
    page = GUIDE.read_text(encoding="utf-8").replace(SHOWN, api.url.removeprefix("http://"))
    for block in blocks(page):
        if block.language == "yaml":
            write_file(block, tmp_path)
        elif block.file:
            assert (tmp_path / block.file).read_text(encoding="utf-8") == block.text
        for command, shown in block.commands():
            if command.startswith("discern call") and "--dry-run" not in command:
                api.answer(200, BOOKS)
            assert run_command(f"BOOKSHOP_KEY=secret {command}", shown, tmp_path).strip() == shown
    assert [request.target for request in api.requests] == ["/books?author=Le%20Guin"]
    settings = environment(BOOKSHOP_KEY="secret")
    with StdioServer([*DISCERN, "serve"], cwd=tmp_path, env=settings, limits=PATIENT) as server:
        api.answer(200, BOOKS)
        result = server.ask(modern_request("tools/call", {"name": "listBooks", "arguments": {}}))["result"]
        assert result["structuredContent"] == BOOKS


def test_the_guide_lists_every_rule():
    source = Path(__file__).parents[2] / "discern_server"
    files = [*(source / "sources" / "openapi").glob("*.py"), source / "verbs" / "init_openapi.py"]
    rules = {rule for file in files for rule in re.findall(r'"(openapi\.[a-z-]+)"', file.read_text(encoding="utf-8"))}
    assert set(re.findall(r"^\| `(openapi\.[a-z-]+)`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)) == rules
