"""Checks of the process: a clean stdout, no answer lost at the end of input, a prompt exit."""

from __future__ import annotations

from typing import Final

from discern_server.wire.checks.check import MCP_KINDS, Check, Finding, failed, not_applicable, passed
from discern_server.wire.evidence import Evidence, Question, Transport
from discern_server.wire.verdict import Verdict

_STDIO: Final[frozenset[Transport]] = frozenset({"stdio"})


def _clean(evidence: Evidence, _verdict: Verdict) -> Finding:
    for conversation in evidence.conversations:
        if conversation.noise:
            lines = len(conversation.noise)
            first = conversation.answers[0].question if conversation.answers else None
            return failed(f"{lines} lines that are no messages, such as {conversation.noise[0]!r}", first)
    return passed("nothing but messages")


def _answered(evidence: Evidence, _verdict: Verdict) -> Finding:
    conversation = evidence.conversation(Question.BURST)
    burst = conversation.burst if conversation else None
    if burst is None:
        return not_applicable("not asked")
    detail = f"{burst.answered} of {burst.asked} requests got their result"
    return (passed if burst.answered == burst.asked else failed)(detail, Question.BURST)


def _exits(evidence: Evidence, _verdict: Verdict) -> Finding:
    ends = [(conversation.exit, conversation) for conversation in evidence.conversations if conversation.exit]
    if not ends:
        return not_applicable("no process was there to end")
    for end, conversation in ends:
        question = conversation.answers[-1].question if conversation.answers else None
        if end.code is None:
            return failed(f"still running {end.within_s:g} s after its input was closed", question)
        if end.code < 0:
            return failed(f"ended by signal {-end.code}", question)
    codes = sorted({end.code for end, _ in ends if end.code is not None})
    return passed(f"{len(ends)} times, exit code {' or '.join(map(str, codes))}")


STDIO_CHECKS: Final = (
    Check(
        id="stdout.clean",
        title="stdout carries messages and nothing else",
        reason="A banner or a stray print breaks clients that read every line as JSON.",
        level="must",
        clause="basic/transports/stdio",
        kinds=MCP_KINDS,
        transports=_STDIO,
        look=_clean,
    ),
    Check(
        id="eof.answers",
        title="every request before the end of input is answered",
        reason="A client that writes and closes, as scripts and pipes do, loses answers otherwise.",
        level="policy",
        clause="basic/transports/stdio#shutdown",
        transports=_STDIO,
        look=_answered,
    ),
    Check(
        id="eof.exit",
        title="the process ends with its input",
        reason="It is the only portable way to stop a server; one that stays is killed, or left behind.",
        level="should",
        clause="basic/transports/stdio#shutdown",
        kinds=MCP_KINDS,
        transports=_STDIO,
        look=_exits,
    ),
)
