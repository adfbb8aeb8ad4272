"""The table, as text and as a page."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from itertools import groupby

from benchmarks.paired import Spread
from benchmarks.rows import Row


def as_text(rows: Sequence[Row]) -> str:
    """The rows for a terminal."""
    lines = []
    for group, members in groupby(rows, key=lambda row: row.group):
        lines.append(f"\n{group}")
        for row in members:
            lines.append(f"  {_verdict(row):6} {row.what}: {_value(row)}, bar {_bar(row)}")
            lines.append(f"         {'; '.join(part for part in (row.ours, row.theirs) if part)}{_cpu_text(row)}")
    return "\n".join(lines)


def as_page(rows: Sequence[Row], versions: Mapping[str, Mapping[str, str]], *, quick: bool) -> str:
    """The page ``docs/benchmarks.md``."""
    parts = [_HEAD.format(command="nox -s bench -- --quick" if quick else "nox -s bench", machine=_machine())]
    parts.append("\n".join(f"* {name}: {_listed(found)}" for name, found in versions.items()))
    for group, members in groupby(rows, key=lambda row: row.group):
        parts.append(f"## {group[0].upper()}{group[1:]}\n\n{_TABLE_HEAD}")
        parts[-1] += "".join(
            f"| {row.what} | {row.ours} | {row.theirs} | {_value(row)} | "
            f"{_spread(row.cpu, '') if row.cpu else '-'} | {_bar(row)} | {_verdict(row)} |\n"
            for row in members
        )
    return "\n\n".join(parts)


_HEAD = """\
# Benchmarks

Written by `{command}`: do not edit. Every figure comes from one run, in which the servers took turns batch by
batch. A ratio is ours to theirs, taken within each round; shown are its median and, in brackets, its quartiles. The
bar is held against the median ([why some are missed](benchmarks-profile.md#bars-that-are-missed-and-why)). Every
answer was checked. Servers are warmed up with 500 calls, unless a row says that it measures the first ones.

{machine}."""

_TABLE_HEAD = """\
| | ours | peer | ratio | of CPU time | bar | |
| --- | --- | --- | --- | --- | --- | --- |
"""


def _machine() -> str:
    return f"Measured on {platform.system()} {platform.machine()} with {os.cpu_count()} processors"


def _listed(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _value(row: Row) -> str:
    return _spread(row.value, row.unit)


def _spread(spread: Spread, unit: str) -> str:
    return f"{_figure(spread.median)}{unit} [{_figure(spread.low)}, {_figure(spread.high)}]"


def _figure(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 0.02 else f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"


def _bar(row: Row) -> str:
    if row.bar is None:
        return "-"
    return f"{'at least' if row.at_least else 'at most'} {row.bar:g}{row.unit}"


def _cpu_text(row: Row) -> str:
    return f"; CPU {_spread(row.cpu, '')}" if row.cpu else ""


def _verdict(row: Row) -> str:
    if row.bar is None:
        return ""
    return "MISSED" if row.missed else "ok"
