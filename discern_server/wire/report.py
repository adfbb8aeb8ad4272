"""One probe, judged: the evidence, the verdict, what each check found, and what was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.wire.checks import Check, Finding, Outcome, run_checks
from discern_server.wire.evidence import Answer, Evidence, Question, shortened, tools_in
from discern_server.wire.expectation import Expectation
from discern_server.wire.revisions import SERVER_KEY
from discern_server.wire.verdict import Verdict, judge

_CALL_CHARS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything there is to say about one server. Made by `report_on`.

    Attributes:
        evidence: What was observed.
        verdict: What it amounts to.
        findings: Every check with what it found.
        expectation: What was expected.
        diagnostics: Where expectations are not met (errors), and which checks failed: errors where
            the expectation is strict, warnings otherwise.
    """

    evidence: Evidence
    verdict: Verdict
    findings: tuple[tuple[Check, Finding], ...]
    expectation: Expectation
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that was expected holds."""
        return not any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)

    @property
    def server(self) -> dict[str, Any] | None:
        """What the server calls itself, in either era."""
        for answer in self.evidence.answers():
            result = answer.result or {}
            meta = result.get("_meta")
            info = result.get("serverInfo") or (meta.get(SERVER_KEY) if isinstance(meta, dict) else None)
            if isinstance(info, dict):
                return {key: shortened(str(info[key])) for key in ("name", "version") if info.get(key)}
        return None

    @property
    def tool_count(self) -> int | None:
        """How many tools a modern client is shown, or None where none was shown a list."""
        pages = self.evidence.all(Question.TOOLS)
        return len(tools_in(pages)) if any(page.result for page in pages) else None

    @property
    def call(self) -> tuple[str, str] | None:
        """The name of the tool that was called and the text it gave, or None."""
        answer = self.evidence.get(Question.CALL)
        if answer is None:
            return None
        return answer.sent["params"]["name"], _text_of(answer)

    def transcript(self) -> list[str]:
        """Every message of every conversation, as lines."""
        return [str(entry) for conversation in self.evidence.conversations for entry in conversation.entries]

    def deciding_exchange(self) -> list[str]:
        """The messages that decided: on the verdict, and on each check that makes the report not ok."""
        fatal = {finding.rule for finding in self.diagnostics if finding.severity is Severity.ERROR}
        asked = [finding.question for check, finding in self.findings if check.id in fatal and finding.question]
        lines: list[str] = []
        for question in dict.fromkeys((*self.verdict.decided_by, *asked)):
            lines += [f"{question}:", *(f"  {entry}" for entry in self.evidence.exchange(question))]
        return lines


def report_on(evidence: Evidence, expectation: Expectation) -> Report:
    """Judge `evidence` and compare it with what is expected. Pure."""
    verdict = judge(evidence)
    findings = run_checks(evidence, verdict)
    severity = Severity.ERROR if expectation.strict else Severity.WARNING
    failures = [
        Diagnostic(
            rule=check.id,
            message=f"not so: {check.title}. Seen: {finding.detail}",
            severity=severity,
            fix=f"{check.reason} ({check.level}, {check.url})",
        )
        for check, finding in findings
        if finding.outcome is Outcome.FAIL
    ]
    return Report(
        evidence=evidence,
        verdict=verdict,
        findings=findings,
        expectation=expectation,
        diagnostics=(*expectation.shortfalls(evidence, verdict), *failures),
    )


def _text_of(answer: Answer) -> str:
    content = (answer.result or {}).get("content")
    texts = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    text = "\n".join(text for text in texts if isinstance(text, str))
    return text if len(text) <= _CALL_CHARS else text[: _CALL_CHARS - 1] + "…"
