"""Servers that mean harm, or are broken: each gets a verdict, with evidence, in bounded time."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from discern_server.wire.checks import Outcome
from discern_server.wire.expectation import Expectation
from discern_server.wire.limits import Limits
from discern_server.wire.probe import probe_command
from discern_server.wire.report import Report, report_on
from tests.e2e.bounded import within

PATIENT = Limits(answer_s=60, exit_s=60, total_s=300, line_bytes=1_000_000, output_bytes=5_000_000)
FAIR = replace(PATIENT, answer_s=5, exit_s=5)
"""For those that do something, and then nothing."""
BRIEF = replace(PATIENT, answer_s=1.5)
"""For those that keep silent, however long one waits."""
SERVER = Path(__file__).parent / "server.py"


def report(mode: str, limits: Limits = PATIENT) -> Report:
    evidence = within(300, lambda: probe_command([sys.executable, str(SERVER), mode], limits=limits))
    return report_on(evidence, Expectation(revision="2026-07-28", legacy="reject"))


def failed(report: Report) -> set[str]:
    return {check.id for check, finding in report.findings if finding.outcome is Outcome.FAIL}


def test_a_good_server_passes_every_check():
    """The base of all others here: hand-made, so that a fault of an SDK cannot hide one of the probe."""
    good = report("Server")
    assert failed(good) == set()
    assert good.ok
    assert good.verdict.kind == "modern-only"
    assert good.verdict.revisions == ("2026-07-28",)
    assert good.server == {"name": "hand-made", "version": "1"}
    assert good.tool_count == 2
    assert good.call == ("now", "called now")


@pytest.mark.parametrize(
    ("mode", "limits", "evidence"),
    [
        ("Silent", BRIEF, "no answer: waited 1.5 s"),
        ("Deaf", BRIEF, "no answer: waited 1.5 s"),
        ("Stubborn", BRIEF, "no answer: waited 1.5 s"),
        ("FloodOfLines", PATIENT, "the server's output exceeds 5000000 bytes"),
        ("FloodOfBlankLines", PATIENT, "the server's output exceeds 5000000 bytes"),
        ("EndlessLine", PATIENT, "the server's line exceeds 1000000 bytes"),
        ("FloodOfStderr", BRIEF, "no answer: waited 1.5 s"),
        ("Drip", BRIEF, "no answer: waited 1.5 s"),
        ("DiesAtOnce", PATIENT, "(exit code 1); its last words: no configuration"),
        ("DiesWhenAsked", PATIENT, "exit code -9"),
        ("HalfAnAnswer", PATIENT, "exit code 3"),
        ("NeverAWholeLine", BRIEF, "no answer: waited 1.5 s"),
        ("WrongIds", FAIR, 'it sent {"jsonrpc":"2.0","id":1001,'),
        ("TextIds", FAIR, 'it sent {"jsonrpc":"2.0","id":"1",'),
        ("Echo", FAIR, 'it sent {"jsonrpc":"2.0","id":1,"method":"initialize"'),
        ("Shell", FAIR, "it wrote 'sh: syntax error'"),
        ("Nested", FAIR, """it wrote '{"jsonrpc":"2.0","id":1,"result":[["""),
        ("LanguageServer", FAIR, "it wrote 'Content-Length: "),
        ("Both", PATIENT, "discover: a result and an error at once: {"),
        ("OddShapes", PATIENT, "discover"),
    ],
)
def test_what_is_no_server_gets_that_verdict_with_the_evidence(mode: str, limits: Limits, evidence: str):
    told = report(mode, limits)
    assert told.verdict.kind == "not-mcp"
    assert evidence in told.verdict.reason
    assert not told.ok
    assert told.diagnostics[0].rule == "era.not-mcp"
    assert any(conversation.entries for conversation in told.evidence.conversations)


def test_what_a_dying_server_says_last_is_in_the_transcript():
    told = report("DiesAtOnce")
    assert "! no configuration" in "\n".join(told.deciding_exchange())


@pytest.mark.parametrize(
    ("mode", "failures"),
    [
        ("Banner", {"stdout.clean"}),
        ("Chatty", {"response.shape"}),
        ("EndlessPages", {"tools.valid"}),
        ("SameCursor", {"tools.valid"}),
        ("DiesInTheList", {"modern.no-handshake", "method.unknown", "version.unknown-later"}),
        ("HangsInTheCall", {"tools.call", "method.unknown", "version.unknown-later"}),
        ("RandomTools", {"tools.same"}),
        ("BadTools", {"tools.valid"}),
        ("NoHints", {"result.cache", "result.server-info"}),
        ("AnyVersion", {"version.unknown-later"}),
        ("AnyEnvelope", {"envelope.required"}),
        ("Mute", {"initialize.refused", "initialize.then-modern"}),
        ("Curt", {"initialize.refused"}),
        ("DropsAtEnd", {"eof.answers"}),
        ("StaysAfterEnd", {"eof.exit"}),
        ("Undead", {"eof.exit"}),
        ("ForbiddenCode", {"response.codes", "method.unknown"}),
    ],
)
def test_a_fault_fails_its_check_and_no_other(mode: str, failures: set[str]):
    told = report(mode, FAIR if mode in HANGING else PATIENT)
    assert told.verdict.kind == "modern-only"
    assert failed(told) == failures


HANGING = {"HangsInTheCall", "Mute", "StaysAfterEnd", "Undead"}


def test_silence_is_no_proof_that_legacy_clients_are_refused():
    rules = {diagnostic.rule for diagnostic in report("Mute", FAIR).diagnostics if diagnostic.severity == "error"}
    assert rules == {"era.forbid-legacy"}


def test_the_whole_is_bounded_too():
    told = report("Server", replace(PATIENT, total_s=0))
    assert told.evidence.unasked == "the probe's time of 0 s was over"


def test_a_command_that_does_not_start_is_told():
    evidence = probe_command(["no-such-program-anywhere", "--flag"])
    told = report_on(evidence, Expectation())
    assert told.verdict.reason == "cannot start 'no-such-program-anywhere': No such file or directory"
    assert told.evidence.target == "no-such-program-anywhere --flag"
