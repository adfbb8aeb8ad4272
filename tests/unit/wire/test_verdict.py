"""The verdict: what real servers answer, and what nobody should be taken in by."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.wire.evidence import Answer, Evidence, Question
from discern_server.wire.verdict import judge
from tests.unit.wire.evidence_builder import answer, discovered, error, evidence, initialized, listed, result

MODERN, LEGACY = "2026-07-28", "2025-11-25"
FIVE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
REFUSED = error(-32022, "Unsupported protocol version: 2025-11-25", supported=[MODERN], requested=LEGACY)


def of(
    discover: dict[str, Any] | None = None,
    initialize: dict[str, Any] | None = None,
    tools: dict[str, Any] | None = None,
    unknown: dict[str, Any] | None = None,
    bare: dict[str, Any] | None = None,
) -> Evidence:
    said = {
        Question.INITIALIZE: initialize,
        Question.DISCOVER: discover,
        Question.FRESH_TOOLS: tools,
        Question.UNKNOWN_VERSION: unknown,
        Question.BARE: bare,
    }
    return evidence(*(answer(question, received) for question, received in said.items()))


BAD_PARAMS = error(-32602, "Invalid request parameters")


@pytest.mark.parametrize(
    ("kind", "revisions", "seen"),
    [
        pytest.param(
            "legacy-only",
            (LEGACY,),
            of(BAD_PARAMS, initialized(), BAD_PARAMS, BAD_PARAMS, BAD_PARAMS),
            id="Python SDK 1.x",
        ),
        pytest.param(
            "legacy-only",
            (LEGACY,),
            of(error(-32601, "Method not found"), initialized(), result(tools=[]), error(-32601), result(tools=[])),
            id="TypeScript by connect: a list without resultType",
        ),
        pytest.param("legacy-only", (LEGACY,), of(initialize=initialized()), id="rmcp: nothing but initialize"),
        pytest.param(
            "legacy-only",
            ("2024-11-05",),
            of(error(-32601), initialized("2024-11-05")),
            id="an old server that stays old",
        ),
        pytest.param(
            "dual-era",
            (MODERN, LEGACY),
            of(discovered(MODERN), initialized(), listed(), error(-32022, supported=[MODERN]), BAD_PARAMS),
            id="Python SDK 2.x lists the modern revision alone, and serves both",
        ),
        pytest.param("dual-era", (MODERN, LEGACY), of(discovered(*FIVE), initialized(), listed()), id="Go lists all"),
        pytest.param(
            "modern-only",
            (MODERN,),
            of(discovered(MODERN), REFUSED, listed(), REFUSED, error(-32022, supported=[MODERN])),
            id="TypeScript by serveStdio, reject",
        ),
        pytest.param(
            "modern-only",
            (MODERN,),
            of(discovered(*FIVE), error(-32601, "no"), listed()),
            id="what it lists is not what it serves",
        ),
        pytest.param("modern-only", (MODERN,), of(tools=listed()), id="a resultType proves it, without discover"),
        pytest.param(
            "modern-only", (), of(error(-32022, supported=["2027-01-01"])), id="a later revision alone: none of ours"
        ),
        pytest.param("modern-only", (), of(unknown=error(-32022, supported=[MODERN])), id="a refusal alone"),
        pytest.param("not-mcp", (), of(), id="silence"),
        pytest.param("not-mcp", (), of(BAD_PARAMS, BAD_PARAMS), id="errors of no era"),
        pytest.param(
            "not-mcp",
            (),
            of(result(supportedVersions=[LEGACY], capabilities={})),
            id="a list without a modern revision proves nothing",
        ),
        pytest.param("modern-only", (), of(discovered(LEGACY)), id="with a resultType it is modern, of no revision"),
        pytest.param("not-mcp", (), of(result(tools=[]), result(tools=[])), id="results of nothing asked"),
        pytest.param("not-mcp", (), of(error(-32022), error(-32022, supported="2026-07-28")), id="no shape"),
        pytest.param("not-mcp", (), of({"result": []}, {"error": "text"}), id="members of the wrong type"),
        pytest.param(
            "not-mcp", (), of(initialize=result(protocolVersion="2025-11-25")), id="a handshake without capabilities"
        ),
    ],
)
def test_what_servers_answer_gives_this_verdict(kind: str, revisions: tuple[str, ...], seen: Evidence):
    verdict = judge(seen)
    assert (verdict.kind, verdict.revisions) == (kind, revisions)


def http(question: Question, received: dict[str, Any] | None = None, **members: Any) -> Answer:
    return answer(question, received, **members)


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        pytest.param(
            "legacy-only",
            [
                http(
                    Question.DISCOVER,
                    error(-32600, "Bad Request: Unsupported protocol version: 2026-07-28. Supported versions: ..."),
                    status=400,
                ),
                http(Question.INITIALIZE, initialized(), status=200),
            ],
            id="a message that names the modern revision is no modern error",
        ),
        pytest.param(
            "modern-only",
            [http(Question.DISCOVER, error(-32020, "no version header"), status=400)],
            id="a header mismatch is",
        ),
        pytest.param(
            "not-mcp", [http(Question.DISCOVER, error(-32020, "something"), status=500)], id="not with another status"
        ),
        pytest.param(
            "modern-only",
            [http(Question.DISCOVER, error(-32021, requiredCapabilities={"roots": {}}), status=400)],
            id="a missing capability is",
        ),
        pytest.param("legacy-only", [http(Question.GET, status=200, stream=("endpoint",))], id="HTTP+SSE"),
        pytest.param("not-mcp", [http(Question.GET, status=200, stream=("message",))], id="any other stream"),
        pytest.param("not-mcp", [http(Question.DISCOVER, status=404, body="<html>")], id="a web page"),
    ],
)
def test_over_http_code_shape_and_status_tell(kind: str, answers: list[Answer]):
    assert judge(evidence(*answers, transport="http")).kind == kind


def test_http_sse_is_the_revision_that_had_it():
    seen = evidence(answer(Question.GET, status=200, stream=("endpoint",)), transport="http")
    assert judge(seen).revisions == ("2024-11-05",)


def test_who_is_not_there_is_no_server():
    verdict = judge(evidence(unreachable="cannot start 'x': not found"))
    assert (verdict.kind, verdict.reason) == ("not-mcp", "cannot start 'x': not found")


def test_the_reason_names_the_deciding_answers():
    verdict = judge(of(discovered(MODERN), REFUSED))
    assert verdict.reason == (
        'discover: DiscoverResult ["2026-07-28"]; initialize: error -32022 “Unsupported protocol version: 2025-11-25”'
    )
    assert verdict.decided_by == (Question.DISCOVER, Question.INITIALIZE)
    assert verdict.named == (MODERN,)


def test_the_eras_of_a_verdict_can_be_asked_for():
    dual = judge(of(discovered(), initialized()))
    assert dual.serves_modern
    assert dual.serves_legacy
    assert not judge(of(discovered(), REFUSED)).serves_legacy
    assert not judge(of(BAD_PARAMS, initialized())).serves_modern
