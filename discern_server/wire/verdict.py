"""The verdict: which eras a server serves, by what it did and not by what it says of itself.

*Modern* is proven by an answer that only a modern server gives to the first message of a fresh process
or connection: a ``DiscoverResult`` that lists a modern revision, a result with ``resultType``, or an
error that the modern revision defines, told by its code and its shape (basic/versioning, "Backward
Compatibility"). An answer to ``tools/list`` alone proves nothing, since legacy servers give it too, and
``supportedVersions`` does not tell the policy: servers that serve both eras mostly list only the modern one.

*Legacy* is proven by an ``InitializeResult`` to an ``initialize`` in a process of its own, or by the
``endpoint`` event of the HTTP+SSE transport of 2024-11-05.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from discern_server.wire.evidence import Answer, Evidence, Question
from discern_server.wire.revisions import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    MODERN,
    UNSUPPORTED_VERSION,
    era_of,
    is_revision,
)

_OPENINGS: Final = (
    Question.DISCOVER,
    Question.FRESH_TOOLS,
    Question.UNKNOWN_VERSION,
    Question.INITIALIZE,
    Question.BARE,
)

_HTTP_SSE_REVISION: Final = "2024-11-05"


class Kind(StrEnum):
    """What a server turned out to be."""

    MODERN_ONLY = "modern-only"
    DUAL_ERA = "dual-era"
    LEGACY_ONLY = "legacy-only"
    NOT_MCP = "not-mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a server is, and why.

    Attributes:
        kind: The eras it serves.
        revisions: The revisions it was seen to serve, newest first.
        named: The revisions it names itself, in a ``DiscoverResult`` or a refusal, newest first.
        reason: The deciding answers, for a person.
        decided_by: The questions whose answers decided, the one about the modern era first.
    """

    kind: Kind
    revisions: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    reason: str = ""
    decided_by: tuple[Question, ...] = ()

    @property
    def serves_modern(self) -> bool:
        """Whether modern clients are served."""
        return self.kind in (Kind.MODERN_ONLY, Kind.DUAL_ERA)

    @property
    def serves_legacy(self) -> bool:
        """Whether legacy clients are served."""
        return self.kind in (Kind.LEGACY_ONLY, Kind.DUAL_ERA)


def judge(evidence: Evidence) -> Verdict:
    """The verdict on `evidence`."""
    if evidence.unreachable:
        return Verdict(kind=Kind.NOT_MCP, reason=evidence.unreachable)
    modern = next((answer for answer in _openings(evidence) if proves_modern(answer)), None)
    legacy = _legacy_proof(evidence)
    deciding = [
        modern or evidence.get(Question.DISCOVER),
        legacy or evidence.get(Question.INITIALIZE),
    ]
    answers = [answer for answer in deciding if answer is not None]
    return Verdict(
        kind=_KINDS[modern is not None, legacy is not None],
        revisions=_seen(evidence, legacy),
        named=_named(evidence),
        reason="; ".join(dict.fromkeys(f"{answer.question}: {answer}" for answer in answers)),
        decided_by=tuple(dict.fromkeys(answer.question for answer in answers)),
    )


_KINDS: Final = {
    (True, False): Kind.MODERN_ONLY,
    (True, True): Kind.DUAL_ERA,
    (False, True): Kind.LEGACY_ONLY,
    (False, False): Kind.NOT_MCP,
}


def proves_modern(answer: Answer) -> bool:
    """Whether only a modern server answers so."""
    if answer.contradicts_itself:
        return False
    if answer.question is Question.INITIALIZE or answer.question is Question.BARE:
        return is_modern_error(answer)
    return is_discover_result(answer) or _has_result_type(answer) or is_modern_error(answer)


def is_discover_result(answer: Answer) -> bool:
    """Whether it is a ``DiscoverResult`` that lists a modern revision (server/discover)."""
    return any(era_of(revision) == "modern" for revision in revisions_in(answer.result, "supportedVersions"))


def is_modern_error(answer: Answer) -> bool:
    """Whether it is an error that the modern revision defines, told by code and shape (basic/index, "Error Codes")."""
    if answer.code == UNSUPPORTED_VERSION:
        return any(era_of(revision) == "modern" for revision in revisions_in(answer.data, "supported"))
    if answer.code == MISSING_CAPABILITY:
        return isinstance(answer.data.get("requiredCapabilities"), dict | list)
    return answer.code == HEADER_MISMATCH and answer.status == 400


def is_initialize_result(answer: Answer) -> bool:
    """Whether it is an ``InitializeResult``: the handshake was accepted, in whatever revision."""
    result = answer.result or {}
    return is_revision(result.get("protocolVersion")) and isinstance(result.get("capabilities"), dict)


def opens_http_sse(answer: Answer) -> bool:
    """Whether a GET opened the HTTP+SSE transport: its first event is called ``endpoint``."""
    return (answer.stream or ())[:1] == ("endpoint",)


def revisions_in(holder: dict[str, Any] | None, key: str) -> tuple[str, ...]:
    """The revisions in the list `key` of an object that a server sent; empty where there is none."""
    values = (holder or {}).get(key)
    return tuple(value for value in values if is_revision(value)) if isinstance(values, list) else ()


def _openings(evidence: Evidence) -> list[Answer]:
    return [answer for question in _OPENINGS if (answer := evidence.get(question))]


def _has_result_type(answer: Answer) -> bool:
    return isinstance((answer.result or {}).get("resultType"), str)


def _legacy_proof(evidence: Evidence) -> Answer | None:
    initialize, get = evidence.get(Question.INITIALIZE), evidence.get(Question.GET)
    if initialize and is_initialize_result(initialize) and not initialize.contradicts_itself:
        return initialize
    return get if get and opens_http_sse(get) else None


def _seen(evidence: Evidence, legacy: Answer | None) -> tuple[str, ...]:
    seen = set()
    discover, tools = evidence.get(Question.DISCOVER), evidence.get(Question.FRESH_TOOLS)
    if (discover and MODERN in revisions_in(discover.result, "supportedVersions")) or (
        tools and _has_result_type(tools)
    ):
        seen.add(MODERN)
    if legacy:
        seen.add(legacy.result["protocolVersion"] if legacy.result else _HTTP_SSE_REVISION)
    return tuple(sorted(seen, reverse=True))


def _named(evidence: Evidence) -> tuple[str, ...]:
    named: set[str] = set()
    for answer in evidence.answers():
        named |= {*revisions_in(answer.result, "supportedVersions"), *revisions_in(answer.data, "supported")}
    return tuple(sorted(named, reverse=True))
