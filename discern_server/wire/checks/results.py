"""Checks of what every answer owes its reader: its shape, its id, its type, its cache hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from discern_server.wire.checks.check import MCP_KINDS, Check, Finding, failed, not_applicable, on_answer, passed
from discern_server.wire.evidence import Answer, Evidence, Question, shortened
from discern_server.wire.messages import Message, encode
from discern_server.wire.revisions import METHOD_NOT_FOUND, SERVER_KEY
from discern_server.wire.verdict import Verdict

_MODERN_QUESTIONS: Final = (Question.DISCOVER, Question.TOOLS, Question.FRESH_TOOLS, Question.CALL)
_CACHEABLE: Final = (Question.DISCOVER, Question.TOOLS, Question.FRESH_TOOLS)
_RESULT_TYPES: Final = ("complete", "input_required")
_FORBIDDEN_CODES: Final = frozenset({-32002, -32042})
_RESERVED_CODES: Final = range(-32099, -32019)
_DEFINED_CODES: Final = frozenset({-32020, -32021, -32022})


def _each_result(
    questions: tuple[Question, ...], fault_of: Callable[[dict[str, Any]], str | None], good: str
) -> Callable[[Evidence, Verdict], Finding]:
    """A `look` over the results to `questions`: the first fault decides."""

    def look(evidence: Evidence, _verdict: Verdict) -> Finding:
        results = [
            (answer, answer.result) for answer in evidence.answers() if answer.question in questions and answer.result
        ]
        if not results:
            return not_applicable("there is no result")
        for answer, result in results:
            fault = fault_of(result)
            if fault:
                return failed(f"{answer.question}: {fault}", answer.question)
        return passed(f"{good} in {len(results)} results")

    return look


def _type_fault(result: dict[str, Any]) -> str | None:
    kind = result.get("resultType")
    return None if kind in _RESULT_TYPES else f"resultType is {shortened(repr(kind))}"


def _cache_fault(result: dict[str, Any]) -> str | None:
    if result.get("resultType") == "input_required":
        return None
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    if not isinstance(ttl, int) or isinstance(ttl, bool) or ttl < 0:
        return f"ttlMs is {shortened(repr(ttl))}, no whole number of milliseconds"
    return None if scope in ("public", "private") else f"cacheScope is {shortened(repr(scope))}"


def _identity_fault(result: dict[str, Any]) -> str | None:
    meta = result.get("_meta")
    server = meta.get(SERVER_KEY) if isinstance(meta, dict) else None
    return None if isinstance(server, dict) and server.get("name") else f"_meta has no {SERVER_KEY}"


def _well_formed(evidence: Evidence, _verdict: Verdict) -> Finding:
    seen = 0
    for answer in evidence.answers():
        if answer.received is not None:
            seen += 1
            fault = _response_fault(answer.received, answer.sent.get("id"))
            if fault:
                return failed(f"{answer.question}: {fault}", answer.question)
    for conversation in evidence.conversations:
        for stray in conversation.strays:
            fault = _stray_fault(stray)
            if fault:
                return failed(fault, conversation.answers[-1].question if conversation.answers else None)
    return passed(f"{seen} responses, each with the id of its request") if seen else not_applicable("no response came")


def _response_fault(message: Message, asked: Any) -> str | None:
    if message.get("jsonrpc") != "2.0":
        return f"jsonrpc is {shortened(repr(message.get('jsonrpc')))}"
    if ("result" in message) == ("error" in message):
        return "a response has either a result or an error"
    if "result" in message:
        return None if isinstance(message["result"], dict) else "the result is no object"
    if message.get("id") not in (None, asked):
        return f"an error has the id {shortened(repr(message['id']))}, where {asked!r} was asked"
    return _error_fault(message["error"])


def _error_fault(error: Any) -> str | None:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return "an error is an object with a code and a message"
    code = error.get("code")
    return None if isinstance(code, int) and not isinstance(code, bool) else f"the code is {shortened(repr(code))}"


def _stray_fault(message: Message) -> str | None:
    if "method" not in message:
        return f"a response to no request of ours: {shortened(encode(message).decode())}"
    return f"a request of the server's own: {shortened(str(message['method']))}" if "id" in message else None


def _codes(evidence: Evidence, _verdict: Verdict) -> Finding:
    wrong = next(_wrong_codes(evidence), None)
    if wrong:
        return failed(f"{wrong.question}: {wrong}", wrong.question)
    codes = sorted({answer.code for answer in evidence.answers() if answer.code is not None})
    return passed("codes seen: " + ", ".join(map(str, codes))) if codes else not_applicable("there is no error")


def _wrong_codes(evidence: Evidence) -> Iterator[Answer]:
    for answer in evidence.answers():
        code = answer.code
        if code in _FORBIDDEN_CODES or (code in _RESERVED_CODES and code not in _DEFINED_CODES):
            yield answer


RESULT_CHECKS: Final = (
    Check(
        id="response.shape",
        title="every response is well formed and has its request's id",
        reason="A client cannot match any other; a request from the server is not part of this protocol any more.",
        level="must",
        clause="basic/index#responses",
        kinds=MCP_KINDS,
        look=_well_formed,
    ),
    Check(
        id="response.codes",
        title="no error code that the revision forbids",
        reason="Reserved codes mean something to clients; a stray one is acted upon wrongly.",
        level="must",
        clause="basic/index#error-codes",
        look=_codes,
    ),
    Check(
        id="result.type",
        title="every result has a resultType",
        reason="It tells a finished answer from one that asks for more input.",
        level="must",
        clause="basic/index#resulttype",
        look=_each_result(_MODERN_QUESTIONS, _type_fault, "resultType"),
    ),
    Check(
        id="result.cache",
        title="ttlMs and cacheScope where results can be cached",
        reason="Without them clients ask again each time, or share what was meant for one user.",
        level="must",
        clause="server/utilities/caching#cacheable-results",
        look=_each_result(_CACHEABLE, _cache_fault, "both"),
    ),
    Check(
        id="result.server-info",
        title="every result names the server",
        reason="With no handshake, this is where logs learn which server and version answered.",
        level="should",
        clause="basic/index#_meta",
        look=_each_result(_MODERN_QUESTIONS, _identity_fault, "serverInfo"),
    ),
    Check(
        id="method.unknown",
        title="an unknown method is -32601",
        reason="Clients try optional methods and go by this code.",
        level="must",
        clause="basic/index#error-codes",
        look=on_answer(Question.UNKNOWN_METHOD, lambda answer: answer.code == METHOD_NOT_FOUND),
    ),
)
