"""The verbs as tools: the source of ``schemas/discern_*.json``, and what ``discern mcp`` calls.

The project is the one that ``discern mcp`` was started for, or one in a folder below; never one outside.
Sources are asked in a process of their own, so that each answer is about the files as they are now.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from discern_server.handler import RequestContext
from discern_server.result import DiscernResult, failure
from discern_server.sources.tool import tool
from discern_server.verbs.accept import AcceptData, accept
from discern_server.verbs.check import CheckData, check
from discern_server.verbs.doctor import DoctorData, doctor
from discern_server.verbs.era import EraData, era_of_project
from discern_server.verbs.generate import generate_apart
from discern_server.verbs.help import help_on
from discern_server.verbs.map import MapData, map_tools
from discern_server.verbs.status import StatusData, status
from discern_server.wire.expectation import Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What ``discern mcp`` may touch: `ctx.state` of its tools.

    Attributes:
        root: The folder of the project; nothing outside it is read or written.
    """

    root: Path


@asynccontextmanager
async def bounds() -> AsyncIterator[Bounds]:
    """The bounds of a server that serves this module as a project's own, with ``discern serve``: its folder."""
    yield Bounds(root=Path.cwd())


@tool(title="Where am I", read_only=True, idempotent=True, open_world=False, data=StatusData)
def discern_status(ctx: RequestContext) -> DiscernResult:
    """Show the project: its root, its configuration, its sources, and how many definitions are current."""
    return status(_root(ctx), generate_apart)


@tool(title="Tool table", read_only=True, idempotent=True, open_world=False, data=MapData)
def discern_map(ctx: RequestContext, name: str | None = None, project: str = ".") -> DiscernResult:
    """List the project's tools, or show one definition whole.

    Args:
        ctx: Bound to the root.
        name: The tool to show; leave it out to list all.
        project: The folder of the project, relative to the root and inside it.
    """
    folder = _inside("map", ctx, project)
    return folder if isinstance(folder, DiscernResult) else map_tools(folder, name)


@tool(title="Check definitions", read_only=True, idempotent=True, open_world=False, data=CheckData)
def discern_check(ctx: RequestContext, project: str = ".") -> DiscernResult:
    """Check every tool definition by every rule, and whether schemas/ is what the sources generate.

    Args:
        ctx: Bound to the root.
        project: The folder of the project, relative to the root and inside it.
    """
    folder = _inside("check", ctx, project)
    return folder if isinstance(folder, DiscernResult) else check(folder, generate_apart)


@tool(title="Write definitions", read_only=False, destructive=True, idempotent=True, open_world=False, data=AcceptData)
def discern_accept(
    ctx: RequestContext, dry_run: bool = False, overwrite: bool = False, project: str = "."
) -> DiscernResult:
    """Write to schemas/ what the sources generate; files that nothing generates any more are deleted.

    Args:
        ctx: Bound to the root.
        dry_run: Show the plan and change nothing.
        overwrite: Write over files that were written or changed by hand.
        project: The folder of the project, relative to the root and inside it.
    """
    folder = _inside("accept", ctx, project)
    if isinstance(folder, DiscernResult):
        return folder
    return accept(folder, generate_apart, dry_run=dry_run, overwrite=overwrite)


@tool(title="Prove the era", read_only=True, idempotent=True, open_world=False, data=EraData)
def discern_era(
    ctx: RequestContext, require: str | None = None, forbid_legacy: bool = False, project: str = "."
) -> DiscernResult:
    """Start the project's own server and read off the wire which protocol revisions it speaks.

    Args:
        ctx: Bound to the root.
        require: A revision that it has to serve, such as 2026-07-28.
        forbid_legacy: It has to refuse clients that open with initialize.
        project: The folder of the project, relative to the root and inside it.
    """
    folder = _inside("era", ctx, project)
    if isinstance(folder, DiscernResult):
        return folder
    return era_of_project(folder, Expectation(revision=require, legacy="reject" if forbid_legacy else "any"))


@tool(title="Check the installation", read_only=True, idempotent=True, open_world=False, data=DoctorData)
def discern_doctor() -> DiscernResult:
    """Look at the installation: Python, the SDK and its pin, the validation engine, the extras."""
    return doctor()


@tool(title="Guide", read_only=True, idempotent=True, open_world=False)
def discern_help(topic: str | None = None) -> DiscernResult:
    """Read the guide to discern.

    Args:
        topic: The topic to read; leave it out to list the topics.
    """
    return help_on(topic)


def _root(ctx: RequestContext) -> Path:
    bounds = ctx.state
    assert isinstance(bounds, Bounds), "discern mcp's lifespan says what may be touched"
    return bounds.root


def _inside(verb: str, ctx: RequestContext, project: str) -> Path | DiscernResult:
    """The folder `project` below the root, symbolic links followed; a refusal of one outside."""
    root = _root(ctx).resolve()
    try:
        folder = (root / project).resolve()
    except (OSError, ValueError):
        folder = None
    if folder is None or not folder.is_relative_to(root):
        message = f"{project!r} is not inside {root}, which this server is bound to"
        return failure(verb, "outside_root", message, hints=("name a folder below the root, relative to it",))
    return folder
