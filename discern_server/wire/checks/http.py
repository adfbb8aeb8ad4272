"""Checks of Streamable HTTP: headers required and matched, statuses, no sessions, foreign origins."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from discern_server.wire.checks.check import Check, Finding, failed, judged, not_applicable, on_answer, passed
from discern_server.wire.evidence import Answer, Evidence, Question, Transport
from discern_server.wire.revisions import HEADER_MISMATCH, METHOD_NOT_FOUND, SESSION_HEADER, UNSUPPORTED_VERSION
from discern_server.wire.verdict import Kind, Verdict, is_discover_result

_HTTP: Final[frozenset[Transport]] = frozenset({"http"})
_MODERN_ONLY: Final = frozenset({Kind.MODERN_ONLY})
_MODERN_REQUESTS: Final = (
    Question.DISCOVER,
    Question.TOOLS,
    Question.FRESH_TOOLS,
    Question.CALL,
    Question.UNKNOWN_VERSION,
    Question.SESSION,
)
_PAGE: Final = "basic/transports/streamable-http#"


def _is_header_mismatch(answer: Answer) -> bool:
    return answer.status == HTTPStatus.BAD_REQUEST and answer.code == HEADER_MISMATCH


def _statuses(evidence: Evidence, _verdict: Verdict) -> Finding:
    rules = (
        (Question.DISCOVER, None, HTTPStatus.OK),
        (Question.UNKNOWN_VERSION, UNSUPPORTED_VERSION, HTTPStatus.BAD_REQUEST),
        (Question.UNKNOWN_METHOD, METHOD_NOT_FOUND, HTTPStatus.NOT_FOUND),
    )
    seen = []
    for question, code, status in rules:
        answer = evidence.get(question)
        if answer is None or (answer.result is None and answer.code != code):
            continue
        if answer.status != status:
            return failed(f"{question}: {answer}, where {status:d} is due", question)
        seen.append(f"{question} {status:d}")
    return passed(", ".join(seen)) if seen else not_applicable("no such answer came")


def _no_session(evidence: Evidence, _verdict: Verdict) -> Finding:
    answers = [answer for answer in evidence.answers() if answer.question in _MODERN_REQUESTS]
    for answer in answers:
        if answer.header(SESSION_HEADER):
            return failed(f"{answer.question} was answered with {SESSION_HEADER}", answer.question)
    sent = evidence.get(Question.SESSION)
    if sent and not is_discover_result(sent):
        return failed(f"a request that carries one is not served: {sent}", Question.SESSION)
    return passed(f"none in {len(answers)} answers; one that was sent is ignored")


def _notification(answer: Answer) -> bool:
    accepted = answer.status == HTTPStatus.ACCEPTED and not answer.body and answer.received is None
    return accepted or (answer.status or 0) >= HTTPStatus.BAD_REQUEST


def _without_version(evidence: Evidence, verdict: Verdict) -> Finding:
    answer = evidence.get(Question.NO_VERSION_HEADER)
    if answer is None:
        return not_applicable("not asked")
    if verdict.serves_legacy and not _is_header_mismatch(answer):
        return not_applicable(f"a server for legacy clients too may take it for one: {answer}")
    return judged(answer, _is_header_mismatch(answer))


HTTP_CHECKS: Final = (
    Check(
        id="http.version-header",
        title="a request without MCP-Protocol-Version is refused",
        reason="Proxies route by it; a server that does without lets two parties read one request differently.",
        level="must",
        clause=_PAGE + "protocol-version-header",
        transports=_HTTP,
        look=_without_version,
    ),
    Check(
        id="http.method-header",
        title="a request without Mcp-Method is refused",
        reason="The same: what the header does not say, a proxy cannot see.",
        level="must",
        clause=_PAGE + "standard-request-headers",
        transports=_HTTP,
        look=on_answer(Question.NO_METHOD_HEADER, _is_header_mismatch),
    ),
    Check(
        id="http.version-match",
        title="a version header that differs from the body is refused",
        reason="Otherwise the proxy and the server go by different versions.",
        level="must",
        clause=_PAGE + "server-validation",
        transports=_HTTP,
        look=on_answer(Question.OTHER_VERSION_HEADER, _is_header_mismatch),
    ),
    Check(
        id="http.method-match",
        title="a method header that differs from the body is refused",
        reason="Otherwise what a proxy lets through is not what the server runs.",
        level="must",
        clause=_PAGE + "server-validation",
        transports=_HTTP,
        look=on_answer(Question.OTHER_METHOD_HEADER, _is_header_mismatch),
    ),
    Check(
        id="http.status",
        title="statuses are 200, 400 for a version, 404 for a method",
        reason="Clients and proxies look at the status before they look at the body.",
        level="must",
        clause=_PAGE + "protocol-version-header",
        transports=_HTTP,
        look=_statuses,
    ),
    Check(
        id="http.no-session",
        title="no session id, and one that is sent is ignored",
        reason="Sessions are gone: a server that mints one cannot be put behind any load balancer.",
        level="should",
        clause=_PAGE + "earlier-streamable-http-revisions",
        transports=_HTTP,
        look=_no_session,
    ),
    Check(
        id="http.get",
        title="GET is 405",
        reason="Legacy clients open a stream with it; a clear no beats an open connection.",
        level="should",
        clause=_PAGE + "earlier-streamable-http-revisions",
        kinds=_MODERN_ONLY,
        transports=_HTTP,
        look=on_answer(Question.GET, lambda answer: answer.status == HTTPStatus.METHOD_NOT_ALLOWED),
    ),
    Check(
        id="http.notification",
        title="a notification is 202 without a body, or an error",
        reason="Anything else leaves a client waiting for an answer that has no question.",
        level="must",
        clause=_PAGE + "sending-messages",
        transports=_HTTP,
        look=on_answer(Question.NOTIFICATION, _notification),
    ),
    Check(
        id="http.origin",
        title="a foreign Origin is 403",
        reason="Any web page could talk to a server on this machine otherwise (DNS rebinding).",
        level="must",
        clause=_PAGE + "security--endpoint",
        transports=_HTTP,
        look=on_answer(Question.FOREIGN_ORIGIN, lambda answer: answer.status == HTTPStatus.FORBIDDEN),
    ),
)
