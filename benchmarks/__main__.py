"""The command line: ``python -m benchmarks [--quick] [--only GROUP] [--no-page]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks import calls, cold, environments, http, lists, memory, normalize, openapi, report, validation
from benchmarks.rows import Row

PAGE: Final = environments.ROOT / "docs" / "benchmarks.md"

GROUPS: Final[dict[str, Callable[[bool, Path], list[Row]]]] = {
    "calls": lambda quick, directory: calls.rows(calls.QUICK if quick else calls.FULL, directory),
    "lists": lambda quick, directory: lists.rows(lists.QUICK if quick else lists.FULL, directory),
    "http": lambda quick, directory: http.rows(http.QUICK if quick else http.FULL, directory),
    "cold": lambda quick, directory: cold.rows(cold.QUICK if quick else cold.FULL, directory),
    "memory": lambda quick, directory: memory.rows(memory.QUICK if quick else memory.FULL, directory),
    "openapi": lambda quick, directory: openapi.rows(openapi.QUICK if quick else openapi.FULL, directory),
    "normalize": lambda quick, directory: normalize.rows(normalize.QUICK if quick else normalize.FULL, directory),
    "validation": lambda quick, directory: validation.rows(validation.QUICK if quick else validation.FULL, directory),
}


def main() -> int:
    """Measure, print, write the page; return 1 where a bar was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure discern-server beside its peers."
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds: done within five minutes")
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this group alone; writes no page")
    options = parser.parse_args()
    environments.prepare()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        for name in options.only or GROUPS:
            measured = GROUPS[name](options.quick, Path(directory))
            print(report.as_text(measured), flush=True)
            rows += measured
    if not options.only:
        PAGE.write_text(report.as_page(rows, environments.versions(), quick=options.quick), encoding="utf-8")
    missed = [row for row in rows if row.missed]
    print(f"\n{len(missed)} of {sum(row.bar is not None for row in rows)} bars missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
