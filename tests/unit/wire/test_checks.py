"""The checks: each passes, fails, and stands aside where it does not apply."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from discern_server.wire.checks import CHECKS, Outcome, run_checks
from discern_server.wire.evidence import Answer, Burst, Conversation, Evidence, Exit, Question, Transport
from discern_server.wire.verdict import judge
from tests.unit.wire.evidence_builder import (
    HINTS,
    MODERN,
    TOOL,
    answer,
    discovered,
    error,
    evidence,
    initialized,
    listed,
    result,
)

META = {"io.modelcontextprotocol/serverInfo": {"name": "good", "version": "1"}}
UNKNOWN = error(-32022, "no", supported=[MODERN], requested="2099-01-01")
REFUSED = error(-32022, "no", supported=[MODERN], requested="2025-11-25")
CALLED = result(resultType="complete", _meta=META, content=[])


def good(transport: Transport = "stdio") -> Evidence:
    """What a server without fault shows."""
    status = {"status": 200} if transport == "http" else {}
    bad = {"status": 400} if transport == "http" else {}
    missing = {"status": 404} if transport == "http" else {}
    answers = [
        answer(Question.INITIALIZE, REFUSED, **bad),
        answer(Question.AFTER_INITIALIZE, discovered(_meta=META), **status),
        answer(Question.DISCOVER, discovered(_meta=META), **status),
        answer(Question.TOOLS, listed(_meta=META), **status),
        answer(Question.CALL, CALLED, **status),
        answer(Question.UNKNOWN_METHOD, error(-32601, "no"), **missing),
        answer(Question.UNKNOWN_VERSION_LATER, UNKNOWN, **bad),
        answer(Question.FRESH_TOOLS, listed(_meta=META), **status),
        answer(Question.UNKNOWN_VERSION, UNKNOWN, **bad),
        answer(Question.BARE, error(-32602, "no"), **bad),
    ]
    if transport == "http":
        answers += [
            answer(Question.NO_VERSION_HEADER, error(-32020, "no"), status=400),
            answer(Question.NO_METHOD_HEADER, error(-32020, "no"), status=400),
            answer(Question.OTHER_VERSION_HEADER, error(-32020, "no"), status=400),
            answer(Question.OTHER_METHOD_HEADER, error(-32020, "no"), status=400),
            answer(Question.SESSION, discovered(_meta=META), status=200),
            answer(Question.FOREIGN_ORIGIN, status=403),
            answer(Question.NOTIFICATION, status=202),
            answer(Question.GET, status=405),
        ]
    seen = evidence(*answers, transport=transport)
    if transport == "http":
        return seen
    first = replace(seen.conversations[0], exit=Exit(code=0, within_s=5))
    burst = Conversation(answers=(answer(Question.BURST),), burst=Burst(asked=50, answered=50))
    return replace(seen, conversations=(first, *seen.conversations[1:], burst))


def but(seen: Evidence, *changed: Answer) -> Evidence:
    """`seen`, with other answers to the same questions."""
    by_question = {one.question: one for one in changed}
    return replace(
        seen,
        conversations=tuple(
            replace(held, answers=tuple(by_question.get(one.question, one) for one in held.answers))
            for held in seen.conversations
        ),
    )


def outcomes(seen: Evidence) -> dict[str, Outcome]:
    return {check.id: finding.outcome for check, finding in run_checks(seen, judge(seen))}


def failed(seen: Evidence) -> set[str]:
    return {name for name, outcome in outcomes(seen).items() if outcome is Outcome.FAIL}


def test_ids_are_unique_and_every_clause_is_a_page_of_the_revision():
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.url.startswith("https://modelcontextprotocol.io/specification/2026-07-28/")
        assert check.title
        assert check.reason.endswith(".")


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_without_fault_passes_every_check_that_applies(transport: Transport):
    found = outcomes(good(transport))
    aside = {name for name, outcome in found.items() if outcome is Outcome.NOT_APPLICABLE}
    assert failed(good(transport)) == set()
    other = {check.id for check in CHECKS if transport not in check.transports}
    assert aside == other | {"initialize.negotiates"}


def test_no_check_of_the_modern_era_applies_to_a_legacy_server():
    seen = evidence(answer(Question.INITIALIZE, initialized()), answer(Question.DISCOVER, error(-32601, "no")))
    applied = {name for name, outcome in outcomes(seen).items() if outcome is not Outcome.NOT_APPLICABLE}
    assert applied == {"initialize.negotiates", "response.shape", "stdout.clean"}


def test_nothing_applies_to_what_is_no_server():
    assert set(outcomes(evidence()).values()) == {Outcome.NOT_APPLICABLE}


def listing(*tools: Any) -> list[Answer]:
    return [answer(question, listed(*tools, _meta=META)) for question in (Question.TOOLS, Question.FRESH_TOOLS)]


STDIO_FAULTS: list[tuple[set[str], list[Answer]]] = [
    ({"discover.lists", "version.same-names"}, [answer(Question.DISCOVER, discovered("2027-01-01", _meta=META))]),
    ({"modern.no-handshake"}, [answer(Question.FRESH_TOOLS, error(-32603, "no"))]),
    ({"version.unknown"}, [answer(Question.UNKNOWN_VERSION, error(-32602, "no"))]),
    ({"version.unknown"}, [answer(Question.UNKNOWN_VERSION, error(-32022, "no", supported=[MODERN]))]),
    ({"version.unknown-later"}, [answer(Question.UNKNOWN_VERSION_LATER, discovered(_meta=META))]),
    (
        {"version.same-names"},
        [
            answer(
                Question.UNKNOWN_VERSION,
                error(-32022, "no", supported=[MODERN, "2025-11-25"], requested="2099-01-01"),
            )
        ],
    ),
    ({"envelope.required"}, [answer(Question.BARE, result(tools=[]))]),
    ({"initialize.refused"}, [answer(Question.INITIALIZE, error(-32601, "no such method"))]),
    ({"initialize.refused"}, [answer(Question.INITIALIZE, fault="no answer")]),
    ({"initialize.then-modern"}, [answer(Question.AFTER_INITIALIZE, error(-32600, "no"))]),
    ({"response.shape"}, [answer(Question.BARE, {"jsonrpc": "1.0", **error(-32602, "no")})]),
    ({"response.shape"}, [answer(Question.BARE, {"id": "server-error", **error(-32602, "no")})]),
    ({"response.shape"}, [answer(Question.BARE, {**error(-32602, "no"), "result": {}})]),
    ({"response.shape", "envelope.required"}, [answer(Question.BARE, {"error": "no"})]),
    ({"response.shape", "envelope.required"}, [answer(Question.BARE, {"result": []})]),
    ({"response.codes", "method.unknown"}, [answer(Question.UNKNOWN_METHOD, error(-32042, "no"))]),
    ({"response.codes", "method.unknown"}, [answer(Question.UNKNOWN_METHOD, error(-32050, "no"))]),
    ({"result.type"}, [answer(Question.CALL, result(resultType="partial", _meta=META, content=[]))]),
    ({"result.cache"}, [answer(Question.DISCOVER, discovered(_meta=META, ttlMs=-1))]),
    ({"result.cache"}, [answer(Question.DISCOVER, discovered(_meta=META, ttlMs=True))]),
    ({"result.cache"}, [answer(Question.TOOLS, listed(_meta=META, cacheScope="shared"))]),
    ({"result.server-info"}, [answer(Question.TOOLS, listed())]),
    ({"method.unknown"}, [answer(Question.UNKNOWN_METHOD, error(-32602, "no"))]),
    ({"tools.same"}, [answer(Question.FRESH_TOOLS, listed(TOOL, {**TOOL, "name": "more"}, _meta=META))]),
    ({"tools.same"}, [answer(Question.FRESH_TOOLS, listed({**TOOL, "title": "x"}, _meta=META))]),
    ({"tools.valid"}, listing({"name": "two words", "inputSchema": {"type": "object"}})),
    ({"tools.valid"}, listing({"name": "a", "inputSchema": {"type": "object", "required": "a"}})),
    ({"tools.valid"}, listing(TOOL, TOOL)),
    ({"tools.valid"}, listing("a tool")),
    ({"tools.call"}, [answer(Question.CALL, result(resultType="complete", _meta=META, content=[], isError=True))]),
    ({"tools.call"}, [answer(Question.CALL, fault="no answer")]),
]


@pytest.mark.parametrize(("failures", "changed"), STDIO_FAULTS)
def test_a_fault_fails_its_check_alone(failures: set[str], changed: list[Answer]):
    assert failed(but(good(), *changed)) == failures


HTTP_FAULTS: list[tuple[str, Answer]] = [
    ("http.version-header", answer(Question.NO_VERSION_HEADER, discovered(_meta=META), status=200)),
    ("http.method-header", answer(Question.NO_METHOD_HEADER, error(-32602, "no"), status=400)),
    ("http.version-match", answer(Question.OTHER_VERSION_HEADER, error(-32020, "no"), status=200)),
    ("http.method-match", answer(Question.OTHER_METHOD_HEADER, discovered(_meta=META), status=200)),
    ("http.status", answer(Question.UNKNOWN_VERSION, UNKNOWN, status=200)),
    ("http.status", answer(Question.UNKNOWN_METHOD, error(-32601, "no"), status=200)),
    ("http.no-session", answer(Question.TOOLS, listed(_meta=META), status=200, headers=(("mcp-session-id", "1"),))),
    ("http.no-session", answer(Question.SESSION, error(-32600, "unknown session"), status=404)),
    ("http.get", answer(Question.GET, status=200, stream=())),
    ("http.notification", answer(Question.NOTIFICATION, status=200, body="ok")),
    ("http.notification", answer(Question.NOTIFICATION, fault="no answer")),
    ("http.origin", answer(Question.FOREIGN_ORIGIN, discovered(_meta=META), status=200)),
]


@pytest.mark.parametrize(("failure", "changed"), HTTP_FAULTS)
def test_a_fault_over_http_fails_its_check_alone(failure: str, changed: Answer):
    assert failed(but(good("http"), changed)) == {failure}


def with_first(seen: Evidence, **members: Any) -> Evidence:
    first, *others = seen.conversations
    return replace(seen, conversations=(replace(first, **members), *others))


@pytest.mark.parametrize(
    ("failure", "members"),
    [
        ("stdout.clean", {"noise": ("Welcome!",)}),
        ("response.shape", {"strays": ({"jsonrpc": "2.0", "id": 7, "result": {}},)}),
        ("response.shape", {"strays": ({"jsonrpc": "2.0", "id": 7, "method": "roots/list"},)}),
        ("eof.exit", {"exit": Exit(code=None, within_s=5)}),
        ("eof.exit", {"exit": Exit(code=-11, within_s=5)}),
        ("eof.answers", {"burst": Burst(asked=50, answered=49), "answers": (answer(Question.BURST),)}),
    ],
)
def test_a_fault_of_the_process_fails_its_check(failure: str, members: dict[str, Any]):
    assert failure in failed(with_first(good(), **members))


def test_a_notification_is_no_stray_to_complain_of():
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
    assert failed(with_first(good(), strays=(note,))) == set()


def test_a_server_without_tools_needs_no_list():
    bare = {"supportedVersions": [MODERN], "resultType": "complete", "capabilities": {}, "_meta": META, **HINTS}
    seen = but(
        good(),
        answer(Question.DISCOVER, result(**bare)),
        answer(Question.TOOLS, error(-32601, "no")),
        answer(Question.FRESH_TOOLS, error(-32601, "no")),
    )
    assert failed(seen) == set()
    assert outcomes(seen)["modern.no-handshake"] is Outcome.NOT_APPLICABLE


def test_the_same_definitions_in_another_order_are_told_as_that():
    one, two = {**TOOL, "name": "a"}, {**TOOL, "name": "b"}
    seen = but(
        good(),
        answer(Question.TOOLS, listed(one, two, _meta=META)),
        answer(Question.FRESH_TOOLS, listed(two, one, _meta=META)),
    )
    details = {check.id: finding.detail for check, finding in run_checks(seen, judge(seen))}
    assert details["tools.same"] == "the two lists differ: the order changed"


def test_a_dual_era_server_may_take_a_request_without_version_header_for_a_legacy_one():
    seen = but(
        good("http"),
        answer(Question.INITIALIZE, initialized(), status=200),
        answer(Question.NO_VERSION_HEADER, error(-32601, "no"), status=404),
    )
    assert judge(seen).kind == "dual-era"
    assert outcomes(seen)["http.version-header"] is Outcome.NOT_APPLICABLE
    assert outcomes(seen)["initialize.negotiates"] is Outcome.PASS


def test_an_error_names_versions_in_words_too():
    words = error(-32601, "initialize is gone; this server speaks 2026-07-28")
    assert failed(but(good(), answer(Question.INITIALIZE, words))) == set()


def test_every_question_that_a_check_looks_at_is_asked_by_name():
    """The builder above answers all but the burst's own; a new question has to be added to it."""
    asked = {one.question for transport in ("stdio", "http") for one in good(transport).answers()}  # type: ignore[arg-type]
    assert asked == set(Question)
