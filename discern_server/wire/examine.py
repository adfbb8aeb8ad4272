"""From a target to a report: probe it, judge it, compare it with what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from discern_server.wire.expectation import Expectation
from discern_server.wire.limits import Limits
from discern_server.wire.probe import probe_command, probe_url
from discern_server.wire.report import Report, report_on

Target: TypeAlias = Sequence[str] | str
"""A command as an argument list, or a URL."""


def examine(
    target: Target,
    expectation: Expectation | None = None,
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    call: bool = True,
) -> Report:
    """Probe a server and judge it. Nothing that the server does raises.

    Args:
        target: A command as an argument list, or a URL.
        expectation: What has to hold for the report to be ``ok``; by default, that it is an MCP server.
        cwd: Where the command is run.
        env: Its whole environment, or None for the caller's.
        headers: Sent with each HTTP request, such as ``Authorization``; their values are not recorded.
        limits: Bounds on time and size.
        call: Whether to call a tool that says it only reads and needs no arguments.
    """
    expectation = expectation or Expectation()
    revision = expectation.legacy_revision
    if isinstance(target, str):
        evidence = probe_url(target, headers=headers, limits=limits, legacy_revision=revision, call=call)
    else:
        evidence = probe_command(target, cwd=cwd, env=env, limits=limits, legacy_revision=revision, call=call)
    return report_on(evidence, expectation)


def is_url(text: str) -> bool:
    """Whether `text` is a URL that can be probed."""
    return text.lower().startswith(("http://", "https://"))
