"""The report: what it says of a server, and when it is ok."""

from __future__ import annotations

from dataclasses import replace

from discern_server.result import Severity
from discern_server.wire.evidence import Conversation, Question
from discern_server.wire.expectation import Expectation
from discern_server.wire.report import report_on
from discern_server.wire.transcript import Direction, Entry
from tests.unit.wire.evidence_builder import answer, discovered, error, evidence, initialized, listed, result

FAULTY = evidence(
    answer(Question.DISCOVER, discovered(ttlMs=None)),
    answer(Question.INITIALIZE, error(-32022, "no", supported=["2026-07-28"])),
)


def test_a_failed_check_is_a_warning_unless_the_expectation_is_strict():
    lenient, strict = report_on(FAULTY, Expectation()), report_on(FAULTY, Expectation(strict=True))
    assert lenient.ok
    assert not strict.ok
    assert {finding.severity for finding in lenient.diagnostics} == {Severity.WARNING}
    assert {finding.severity for finding in strict.diagnostics} == {Severity.ERROR}
    finding = next(finding for finding in strict.diagnostics if finding.rule == "result.cache")
    assert finding.message == (
        "not so: ttlMs and cacheScope where results can be cached. "
        "Seen: discover: ttlMs is None, no whole number of milliseconds"
    )
    assert finding.fix is not None
    assert "must, https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching" in finding.fix


def test_the_server_is_named_as_it_names_itself_in_either_era():
    legacy = report_on(evidence(answer(Question.INITIALIZE, initialized())), Expectation())
    assert legacy.server == {"name": "old", "version": "1"}
    info = {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": 2, "icons": []}}
    modern = report_on(evidence(answer(Question.DISCOVER, discovered(_meta=info))), Expectation())
    assert modern.server == {"name": "new", "version": "2"}
    assert report_on(evidence(answer(Question.DISCOVER, discovered(_meta="x"))), Expectation()).server is None


def test_the_tools_are_counted_over_all_pages():
    pages = [answer(Question.TOOLS, listed(nextCursor="2")), answer(Question.TOOLS, listed())]
    assert report_on(evidence(*pages), Expectation()).tool_count == 2
    assert report_on(evidence(answer(Question.TOOLS, error(-32601, "no"))), Expectation()).tool_count is None


def test_a_call_is_told_with_its_text_shortened():
    content = [{"type": "text", "text": "x" * 1000}, {"type": "image"}, "odd"]
    call = replace(answer(Question.CALL, result(content=content)), sent={"id": 1, "params": {"name": "now"}})
    called = report_on(evidence(call), Expectation()).call
    assert called is not None
    assert called[0] == "now"
    assert len(called[1]) == 400


def test_the_deciding_exchange_is_the_transcript_of_what_decided():
    seen = replace(
        FAULTY,
        conversations=(
            Conversation(answers=FAULTY.conversations[0].answers, entries=(Entry(0.5, Direction.SENT, "discover"),)),
            Conversation(answers=FAULTY.conversations[1].answers, entries=(Entry(0.25, Direction.RECEIVED, "no"),)),
            Conversation(entries=(Entry(1, Direction.EVENT, "something else"),)),
        ),
    )
    report = report_on(seen, Expectation())
    assert report.deciding_exchange() == ["discover:", "    0.500 > discover", "initialize:", "    0.250 < no"]
    assert len(report.transcript()) == 3
