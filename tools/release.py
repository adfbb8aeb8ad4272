"""What a release needs that no test looks at: one version everywhere, its changes told, a clean checkout, no tag yet.

Usage: python tools/release.py    (exits 1 and names everything that is missing)
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent


def missing() -> Iterator[str]:
    """What keeps the checkout from being released, a sentence each."""
    version = _toml("pyproject.toml")["project"]["version"]
    for place, found in (
        ("discern.toml", _toml("discern.toml")["server"]["version"]),
        ("discern_server/__init__.py", _search(r'^__version__: Final = "(.+)"$', "discern_server/__init__.py")),
    ):
        if found != version:
            yield f"{place} says version {found}, pyproject.toml {version}"
    if _search(rf"^## \[?{re.escape(version)}\b(.*)$", "CHANGELOG.md") is None:
        yield f"CHANGELOG.md has no section ## {version}"
    if changed := _git("status", "--porcelain"):
        yield f"the checkout has changes:\n{changed}"
    if _git("tag", "--list", f"v{version}"):
        yield f"there is a tag v{version} already"


def _toml(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def _search(pattern: str, name: str) -> str | None:
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else None


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.rstrip()


if __name__ == "__main__":
    sys.exit("\n".join(missing()) or 0)
