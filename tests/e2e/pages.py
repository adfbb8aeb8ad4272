"""Doing what a page says: its files are written, its commands are run, in the order of the page.

A code block with a file name after its language is written to the page's folder. A line of a ``console`` block that
starts with ``$`` is run there; where other lines follow it, they are what it has to print. A line of dots
stands for any lines.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.e2e.cli import DISCERN, environment

_BLOCK: Final = re.compile(r"^```([\w-]+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_PROGRAMS: Final = {
    "discern": DISCERN,
    "python": (sys.executable,),
    "pytest": (sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
}
_TIMEOUT_S: Final = 180


@dataclass(frozen=True)
class Block:
    """A code block: its language, the file it is said to be in, and its text."""

    language: str
    file: str
    text: str

    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command of a ``console`` block, with what is shown below it."""
        for command, shown in _COMMAND.findall(self.text):
            yield command, shown.strip()


def blocks(page: str) -> list[Block]:
    """The code blocks of a page, in order."""
    return [Block(*found) for found in _BLOCK.findall(page)]


def write_file(block: Block, folder: Path) -> None:
    """Put the text of `block` where the page says that it is."""
    file = folder / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")


def run_command(command: str, shown: str, folder: Path) -> str:
    """Run one command: it has to succeed, and to print what is shown. Returns all that it printed."""
    settings, (program, *words) = _split(command)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*_PROGRAMS[program], *words],
        cwd=folder,
        env=environment(PATH=path, **settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT_S,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert not shown or fnmatch.fnmatchcase(done.stdout, pattern(shown)), f"{command}\n{done.stdout}"
    return done.stdout


def _split(command: str) -> tuple[dict[str, str], list[str]]:
    """The variables that are set before a command, and its words."""
    words = shlex.split(command)
    settings = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        settings[name] = value
    return settings, words


def pattern(shown: str) -> str:
    """The text as a pattern in which a line of dots stands for any lines."""
    literal = re.sub(r"([\[*?])", r"[\1]", shown.rstrip("\n"))
    return re.sub(r"(?m)^\.\.\.$", "*", literal) + "*"
