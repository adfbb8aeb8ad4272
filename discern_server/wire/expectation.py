"""What somebody expects of a server's eras, and where the evidence falls short of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from discern_server.result import Diagnostic
from discern_server.rules.rule import Rule
from discern_server.wire.evidence import Evidence, Question
from discern_server.wire.revisions import LEGACY, era_of
from discern_server.wire.verdict import Kind, Verdict

LegacyExpectation: TypeAlias = Literal["any", "reject", "serve"]

ERA_RULES: Final = (
    Rule(
        id="era.not-mcp",
        demand="an MCP server answers",
        reason="Neither a modern nor a legacy client would get anywhere.",
        fix="look at what came instead: the exchange shows it",
    ),
    Rule(
        id="era.require",
        demand="the required revision is served",
        reason="Clients of that revision would be refused, or served another one in silence.",
        fix="update the server's SDK, and start it through an entry point that serves the revision",
    ),
    Rule(
        id="era.forbid-legacy",
        demand="legacy clients are refused",
        reason="A server that accepts the handshake serves rules that nobody asked it to keep.",
        fix="start the server so that it refuses initialize, or put one in front that does",
    ),
    Rule(
        id="era.legacy-required",
        demand="legacy clients are served",
        reason="Clients of the handshake would be refused.",
        fix="start the server in its dual-era mode",
    ),
)
"""What `Expectation.shortfalls` finds, for those who show findings with their rules."""

_LEAST_ERROR_STATUS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a server is expected to do.

    Attributes:
        revision: The revision it has to serve, or None for any.
        legacy: What it has to do with clients that open with ``initialize``.
        strict: Whether a failed check breaks the expectation.
    """

    revision: str | None = None
    legacy: LegacyExpectation = "any"
    strict: bool = False

    @property
    def legacy_revision(self) -> str:
        """The revision to ask for in ``initialize``, so that the evidence can tell."""
        return self.revision if self.revision and era_of(self.revision) == "legacy" else LEGACY[0]

    def shortfalls(self, evidence: Evidence, verdict: Verdict) -> tuple[Diagnostic, ...]:
        """Where `evidence` does not show what is expected, checks aside; empty where it does."""
        return (*self._of_kind(verdict), *self._of_revision(verdict), *self._of_legacy(evidence, verdict))

    def _of_kind(self, verdict: Verdict) -> Iterator[Diagnostic]:
        if verdict.kind is Kind.NOT_MCP:
            yield Diagnostic(rule="era.not-mcp", message=f"no MCP server answered ({verdict.reason})")

    def _of_revision(self, verdict: Verdict) -> Iterator[Diagnostic]:
        if self.revision is None or verdict.kind is Kind.NOT_MCP or self.revision in verdict.revisions:
            return
        seen = ", ".join(verdict.revisions) or "none"
        yield Diagnostic(
            rule="era.require",
            message=f"{self.revision} is required; revisions seen on the wire: {seen} ({verdict.reason})",
            fix=_REVISION_FIX[era_of(self.revision)],
        )

    def _of_legacy(self, evidence: Evidence, verdict: Verdict) -> Iterator[Diagnostic]:
        if verdict.kind is Kind.NOT_MCP:
            return
        if self.legacy == "serve" and not verdict.serves_legacy:
            yield Diagnostic(
                rule="era.legacy-required",
                message=f"legacy clients are to be served, but are not ({verdict.reason})",
                fix="start the server in its dual-era mode",
            )
        elif self.legacy == "reject" and verdict.serves_legacy:
            yield Diagnostic(
                rule="era.forbid-legacy",
                message=f"legacy clients are to be refused, but are served ({verdict.reason})",
                fix="start the server so that it refuses initialize, or put one in front that does",
            )
        elif self.legacy == "reject" and not _is_refused(evidence):
            answer = evidence.get(Question.INITIALIZE)
            yield Diagnostic(
                rule="era.forbid-legacy",
                message=f"nothing shows that legacy clients are refused: initialize: {answer or 'not asked'}",
                fix="answer initialize with an error; silence is no proof",
            )


_REVISION_FIX: Final = {
    "modern": "update the server's SDK, and start it through an entry point that serves the modern era",
    "legacy": "start the server in its dual-era mode",
}


def _is_refused(evidence: Evidence) -> bool:
    answer = evidence.get(Question.INITIALIZE)
    return answer is not None and (answer.error is not None or (answer.status or 0) >= _LEAST_ERROR_STATUS)
