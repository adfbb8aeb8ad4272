"""Checks of the tools: the same list every time, definitions that hold, a call that works."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from discern_server.result import Severity
from discern_server.rules import check_definition
from discern_server.wire.checks.check import Check, Finding, failed, judged, not_applicable, passed
from discern_server.wire.evidence import Evidence, Question, shortened, tools_in
from discern_server.wire.verdict import Verdict

_MAX_DEFINITIONS: Final = 1000
_FAULTS_SHOWN: Final = 3


def _same(evidence: Evidence, _verdict: Verdict) -> Finding:
    first, second = evidence.all(Question.TOOLS), evidence.all(Question.FRESH_TOOLS)
    if not any(page.result for page in first) or not any(page.result for page in second):
        return not_applicable("there are no two lists")
    once, again = tools_in(first), tools_in(second)
    if once == again:
        return passed(f"{len(once)} tools, twice the same", Question.FRESH_TOOLS)
    return failed(f"the two lists differ: {_difference(once, again)}", Question.FRESH_TOOLS)


def _difference(once: list[Any], again: list[Any]) -> str:
    names, others = _names(once), _names(again)
    if set(names) != set(others):
        return f"only one of them has {shortened(', '.join(sorted(set(names) ^ set(others))))}"
    if names != others:
        return "the order changed"
    changed = [name for name, one, other in zip(names, once, again, strict=True) if one != other]
    return f"another definition of {shortened(', '.join(changed))}"


def _names(tools: list[Any]) -> list[str]:
    return [str(tool.get("name")) if isinstance(tool, dict) else repr(tool) for tool in tools]


def _valid(evidence: Evidence, _verdict: Verdict) -> Finding:
    pages = evidence.all(Question.TOOLS) or evidence.all(Question.FRESH_TOOLS)
    tools = tools_in(pages)
    if not tools:
        return not_applicable("there are no tools")
    faults = [f"{name} is there {count} times" for name, count in Counter(_names(tools)).items() if count > 1]
    for name, tool in zip(_names(tools)[:_MAX_DEFINITIONS], tools, strict=False):
        faults += [
            f"{shortened(name)}{finding.path or ''}: {finding.message}"
            for finding in check_definition(tool)
            if finding.severity is Severity.ERROR
        ]
    if faults:
        more = f" (and {len(faults) - _FAULTS_SHOWN} more)" if len(faults) > _FAULTS_SHOWN else ""
        return failed("; ".join(faults[:_FAULTS_SHOWN]) + more, pages[0].question)
    looked_at = f"{len(tools)}" if len(tools) <= _MAX_DEFINITIONS else f"{_MAX_DEFINITIONS} of {len(tools)}"
    return passed(f"{looked_at} definitions", pages[0].question)


def _call(evidence: Evidence, _verdict: Verdict) -> Finding:
    answer = evidence.get(Question.CALL)
    if answer is None:
        return not_applicable("no tool says that it only reads and needs no arguments")
    result = answer.result or {}
    return judged(answer, result.get("isError") is not True and isinstance(result.get("content"), list))


TOOL_CHECKS: Final = (
    Check(
        id="tools.same",
        title="two fresh starts give the same tools in the same order",
        reason="A list that varies breaks caches, and tells of state where there should be none.",
        level="must",
        clause="server/tools#capabilities",
        look=_same,
    ),
    Check(
        id="tools.valid",
        title="every tool definition is valid",
        reason="Clients leave an invalid tool out, or fail on the whole list.",
        level="must",
        clause="server/tools#data-types",
        look=_valid,
    ),
    Check(
        id="tools.call",
        title="a tool call gives a result",
        reason="Listing is not serving; a tool that only reads was called to see.",
        level="policy",
        clause="server/tools#calling-tools",
        look=_call,
    ),
)
