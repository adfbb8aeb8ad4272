"""Projects in a temporary folder, whose definitions are written by hand: nothing is imported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

SERVER = '[server]\nname = "shop"\nversion = "1.0"\n'


class ProjectFolder:
    """A project with one folder of definitions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("discern.toml", SERVER + '[[sources]]\nkind = "schemas"\ndirectory = "definitions"\n')
        (root / "definitions").mkdir()

    def write(self, path: str, content: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def define(self, **tools: Mapping[str, Any]) -> None:
        for name, schema in tools.items():
            self.write(f"definitions/{name}.json", json.dumps(schema))

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def files(self) -> dict[str, str]:
        """Everything below the project's folder but its own definitions."""
        return {
            path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.parent.name != "definitions"
        }


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    folder = ProjectFolder(tmp_path)
    folder.define(add={"type": "object"}, sub={"type": "object"})
    return folder
