"""``discern era``: the envelope made of a report, and its renderings."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from discern_server.result import failure, render_text, serialize
from discern_server.verbs.era import as_junit, era, era_of_project, for_people, rules, to_result
from discern_server.wire.checks import CHECKS
from discern_server.wire.evidence import Evidence, Question
from discern_server.wire.expectation import ERA_RULES, Expectation
from discern_server.wire.report import report_on
from tests.unit.wire.evidence_builder import answer, discovered, error, evidence, initialized, listed

SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "billing", "version": "3"}}
REFUSED = error(-32022, "no", supported=["2026-07-28"], requested="2025-11-25")
MODERN = evidence(
    answer(Question.INITIALIZE, REFUSED),
    answer(Question.DISCOVER, discovered(_meta=SERVER)),
    answer(Question.TOOLS, listed(_meta=SERVER)),
)
LEGACY = evidence(answer(Question.INITIALIZE, initialized()))


def of(seen: Evidence, **expected: object):
    return to_result(report_on(seen, Expectation(**expected)))  # type: ignore[arg-type]


def test_the_envelope_tells_verdict_revisions_server_tools_and_every_check():
    result = of(MODERN, revision="2026-07-28", legacy="reject")
    wire = serialize(result)
    assert wire["ok"]
    assert wire["verb"] == "era"
    assert wire["message"] == "modern-only: serves modern clients and refuses legacy ones (2026-07-28)"
    data = wire["data"]
    assert data["verdict"] == "modern-only"
    assert data["revisions"] == ["2026-07-28"]
    assert data["server"] == {"name": "billing", "version": "3"}
    assert data["tools"] == 1
    assert {"check", "outcome", "seen", "title", "level", "clause"} == set(data["checks"][0])
    assert not {"called", "unasked", "exchange", "transcript"} & set(data)


def test_what_is_expected_and_does_not_hold_is_an_error_with_the_way_out():
    result = of(LEGACY, revision="2026-07-28", legacy="reject")
    assert (result.ok, result.error) == (False, "unexpected_era")
    assert [finding.rule for finding in result.diagnostics] == ["era.require", "era.forbid-legacy"]
    assert "discern era --transcript shows every message" in result.hints
    assert "exchange" in result.data


def test_who_is_not_there_and_who_is_no_server_are_told_apart():
    assert of(evidence(unreachable="cannot start 'x': not found")).error == "unreachable"
    assert of(evidence(answer(Question.DISCOVER, fault="no answer"))).error == "not_mcp"


def test_a_server_behind_a_login_gets_the_hint_how_to_log_in():
    seen = evidence(answer(Question.DISCOVER, status=401, body="who are you?"), transport="http")
    assert "--header-env" in of(seen).hints[0]


def test_the_table_for_people_leaves_out_what_does_not_apply():
    text = render_text(for_people(of(MODERN)))
    assert "discover.lists" in text
    assert "http.origin" not in text
    assert "revisions: 2026-07-28\n" in text


def test_junit_fails_where_the_exit_code_does_and_nowhere_else():
    """A failed check that nothing rests on must not turn a build red."""
    faulty = evidence(*MODERN.answers(), answer(Question.UNKNOWN_METHOD, error(-32602, "no")))
    lenient, strict = (ET.fromstring(as_junit(of(faulty, strict=strict)))[0] for strict in (False, True))
    assert lenient.get("failures") == "0"
    failed = [case.get("name") for case in strict if case.find("failure") is not None]
    assert failed == ["method.unknown: an unknown method is -32601"]
    assert lenient.get("tests") == strict.get("tests")
    assert "fail: error -32602" in ET.tostring(lenient, encoding="unicode")


def test_junit_has_a_case_for_what_was_expected():
    suite = ET.fromstring(as_junit(of(LEGACY, revision="2026-07-28")))[0]
    verdict = suite[0].find("failure")
    assert verdict is not None
    assert "2026-07-28 is required" in (verdict.get("message") or "")


def test_findings_are_placed_where_they_are_told_and_every_rule_is_described():
    result = to_result(report_on(LEGACY, Expectation(revision="2026-07-28", strict=True)), place="server.py")
    assert {finding.path for finding in result.diagnostics} == {"server.py"}
    described = {rule.id: rule for rule in rules()}
    assert set(described) == {rule.id for rule in (*ERA_RULES, *CHECKS)}
    assert "specification/2026-07-28/server/discover" in described["discover.lists"].fix


def test_a_failure_before_any_probe_can_be_rendered_too(tmp_path: Path):
    missing = era_of_project(tmp_path)
    assert missing.error == "not_initialized"
    assert render_text(for_people(missing))
    assert ET.fromstring(as_junit(missing))[0].get("failures") == "1"
    assert ET.fromstring(as_junit(failure("era", "x", "no")))[0].get("failures") == "1"


def test_a_word_that_is_no_url_is_told_how_to_start_a_command():
    result = era("my-server")
    assert result.error == "not_a_url"
    assert result.hints == ("discern era -- my-server starts a command",)
