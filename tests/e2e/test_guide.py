"""Every command of the bundled guide runs, and every file it shows is good."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from discern_server.project import Project
from discern_server.verbs.help import TOPICS, help_on
from tests.e2e.pages import blocks, run_command, write_file


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_does_what_it_says(topic: str, tmp_path: Path):
    for block in blocks(help_on(topic).data):
        if block.file:
            write_file(block, tmp_path)
        if block.language == "console":
            for command, shown in block.commands():
                run_command(command, shown, tmp_path)
        elif block.language == "toml":
            project = Project.parse(block.text, tmp_path)
            assert project.sources or project.resources.files
        elif block.language == "json":
            json.loads(block.text)
        elif block.language != "markdown":
            assert block.language == "python"
            ast.parse(block.text)


def test_every_key_of_the_project_file_is_in_the_guide():
    """What the reader asks a table for is what may stand in it."""
    source = (Path(__file__).parents[2] / "discern_server" / "project.py").read_text(encoding="utf-8")
    asked = set(re.findall(r"""table\.(?:\w+)\(\s*"(\w+)\"""", source))
    asked |= set(re.findall(r"""_(?:module|path|reference|url|dialect)\(table, "(\w+)\"""", source))
    shown = help_on("configuration").data
    assert {key for key in asked if not re.search(rf"\b{key}\b", shown)} == set()
