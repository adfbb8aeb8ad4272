"""A root folder that holds one program, ``/proc``, ``/tmp`` and a project: no Python, no library, no network."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT: Final = "/the-project"
_NOBODY: Final = 65534
# Each step replaces the one before it, so that the process that was started is the program in the end.
_ENTER: Final = 'mount -t proc proc "$0/proc" && exec chroot --userspec=65534:65534 "$0" "$@"'


def why_impossible() -> str | None:
    """Why this machine cannot make such a root; None where it can."""
    if sys.platform != "linux":
        return "needs Linux"
    if os.geteuid() != 0:
        return "needs root, to change the root and the user"
    missing = [tool for tool in ("unshare", "mount", "chroot") if shutil.which(tool) is None]
    return f"needs {', '.join(missing)}" if missing else None


@dataclass(frozen=True)
class EmptyRoot:
    """Such a root.

    Attributes:
        path: Where it is, seen from outside.
    """

    path: Path

    @classmethod
    def make(cls, path: Path, program: Path) -> EmptyRoot:
        """Make one at `path` and copy `program` into it."""
        for folder in ("proc", "tmp", PROJECT.lstrip("/")):
            (path / folder).mkdir(parents=True)
        (path / "tmp").chmod(0o1777)
        shutil.copy2(program, path / program.name)
        return cls(path)

    @property
    def project(self) -> Path:
        """The project's folder, seen from outside."""
        return self.path / PROJECT.lstrip("/")

    def give_project_away(self) -> None:
        """Make the unprivileged user the owner of the project's folder and all in it."""
        for path in (self.project, *self.project.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)

    def command(self, *words: str) -> list[str]:
        """The command line that runs `words` in it, as an unprivileged user, in a network of its own without a link."""
        return ["unshare", "--mount", "--net", "sh", "-c", _ENTER, str(self.path), *words]

    def files(self) -> dict[str, bytes]:
        """Every file in it, ``/proc`` left aside."""
        found = (path for path in self.path.rglob("*") if path.is_file() and self.path / "proc" not in path.parents)
        return {str(path.relative_to(self.path)): path.read_bytes() for path in found}
