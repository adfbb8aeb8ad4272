"""The guide to eras shows what the program really says."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import discern, environment
from tests.e2e.pages import pattern

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
BLOCK = re.compile(r"```console\n\$ discern (?P<words>.*)\n(?P<shown>(?:.*\n)*?)```")
BLOCKS = list(BLOCK.finditer((GUIDE / "eras.md").read_text(encoding="utf-8")))


def test_there_is_something_to_compare():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["words"])
def test_what_is_shown_is_what_is_said(block: re.Match[str]):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    said = discern(*shlex.split(block["words"]), cwd=GUIDE, env=environment(PATH=path))
    assert fnmatch.fnmatchcase(said.out, pattern(block["shown"])), said.out
