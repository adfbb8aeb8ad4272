"""``discern era``: say, and assert, which protocol revisions a server speaks, by what it does on the wire."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from discern_server.junit import Case, to_junit
from discern_server.project import FILE_NAME
from discern_server.result import Diagnostic, DiscernResult, Severity, failure
from discern_server.rules.rule import Rule
from discern_server.verbs.program import this_program
from discern_server.verbs.projects import load_project
from discern_server.wire.checks import CHECKS, Outcome
from discern_server.wire.examine import Target, examine, is_url
from discern_server.wire.expectation import ERA_RULES, Expectation
from discern_server.wire.limits import Limits
from discern_server.wire.report import Report
from discern_server.wire.urls import shown_url
from discern_server.wire.verdict import Kind

VERB: Final = "era"
_HEADLINES: Final = {
    Kind.MODERN_ONLY: "modern-only: serves modern clients and refuses legacy ones",
    Kind.DUAL_ERA: "dual-era: serves modern and legacy clients",
    Kind.LEGACY_ONLY: "legacy-only: serves legacy clients alone",
    Kind.NOT_MCP: "not an MCP server, as far as it answered",
}
_LINE_CHARS: Final = 300
_UNAUTHORIZED: Final = frozenset({401, 403})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckData:
    """One check: its id, what became of it (``pass``, ``fail``, ``n/a``), what was seen, and what it rests on."""

    check: str
    outcome: str
    seen: str
    title: str
    level: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallData:
    """A tool that was called, and the text it gave."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraData:
    """What was seen of a server.

    Attributes:
        target: The command line or the URL.
        verdict: ``modern-only``, ``dual-era``, ``legacy-only`` or ``not-mcp``.
        revisions: The revisions it was seen to serve, newest first.
        decided_by: The answers that decided.
        server: What it calls itself.
        tools: How many tools it shows.
        called: A tool that was called, and what it gave.
        checks: Every check with what it found.
        unasked: Why some questions were not asked.
        exchange: Where something expected does not hold, the messages that decided.
        transcript: Every message, where it was asked for.
    """

    target: str
    verdict: str
    revisions: list[str]
    decided_by: str
    server: dict[str, str] | None = None
    tools: int | None = None
    called: CallData | None = None
    checks: list[CheckData]
    unasked: str | None = None
    exchange: list[str] | None = None
    transcript: list[str] | None = None


def era(
    target: Target,
    expectation: Expectation | None = None,
    *,
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
    if isinstance(target, str) and not is_url(target):
        shown = shown_url(target)
        return failure(VERB, "not_a_url", f"{shown!r} is no URL", hints=(f"discern era -- {shown} starts a command",))
    report = examine(target, expectation, cwd=cwd, headers=headers, limits=limits, call=call)
    place = _place(target, cwd or Path.cwd()) if not isinstance(target, str) else None
    return to_result(report, transcript=transcript, place=place)


def era_of_project(
    root: Path,
    expectation: Expectation | None = None,
    *,
    limits: Limits | None = None,
    transcript: bool = False,
    call: bool = True,
) -> DiscernResult:
    """Probe the server of the project in the folder `root`, started anew; parameters as for `era`."""
    project = load_project(VERB, root)
    if isinstance(project, DiscernResult):
        return project
    command = [*this_program(), "serve"]
    looking = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing is left in the project, no cache either
    report = examine(command, expectation, cwd=project.root, env=looking, limits=limits, call=call)
    return to_result(report, transcript=transcript, place=FILE_NAME)


def _place(command: Sequence[str], folder: Path) -> str | None:
    """The file that findings are shown at: the first word of the command that is a file in the folder it is run in."""
    for word in command:
        file = Path(word) if Path(word).is_absolute() else folder / word
        if file.is_relative_to(folder) and file.is_file():
            return file.relative_to(folder).as_posix()
    return None


def to_result(report: Report, *, transcript: bool = False, place: str | None = None) -> DiscernResult:
    """The report as the envelope, its findings placed in the file `place`."""
    data = EraData(
        target=report.evidence.target,
        verdict=report.verdict.kind.value,
        revisions=list(report.verdict.revisions),
        decided_by=report.verdict.reason,
        server=report.server,
        tools=report.tool_count,
        called=CallData(tool=report.call[0], text=report.call[1]) if report.call else None,
        checks=[
            CheckData(
                check=check.id,
                outcome=finding.outcome.value,
                seen=finding.detail,
                title=check.title,
                level=check.level,
                clause=check.url,
            )
            for check, finding in report.findings
        ],
        unasked=report.evidence.unasked,
        exchange=None if report.ok or transcript else report.deciding_exchange(),
        transcript=report.transcript() if transcript else None,
    )
    return DiscernResult(
        ok=report.ok,
        verb=VERB,
        message=headline(report),
        data={key: value for key, value in asdict(data).items() if value is not None},
        diagnostics=tuple(replace(finding, path=place) for finding in report.diagnostics),
        error=_error(report),
        hints=_hints(report),
    )


def headline(report: Report) -> str:
    """The verdict in one line."""
    if report.evidence.unreachable:
        return report.evidence.unreachable
    revisions = f" ({', '.join(report.verdict.revisions)})" if report.verdict.revisions else ""
    return _HEADLINES[report.verdict.kind] + revisions


def _error(report: Report) -> str | None:
    if report.ok:
        return None
    if report.evidence.unreachable:
        return "unreachable"
    return "not_mcp" if report.verdict.kind is Kind.NOT_MCP else "unexpected_era"


def _hints(report: Report) -> tuple[str, ...]:
    if report.ok:
        return ()
    if report.verdict.kind is Kind.NOT_MCP and _UNAUTHORIZED & {answer.status for answer in report.evidence.answers()}:
        return ("the server wants credentials: discern era --header-env Authorization=VARIABLE URL",)
    return ("discern era --transcript shows every message", "discern help eras")


# --- renderings of the envelope ---------------------------------------------------------------------


_LAST: Final = ("exchange", "transcript", "server", "tools", "called", "decided_by", "revisions", "verdict")


def for_people(result: DiscernResult) -> DiscernResult:
    """The result with a short table, of the checks that apply, and with long messages cut.

    What matters most stands last, where a terminal shows it: what was called, the revisions, the verdict.
    """
    if result.data is None:
        return result
    data = dict(sorted(result.data.items(), key=lambda item: _LAST.index(item[0]) if item[0] in _LAST else -1))
    data["revisions"] = ", ".join(data["revisions"])
    data["checks"] = [
        {key: check[key] for key in ("check", "outcome", "seen")}
        for check in data["checks"]
        if check["outcome"] != Outcome.NOT_APPLICABLE
    ]
    for record in ("exchange", "transcript"):
        data[record] = "\n".join(_cut(line) for line in data.get(record, ()))
    return replace(result, data={key: value for key, value in data.items() if value})


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"


def rules() -> tuple[Rule, ...]:
    """What findings are about: what can be expected, and every check."""
    checks = (
        Rule(id=check.id, demand=check.title, reason=check.reason, fix=f"see {check.url}", severity=Severity.WARNING)
        for check in CHECKS
    )
    return (*ERA_RULES, *checks)


def as_junit(result: DiscernResult) -> str:
    """The result as JUnit XML: a case for what was expected, and one for each check.

    What makes the result not ``ok`` is a failure. A failed check that nothing rests on is told in its
    case's output, since readers turn any failure into a failed build.
    """
    data = result.data or {}
    fatal = {finding.rule: finding for finding in result.diagnostics if finding.severity is Severity.ERROR}
    cases = [_case(check, fatal) for check in data.get("checks", ())]
    return to_junit(f"discern era {data.get('target', '')}".rstrip(), [_verdict_case(result, data, fatal), *cases])


def _verdict_case(result: DiscernResult, data: Mapping[str, Any], fatal: Mapping[str, Diagnostic]) -> Case:
    checks = {check["check"] for check in data.get("checks", ())}
    unmet = [finding.message for rule, finding in fatal.items() if rule not in checks]
    if not data:
        unmet = [result.message or "failed"]
    exchange = data.get("transcript") or data.get("exchange") or [data.get("decided_by", "")]
    return Case(
        name=f"verdict: {result.message}", group="era", failure="; ".join(unmet) or None, output="\n".join(exchange)
    )


def _case(check: Mapping[str, Any], fatal: Mapping[str, Diagnostic]) -> Case:
    return Case(
        name=f"{check['check']}: {check['title']}",
        group=f"era.{check['level']}",
        failure=check["seen"] if check["check"] in fatal else None,
        skipped=check["seen"] if check["outcome"] == Outcome.NOT_APPLICABLE else None,
        output=f"{check['outcome']}: {check['seen']}\n{check['clause']}",
    )
