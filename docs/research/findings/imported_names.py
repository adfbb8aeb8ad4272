"""Every name that `discern_server` takes from the SDK, and whether the SDK lists it as public."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parents[3] / "discern_server"
SDK: Final = ("mcp", "mcp_types")


def imported(source: str) -> Iterator[tuple[str, str]]:
    """``(module, name)`` for each name imported from the SDK."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in SDK:
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] in SDK)


def standing(module: str, name: str) -> str:
    """Whether `name` is in the ``__all__`` of `module`, and defined there at all."""
    loaded = importlib.import_module(module)
    if name and not hasattr(loaded, name):
        return "MISSING"
    listed = getattr(loaded, "__all__", None)
    if not name or listed is None:
        return "no __all__"
    return "in __all__" if name in listed else "not in __all__"


def main() -> None:
    print(f"mcp {version('mcp')}, mcp-types {version('mcp-types')}")
    names = sorted({found for file in PACKAGE.rglob("*.py") for found in imported(file.read_text(encoding="utf-8"))})
    for module, name in names:
        print(f"{module} {name}: {standing(module, name)}")
    private = [f"{module}.{name}" for module, name in names if "._" in f".{module}.{name}"]
    print(f"names with a leading underscore: {private}")


if __name__ == "__main__":
    main()
