"""``discern era``: say, and assert, which protocol revisions a server speaks, by what it does on the wire."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from discern_server.result import DiscernResult
from discern_server.wire.checks import Outcome
from discern_server.wire.expectation import Expectation
from discern_server.wire.limits import Limits
from discern_server.wire.probe import probe_command, probe_url
from discern_server.wire.report import Report, report_on
from discern_server.wire.verdict import Kind, Verdict

VERB: Final = "era"
_HEADLINES: Final = {
    Kind.MODERN_ONLY: "modern-only: serves modern clients and refuses legacy ones",
    Kind.DUAL_ERA: "dual-era: serves modern and legacy clients",
    Kind.LEGACY_ONLY: "legacy-only: serves legacy clients alone",
    Kind.NOT_MCP: "not an MCP server, as far as it answered",
}


def own_server_command() -> list[str]:
    """The command that serves a project's own tools over stdio, to be run in the project's folder."""
    # -P: the project's files must not be taken for modules of the interpreter that serves them.
    return [sys.executable, "-P", "-m", "discern_server", "serve"]


def era(
    target: Sequence[str] | str,
    *,
    expectation: Expectation | None = None,
    cwd: Path | None = None,
    headers: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    transcript: bool = False,
    call: bool = True,
) -> DiscernResult:
    """Probe a server and report its eras.

    Args:
        target: A command as an argument list, or a URL.
        expectation: What has to hold for the result to be ``ok``.
        cwd: Where the command is run.
        headers: Sent with each HTTP request.
        limits: Bounds on time and size.
        transcript: Whether to give the whole transcript.
        call: Whether to call a tool that says it only reads and needs no arguments.
    """
    return to_result(
        probe(target, expectation=expectation, cwd=cwd, headers=headers, limits=limits, call=call),
        transcript=transcript,
    )


def probe(
    target: Sequence[str] | str,
    *,
    expectation: Expectation | None = None,
    cwd: Path | None = None,
    headers: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    call: bool = True,
) -> Report:
    """Probe a server and judge it; parameters as for `era`."""
    expectation = expectation or Expectation()
    revision = expectation.legacy_revision
    if isinstance(target, str):
        evidence = probe_url(target, headers=headers, limits=limits, legacy_revision=revision, call=call)
    else:
        evidence = probe_command(target, cwd=cwd, limits=limits, legacy_revision=revision, call=call)
    return report_on(evidence, expectation)


def to_result(report: Report, *, transcript: bool = False) -> DiscernResult:
    """The report as the envelope that text, ``--json`` and the MCP tool are renderings of."""
    data: dict[str, Any] = {
        "target": report.evidence.target,
        "verdict": report.verdict.kind.value,
        "revisions": list(report.verdict.revisions),
        "decided_by": report.verdict.reason,
        "server": report.server,
        "tools": report.tool_count,
        "called": {"tool": report.call[0], "text": report.call[1]} if report.call else None,
        "checks": [
            {"check": check.id, "outcome": finding.outcome.value, "seen": finding.detail}
            for check, finding in report.findings
            if finding.outcome is not Outcome.NOT_APPLICABLE
        ],
        "unasked": report.evidence.unasked,
    }
    if transcript:
        data["transcript"] = [
            str(entry) for conversation in report.evidence.conversations for entry in conversation.entries
        ]
    return DiscernResult(
        ok=report.ok,
        verb=VERB,
        message=headline(report.verdict),
        data={key: value for key, value in data.items() if value is not None},
        diagnostics=report.diagnostics,
        error=_error(report),
        hints=_hints(report),
    )


def headline(verdict: Verdict) -> str:
    """The verdict in one line."""
    revisions = f" ({', '.join(verdict.revisions)})" if verdict.revisions else ""
    return _HEADLINES[verdict.kind] + revisions


def _error(report: Report) -> str | None:
    if report.ok:
        return None
    if report.evidence.unreachable:
        return "unreachable"
    return "not_mcp" if report.verdict.kind is Kind.NOT_MCP else "unexpected_era"


def _hints(report: Report) -> tuple[str, ...]:
    if report.ok:
        return ()
    statuses = {answer.status for answer in report.evidence.answers()}
    if statuses & {401, 403} and report.verdict.kind is Kind.NOT_MCP:
        return ("the server wants credentials: discern era --header-env Authorization=VARIABLE URL",)
    return ("discern era --transcript shows every message", "discern help eras")
