"""The guide from an API description to a served tool: its files, its commands, and what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e import petstore_api

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "openapi.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_URL = "http://127.0.0.1:8000"
ENVIRONMENT = {**os.environ, "BOOKSHOP_KEY": "secret", "NO_COLOR": "1"}
PROGRAM = [sys.executable, "-P", "-m", "discern_server"]
BOOKS = [{"id": 1, "title": "The Dispossessed"}]


@pytest.fixture
def api() -> Iterator[petstore_api.Api]:
    with petstore_api.serve() as served:
        yield served


def shown(text: str, api: petstore_api.Api) -> str:
    """Text as the guide shows it: the API where the guide says that it is."""
    return text.replace(api.url, SHOWN_URL).replace(api.url.removeprefix("http://"), SHOWN_URL.removeprefix("http://"))


def commands(block: str) -> Iterator[tuple[list[str], str]]:
    """Each command of a console block with what it is said to print."""
    for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, printed = entry.partition("\n")
        yield shlex.split(line), printed


def test_the_guide_does_what_it_says(tmp_path: Path, api: petstore_api.Api):
    for language, file, content in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        target = tmp_path / file
        if language == "yaml":
            target.write_text(content, encoding="utf-8")
        elif file:
            assert shown(target.read_text(encoding="utf-8"), api) == content
        else:
            for words, printed in commands(content):
                assert words[0] == "discern"
                if words[1] == "call" and "--dry-run" not in words:
                    api.answer(200, BOOKS)
                actual = [word.replace(SHOWN_URL, api.url) for word in words[1:]]
                done = subprocess.run(
                    [*PROGRAM, *actual], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=120, check=False
                )
                assert shown(done.stdout.decode(), api) == printed, done.stderr.decode()
    assert [request.target for request in api.requests] == ["/books?author=Le%20Guin"]
    with StdioServer([*PROGRAM, "serve"], cwd=tmp_path, env=ENVIRONMENT) as server:
        api.answer(200, BOOKS)
        result = server.ask(modern_request("tools/call", {"name": "listBooks", "arguments": {}}))["result"]
        assert result["structuredContent"] == BOOKS


def test_the_guide_lists_every_rule():
    source = Path(__file__).parents[2] / "discern_server"
    files = [*(source / "sources" / "openapi").glob("*.py"), source / "verbs" / "init_openapi.py"]
    rules = {rule for file in files for rule in re.findall(r'"(openapi\.[a-z-]+)"', file.read_text(encoding="utf-8"))}
    assert set(re.findall(r"^\| `(openapi\.[a-z-]+)`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)) == rules
