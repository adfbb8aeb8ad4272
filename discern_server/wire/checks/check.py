"""What a check is: a question about the evidence, with its reason and the clause it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from discern_server.wire.evidence import Answer, Evidence, Question, Transport
from discern_server.wire.verdict import Kind, Verdict

SPECIFICATION: Final = "https://modelcontextprotocol.io/specification/2026-07-28/"

MODERN_KINDS: Final = frozenset({Kind.MODERN_ONLY, Kind.DUAL_ERA})
LEGACY_KINDS: Final = frozenset({Kind.LEGACY_ONLY, Kind.DUAL_ERA})
MCP_KINDS: Final = MODERN_KINDS | LEGACY_KINDS

Level: TypeAlias = Literal["must", "should", "policy"]


class Outcome(StrEnum):
    """What became of a check."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_APPLICABLE = "n/a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found.

    Attributes:
        outcome: What became of it.
        detail: What was seen, for a person.
        question: The question whose answer decided, where one did.
    """

    outcome: Outcome
    detail: str
    question: Question | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a server should do.

    Attributes:
        id: Stable, such as ``discover.lists``.
        title: What is looked at, in a few words.
        reason: Why it matters to whoever runs the server.
        level: ``must`` and ``should`` are the specification's; ``policy`` is what a careful operator expects.
        clause: The page of the specification, with its section.
        kinds: The verdicts it applies to.
        transports: The transports it applies to.
        look: Judges the evidence; called only where the check applies.
    """

    id: str
    title: str
    reason: str
    level: Level
    clause: str
    look: Callable[[Evidence, Verdict], Finding]
    kinds: frozenset[Kind] = MODERN_KINDS
    transports: frozenset[Transport] = frozenset({"stdio", "http"})

    @property
    def url(self) -> str:
        """The address of the clause."""
        return SPECIFICATION + self.clause

    def run(self, evidence: Evidence, verdict: Verdict) -> Finding:
        """What the check finds; not applicable where it does not apply to such a server."""
        if evidence.transport not in self.transports:
            return not_applicable(f"not over {evidence.transport}")
        if verdict.kind not in self.kinds:
            return not_applicable(f"the server is {verdict.kind}")
        return self.look(evidence, verdict)


def passed(detail: object, question: Question | None = None) -> Finding:
    """The server does it."""
    return Finding(outcome=Outcome.PASS, detail=str(detail), question=question)


def failed(detail: object, question: Question | None = None) -> Finding:
    """The server does not."""
    return Finding(outcome=Outcome.FAIL, detail=str(detail), question=question)


def not_applicable(detail: str) -> Finding:
    """There is nothing to look at."""
    return Finding(outcome=Outcome.NOT_APPLICABLE, detail=detail)


def judged(answer: Answer, good: bool) -> Finding:
    """Pass or fail on one answer, which is its own detail."""
    return (passed if good else failed)(answer, answer.question)


def on_answer(question: Question, is_good: Callable[[Answer], bool]) -> Callable[[Evidence, Verdict], Finding]:
    """A `look` that asks one thing of one answer."""

    def look(evidence: Evidence, _verdict: Verdict) -> Finding:
        answer = evidence.get(question)
        return judged(answer, is_good(answer)) if answer else not_applicable("not asked")

    return look
