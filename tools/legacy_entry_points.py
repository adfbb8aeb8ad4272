"""Find the SDK's legacy entry points where a linter by qualified name cannot: on instances.

``server.run(read, write, options)`` serves whichever era the client opens with, in silence. It is told
by the options it needs (``create_initialization_options``) or by three arguments to a method named
``run`` in a file that imports the SDK. A line that exercises the legacy path on purpose says so with
``# legacy entry point: <why>``.

Usage: python tools/legacy_entry_points.py PATH...   (exit 1 where one is found)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PERMIT: Final = "# legacy entry point:"
_RUN_ARGUMENTS: Final = 3


def find(source: str) -> Iterator[tuple[int, str]]:
    """Yield ``(line, reason)`` for each legacy entry point in `source` that is not permitted."""
    tree = ast.parse(source)
    if not any(_imports_sdk(node) for node in ast.walk(tree)):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        reason = _reason(node)
        if reason and isinstance(node, ast.expr) and PERMIT not in lines[node.lineno - 1]:
            yield node.lineno, reason


def _imports_sdk(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == "mcp"
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "mcp" for alias in node.names)


def _reason(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute) and node.attr == "create_initialization_options":
        return "create_initialization_options() is only needed to run a server the legacy way"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "run"
        and len(node.args) + len(node.keywords) >= _RUN_ARGUMENTS
    ):
        return "run(read, write, options) serves the legacy era in silence"
    return None


def main(paths: list[str]) -> int:
    """Print each finding as ``file:line: reason`` and return the exit code."""
    files = sorted(
        file for path in paths for file in ([Path(path)] if path.endswith(".py") else Path(path).rglob("*.py"))
    )
    found = False
    for file in files:
        for line, reason in find(file.read_text(encoding="utf-8")):
            print(f"{file}:{line}: {reason}; use discern_server.serve_stdio, or say why with '{PERMIT} ...'")
            found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
