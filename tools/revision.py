"""Write the revision that this repository's own server speaks into the pages that name it.

The revision is read off the wire by ``discern era``, never copied from a constant. A page names it between
``<!--revision-->`` and ``<!--/revision-->``.

Usage: python tools/revision.py [--check]    (--check writes nothing and exits 1 where a page is stale)
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ("README.md", "CHANGELOG.md", "schemas/README.md", "docs/**/*.md")
MARK: Final = re.compile(r"(<!--revision-->).*?(<!--/revision-->)", re.DOTALL)


def speak() -> str:
    """The revision that the project's own server negotiates, off the wire.

    Raises:
        SystemExit: The server is not modern-only, or speaks more than one revision.
    """
    answer = subprocess.run(
        [sys.executable, "-m", "discern_server", "--json", "era", "--forbid-legacy"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    envelope = json.loads(answer.stdout)
    revisions = envelope.get("data", {}).get("revisions", [])
    if not envelope["ok"] or len(revisions) != 1:
        sys.exit(f"the server does not speak one modern revision alone: {envelope.get('message')}")
    return str(revisions[0])


def rewrite(text: str, revision: str) -> str:
    """`text` with `revision` in every marked place."""
    return MARK.sub(rf"\g<1>{revision}\g<2>", text)


def main(arguments: list[str]) -> int:
    """Rewrite or check every page and return the exit code."""
    revision = speak()
    pages = sorted(page for pattern in PAGES for page in ROOT.glob(pattern))
    stale = [page for page in pages if rewrite(page.read_text(encoding="utf-8"), revision) != page.read_text("utf-8")]
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'stale' if '--check' in arguments else 'written'}, revision {revision}")
        if "--check" not in arguments:
            page.write_text(rewrite(page.read_text(encoding="utf-8"), revision), encoding="utf-8")
    if "--check" in arguments and stale:
        print("run: nox -s readme")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
