"""Run the findings about the SDK and compare what they print with what was recorded.

Usage: python docs/research/run.py [--update] [NAME...]

Each file in ``findings/`` is a script that prints a few lines, the same on every run. What it printed when it
was last looked at lies in ``recorded/``; a difference is shown and makes the exit code 1. ``--update`` records
what is printed now. ``sdk-api-notes.md`` says what each finding means and which of our modules relies on it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
FINDINGS: Final = HERE / "findings"
RECORDED: Final = HERE / "recorded"
NOTES: Final = HERE / "sdk-api-notes.md"
TIMEOUT_S: Final = 180.0


def main(arguments: list[str]) -> int:
    """Run the findings that are named, or all, and return the exit code."""
    parser = argparse.ArgumentParser(description="Compare what the SDK does with what was recorded of it.")
    parser.add_argument("--update", action="store_true", help="record what is printed now")
    parser.add_argument("names", nargs="*", metavar="NAME", help="findings to run; all where none is named")
    options = parser.parse_args(arguments)
    known = sorted(path.stem for path in FINDINGS.glob("*.py"))
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"no such finding: {', '.join(unknown)}")
    moved = [name for name in options.names or known if not examine(name, update=options.update)]
    faults = list(loose_ends(known))
    for fault in faults:
        print(fault)
    if moved:
        print(f"\n{len(moved)} moved: {', '.join(moved)}. Read what changed, mend what relies on it, then --update.")
    return 1 if moved or faults else 0


def examine(name: str, *, update: bool) -> bool:
    """Run one finding; show how it differs from what was recorded. Whether it is as it was, or is recorded now."""
    printed = run(FINDINGS / f"{name}.py")
    record = RECORDED / f"{name}.txt"
    recorded = record.read_text(encoding="utf-8") if record.is_file() else ""
    if printed == recorded:
        print(f"  same  {name}")
        return True
    print(f"  {'new' if update else 'MOVED'}  {name}")
    sys.stdout.writelines(difference(recorded, printed, name))
    if update:
        record.write_text(printed, encoding="utf-8")
    return update


def difference(recorded: str, printed: str, name: str) -> Iterator[str]:
    """The unified diff from what was recorded to what is printed, line by line."""
    before, after = (text.splitlines(keepends=True) for text in (recorded, printed))
    return difflib.unified_diff(before, after, f"recorded/{name}.txt", f"findings/{name}.py")


def run(script: Path, timeout_s: float = TIMEOUT_S) -> str:
    """What `script` prints; where it fails or takes too long, that is said in the last lines."""
    process = subprocess.Popen(
        [sys.executable, "-X", "utf8", str(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        printed, complaint = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the server that it started too
        printed, _ = process.communicate()
        return f"{printed}(gave up after {timeout_s:.0f} s)\n"
    return printed if process.returncode == 0 else f"{printed}{complaint}(exit status {process.returncode})\n"


def loose_ends(known: list[str]) -> Iterator[str]:
    """What does not fit together: a finding that the notes leave out, a record without its finding."""
    notes = NOTES.read_text(encoding="utf-8")
    for name in known:
        if f"`{name}`" not in notes:
            yield f"{NOTES.name} does not say what `{name}` means"
    for record in sorted(RECORDED.glob("*.txt")):
        if record.stem not in known:
            yield f"recorded/{record.name} belongs to no finding"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
