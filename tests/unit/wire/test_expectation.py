"""What is expected, and what the evidence has to show for it."""

from __future__ import annotations

import pytest

from discern_server.wire.evidence import Answer, Evidence, Question
from discern_server.wire.expectation import ERA_RULES, Expectation
from discern_server.wire.verdict import judge
from tests.unit.wire.evidence_builder import answer, discovered, error, evidence, initialized

REFUSED = error(-32022, "no", supported=["2026-07-28"], requested="2025-11-25")
MODERN_ONLY = evidence(answer(Question.DISCOVER, discovered()), answer(Question.INITIALIZE, REFUSED))
DUAL = evidence(answer(Question.DISCOVER, discovered()), answer(Question.INITIALIZE, initialized()))
LEGACY_ONLY = evidence(answer(Question.INITIALIZE, initialized()))
NOBODY = evidence(unreachable="cannot start")


def rules(expectation: Expectation, seen: Evidence) -> list[str]:
    return [finding.rule for finding in expectation.shortfalls(seen, judge(seen))]


@pytest.mark.parametrize(
    ("expectation", "modern_only", "dual", "legacy_only"),
    [
        (Expectation(), [], [], []),
        (Expectation(revision="2026-07-28"), [], [], ["era.require"]),
        (Expectation(revision="2025-11-25"), ["era.require"], [], []),
        (Expectation(revision="2025-06-18"), ["era.require"], ["era.require"], ["era.require"]),
        (Expectation(legacy="reject"), [], ["era.forbid-legacy"], ["era.forbid-legacy"]),
        (Expectation(legacy="serve"), ["era.legacy-required"], [], []),
        (
            Expectation(revision="2026-07-28", legacy="reject"),
            [],
            ["era.forbid-legacy"],
            ["era.require", "era.forbid-legacy"],
        ),
    ],
)
def test_each_expectation_holds_for_the_servers_it_fits(
    expectation: Expectation, modern_only: list[str], dual: list[str], legacy_only: list[str]
):
    assert rules(expectation, MODERN_ONLY) == modern_only
    assert rules(expectation, DUAL) == dual
    assert rules(expectation, LEGACY_ONLY) == legacy_only


def test_where_nobody_answers_nothing_holds_and_one_finding_says_so():
    assert rules(Expectation(revision="2026-07-28", legacy="reject", strict=True), NOBODY) == ["era.not-mcp"]
    assert rules(Expectation(), NOBODY) == ["era.not-mcp"]


@pytest.mark.parametrize(
    ("initialize", "is_proof"),
    [
        (answer(Question.INITIALIZE, error(-32601, "no")), True),
        (answer(Question.INITIALIZE, status=405), True),
        (answer(Question.INITIALIZE, fault="no answer: waited 15 s"), False),
        (answer(Question.INITIALIZE, fault="the output ended"), False),
        (answer(Question.INITIALIZE, status=202), False),
        (answer(Question.INITIALIZE, {"result": {}}), False),
    ],
)
def test_that_legacy_clients_are_refused_takes_a_refusal(initialize: Answer, is_proof: bool):
    seen = evidence(answer(Question.DISCOVER, discovered()), initialize)
    assert rules(Expectation(legacy="reject"), seen) == ([] if is_proof else ["era.forbid-legacy"])


def test_every_rule_that_a_shortfall_has_is_described():
    found = {
        rule
        for seen in (MODERN_ONLY, DUAL, LEGACY_ONLY, NOBODY)
        for legacy in ("reject", "serve")
        for rule in rules(Expectation(revision="2026-07-28", legacy=legacy), seen)  # type: ignore[arg-type]
    }
    assert found == {rule.id for rule in ERA_RULES}


def test_a_legacy_revision_that_is_required_is_the_one_asked_for():
    assert Expectation(revision="2025-03-26").legacy_revision == "2025-03-26"
    assert Expectation(revision="2026-07-28").legacy_revision == "2025-11-25"
    assert Expectation().legacy_revision == "2025-11-25"
