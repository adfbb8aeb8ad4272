"""``discern init``: write ``discern.toml``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from discern_server.project import FILE_NAME, Project, ProjectError
from discern_server.result import DiscernResult, Step, StepStatus, apply, failure
from discern_server.verbs.files import performer
from discern_server.verbs.generate import Generate

STARTER_MODULE: Final = "tools"
STARTER: Final = '''\
"""The tools of this server: each function that is marked with @tool."""

from __future__ import annotations

from discern_server import tool


@tool(title="Add", read_only=True, open_world=False)
def add(a: float, b: float) -> float:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b
'''
"""What ``discern init`` writes where it is told of no source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitData:
    """The server's name and its tools."""

    server: str
    tools: list[str]


def init(
    root: Path,
    generate: Generate,
    *,
    module: str | None = None,
    folder: str | None = None,
    handlers: str | None = None,
    name: str | None = None,
    dry_run: bool = False,
) -> DiscernResult:
    """Write a project file to the folder `root`, for one source that is there and gives its definitions.

    Nothing that exists is overwritten, and nothing is written for a source that has a fault.

    Args:
        root: The folder.
        generate: How the source is asked.
        module: A Python module, for a source of kind ``python``. Where neither it nor `folder` is given, it is
            ``tools``, which is written, too, unless it is there.
        folder: A folder of definitions below `root`, for a source of kind ``schemas``.
        handlers: The module with the functions for them.
        name: The server's name; that of the folder where it is None.
        dry_run: Show the plan and change nothing.
    """
    if (root / FILE_NAME).exists():
        message = f"there is a {FILE_NAME} already; nothing was written"
        return failure("init", "exists", message, hints=("edit it: discern help configuration",))
    starter = f"{STARTER_MODULE}.py"
    contents = {FILE_NAME: _project_file(name or name_of(root), module, folder, handlers)}
    if module is None and folder is None and not (root / starter).exists():
        contents[starter] = STARTER
    tools = ["add"] if starter in contents else _tools(contents[FILE_NAME], root, generate)
    if isinstance(tools, DiscernResult):
        return tools
    plan = tuple(Step(action="create", target=target) for target in contents)
    data = asdict(InitData(server=name or name_of(root), tools=tools))
    if dry_run:
        message = f"{FILE_NAME} would be written"
        return DiscernResult(ok=True, verb="init", message=message, data=data, dry_run=True, plan=plan)
    return written(root, contents, plan, data)


def written(root: Path, contents: Mapping[str, str], plan: tuple[Step, ...], data: object) -> DiscernResult:
    """Write the files that are planned, and answer with what became of that."""
    steps = apply(plan, performer(root, {target: text.encode() for target, text in contents.items()}))
    failed = next((step for step in steps if step.status is StepStatus.FAILED), None)
    if failed:
        message = f"{failed.target} could not be written: {failed.detail}"
        return DiscernResult(ok=False, verb="init", message=message, steps=steps, error="write_failed")
    hints = ("discern accept writes the definitions", "discern serve serves them")
    return DiscernResult(ok=True, verb="init", message=f"wrote {FILE_NAME}", data=data, steps=steps, hints=hints)


def _tools(text: str, root: Path, generate: Generate) -> list[str] | DiscernResult:
    """The names of the tools that a project file would give, or why it would give none."""
    try:
        generated = generate(Project.parse(text, root))
    except ProjectError as error:
        return failure("init", "invalid_project", "nothing was written", diagnostics=error.diagnostics)
    if generated.faults:
        message = "the source has faults; nothing was written"
        return failure("init", "invalid_sources", message, diagnostics=generated.faults)
    return list(generated.definitions)


def _project_file(name: str, module: str | None, folder: str | None, handlers: str | None) -> str:
    source = {"kind": "python", "module": module or STARTER_MODULE}
    if folder is not None:
        source = {"kind": "schemas", "directory": folder}
        if handlers is not None:
            source["handlers"] = handlers
    lines = ["# discern help configuration lists every key.", "", "[server]", member("name", name)]
    lines += [member("version", "0.1.0"), "", "[[sources]]", *(member(key, value) for key, value in source.items())]
    return "\n".join(lines) + "\n"


def member(key: str, value: str) -> str:
    """A line of TOML."""
    # A basic string of TOML is written as JSON writes a string, but for DEL.
    return f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def name_of(root: Path) -> str:
    """A server's name after the folder of its project."""
    return re.sub(r"[^\w.-]+", "-", root.resolve().name).strip("-") or "server"
