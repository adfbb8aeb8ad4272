"""Make docs/requirements.md: what the specification asks, and which test shows it, from the tests' marks.

Usage: python tools/requirements.py [--check]
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "tests" / "requirements.toml"
PAGE = ROOT / "docs" / "requirements.md"
MARK = "requirement"

_HEAD = """\
# What the specification asks, and what shows it

Made by `python tools/requirements.py` from `tests/requirements.toml` and from the marks of the tests; a test checks
that it is current. Pages are those of revision 2026-07-28; `nox -s conformance` runs the scenarios.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A test that shows a requirement."""

    path: str
    name: str


def requirements() -> list[Mapping[str, Any]]:
    """The requirements, in order."""
    found: list[Mapping[str, Any]] = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["requirement"]
    return found


def marks() -> dict[int, list[Shown]]:
    """The tests that are marked with each number."""
    found: dict[int, list[Shown]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for number in _numbers(node.decorator_list):
                    found.setdefault(number, []).append(Shown(str(path.relative_to(ROOT)), node.name))
    return found


def _numbers(decorators: Sequence[ast.expr]) -> Iterator[int]:
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == f"pytest.mark.{MARK}":
            for argument in decorator.args:
                yield ast.literal_eval(argument)


def render() -> str:
    """The page."""
    shown = marks()
    parts = [_HEAD]
    for section, group in groupby(requirements(), key=lambda requirement: requirement["section"]):
        parts.append(f"\n## {section}\n\n| | | asked | page | shown by |\n| --- | --- | --- | --- | --- |\n")
        parts.extend(_row(requirement, shown.get(requirement["number"], [])) for requirement in group)
    return "".join(parts)


def _row(requirement: Mapping[str, Any], shown: Sequence[Shown]) -> str:
    evidence = [f"[{_spoken(test.name)}](../{test.path})" for test in shown]
    if "conformance" in requirement:
        evidence.append(f"conformance: {requirement['conformance']}")
    if "argued" in requirement:
        evidence.append(str(requirement["argued"]))
    cells = (requirement["number"], requirement["strength"], requirement["text"], requirement["page"])
    return f"| {' | '.join(map(str, cells))} | {'<br>'.join(evidence)} |\n"


def _spoken(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


def main(arguments: Sequence[str]) -> int:
    """Write the page, or check that it is current."""
    page = render()
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page:
        return 0
    print(f"{PAGE.name} is not what the tests say: run python tools/requirements.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
