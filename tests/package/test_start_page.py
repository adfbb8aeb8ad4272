"""The start page, followed to the letter in an empty folder, with the wheel in the place of the package index's."""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.pages import blocks, pattern

PAGE = Path(__file__).parents[2] / "docs" / "index.md"
DIST = os.environ.get("DISCERN_DIST")
DAYS = {"name": "days_until", "arguments": {"day": "2027-01-01", "since": "2026-12-24"}}

pytestmark = pytest.mark.skipif(DIST is None, reason="DISCERN_DIST names no folder with a wheel")


def test_every_command_works_as_printed_and_the_agent_is_served(tmp_path: Path):
    page = blocks(PAGE.read_text(encoding="utf-8"))
    folder = tmp_path / "first"
    folder.mkdir()
    script = ["set -e"]
    expected: list[tuple[str, str]] = []
    for block in page:
        if block.file:
            script.append(f"cat > {block.file} <<'END OF FILE'\n{block.text}END OF FILE")
        elif block.language == "sh":
            script.append(block.text)
        elif block.language == "console":
            for command, shown in block.commands():
                script.append(f"{command} > ../{len(expected)}.out")
                expected.append((command, shown))
    follow(script, folder)
    for number, (command, shown) in enumerate(expected):
        printed = (tmp_path / f"{number}.out").read_text(encoding="utf-8")
        assert fnmatch.fnmatchcase(printed, pattern(shown)), f"{command}\n{printed}"
    (agent,) = (json.loads(block.text)["mcpServers"]["first"] for block in page if block.language == "json")
    words = [word.replace("/path/to/first", str(folder)) for word in (agent["command"], *agent["args"])]
    with StdioServer(words, cwd=tmp_path, env=newcomer()) as server:
        assert server.ask(modern_request("tools/call", DAYS))["result"]["structuredContent"] == 8


def follow(script: list[str], folder: Path) -> None:
    """Run the commands in one shell, as a reader would."""
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=folder, env=newcomer(), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def newcomer() -> dict[str, str]:
    """The environment of somebody who has never seen this project."""
    hidden = ("DISCERN_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    path = [entry for entry in kept["PATH"].split(os.pathsep) if not (Path(entry) / "discern").exists()]
    return {**kept, "PATH": os.pathsep.join(path), "PIP_FIND_LINKS": str(DIST), "PIP_QUIET": "1"}
