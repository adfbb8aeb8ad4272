"""Every command of the bundled guide runs, and every file it shows is good.

A code block with a file name after its language is written to a folder of the page's own; each line of a ``console``
block that starts with ``$`` is run there, in the order of the page.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

from discern_server.project import Project
from discern_server.verbs.help import TOPICS, help_on
from tests.e2e.cli import discern

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_does_what_it_says(topic: str, tmp_path: Path):
    page = help_on(topic).data
    for language, file, content in BLOCK.findall(page):
        if file:
            (tmp_path / file).write_text(content, encoding="utf-8")
        if language == "console":
            for line in content.splitlines():
                program, *words = shlex.split(line.removeprefix("$ "))
                assert program == "discern"
                answer = discern(*words, cwd=tmp_path)
                assert answer.code == 0, f"{line}\n{answer.out}{answer.err}"
        elif language == "toml":
            assert Project.parse(content, tmp_path).sources
        elif language == "json":
            json.loads(content)
        else:
            assert language == "python"
            ast.parse(content)


def test_every_key_of_the_project_file_is_in_the_guide():
    """What the reader asks a table for is what may stand in it."""
    source = (Path(__file__).parents[2] / "discern_server" / "project.py").read_text(encoding="utf-8")
    asked = set(re.findall(r"""table\.(?:\w+)\(\s*"(\w+)\"""", source))
    asked |= set(re.findall(r"""_(?:module|path|reference|url|dialect)\(table, "(\w+)\"""", source))
    shown = help_on("configuration").data
    assert {key for key in asked if not re.search(rf"\b{key}\b", shown)} == set()
