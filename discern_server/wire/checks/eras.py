"""Checks of what this is all about: which clients are served, and how the others are refused."""

from __future__ import annotations

from typing import Final

from discern_server.wire.checks.check import (
    LEGACY_KINDS,
    MODERN_KINDS,
    Check,
    Finding,
    failed,
    judged,
    not_applicable,
    on_answer,
    passed,
)
from discern_server.wire.evidence import Answer, Evidence, Question
from discern_server.wire.revisions import (
    INVALID_PARAMS,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    UNKNOWN,
    UNSUPPORTED_VERSION,
)
from discern_server.wire.verdict import Kind, Verdict, is_discover_result, is_initialize_result, revisions_in


def _lists_the_revision(answer: Answer) -> bool:
    return MODERN in revisions_in(answer.result, "supportedVersions")


def _without_handshake(evidence: Evidence, _verdict: Verdict) -> Finding:
    answer = evidence.get(Question.FRESH_TOOLS)
    if answer is None:
        return not_applicable("not asked")
    if answer.code == METHOD_NOT_FOUND and not _offers_tools(evidence):
        return not_applicable("the server offers no tools")
    return judged(answer, isinstance((answer.result or {}).get("resultType"), str))


def _offers_tools(evidence: Evidence) -> bool:
    discover = evidence.get(Question.DISCOVER)
    capabilities = ((discover.result if discover else None) or {}).get("capabilities")
    return isinstance(capabilities, dict) and "tools" in capabilities


def _refuses_unknown_version(answer: Answer) -> bool:
    return (
        answer.code == UNSUPPORTED_VERSION
        and bool(revisions_in(answer.data, "supported"))
        and answer.data.get("requested") == UNKNOWN
    )


def _names_agree(evidence: Evidence, _verdict: Verdict) -> Finding:
    discover, refusal = evidence.get(Question.DISCOVER), evidence.get(Question.UNKNOWN_VERSION)
    listed = set(revisions_in(discover.result if discover else None, "supportedVersions"))
    supported = set(revisions_in(refusal.data if refusal else None, "supported"))
    if not listed or not supported:
        return not_applicable("one of the two lists is missing")
    detail = f"server/discover: {', '.join(sorted(listed))}; refusal: {', '.join(sorted(supported))}"
    return (passed if listed == supported else failed)(detail, Question.UNKNOWN_VERSION)


def _names_versions(answer: Answer) -> bool:
    """Whether an error tells a client of an older era which versions there are, in data or in words."""
    if answer.error is None:
        return False
    return MODERN in revisions_in(answer.data, "supported") or MODERN in str(answer.error.get("message", ""))


def _negotiates(answer: Answer) -> bool:
    negotiated = (answer.result or {}).get("protocolVersion")
    return is_initialize_result(answer) and negotiated in LEGACY


ERA_CHECKS: Final = (
    Check(
        id="discover.lists",
        title="server/discover lists the revision",
        reason="A client learns the versions from it; a server that leaves its own out is taken for an older one.",
        level="must",
        clause="server/discover#discoverresult",
        look=on_answer(Question.DISCOVER, _lists_the_revision),
    ),
    Check(
        id="modern.no-handshake",
        title="a modern call works without a handshake",
        reason="Modern clients send no initialize; whatever they call first has to work.",
        level="must",
        clause="basic/index#statelessness",
        look=_without_handshake,
    ),
    Check(
        id="version.unknown",
        title="an unknown version is refused with the supported ones",
        reason="The client picks another version from that list; without it, it can only give up.",
        level="must",
        clause="basic/versioning#protocol-version-negotiation",
        look=on_answer(Question.UNKNOWN_VERSION, _refuses_unknown_version),
    ),
    Check(
        id="version.unknown-later",
        title="also after a good request",
        reason="Every request states its version; a server that stops looking serves one it does not speak.",
        level="must",
        clause="basic/versioning#protocol-version-negotiation",
        look=on_answer(Question.UNKNOWN_VERSION_LATER, _refuses_unknown_version),
    ),
    Check(
        id="version.same-names",
        title="server/discover and the refusal name the same versions",
        reason="Two lists that differ send a client to a version that is then refused.",
        level="must",
        clause="basic/versioning#protocol-version-negotiation",
        look=_names_agree,
    ),
    Check(
        id="envelope.required",
        title="a request without the envelope is refused",
        reason="Served in silence it would run under rules that nobody declared.",
        level="must",
        clause="basic/index#_meta",
        kinds=frozenset({Kind.MODERN_ONLY}),
        look=on_answer(Question.BARE, lambda answer: answer.code in (INVALID_PARAMS, UNSUPPORTED_VERSION)),
    ),
    Check(
        id="initialize.refused",
        title="initialize is refused with the versions named",
        reason="A legacy client cannot move forward by itself; this message is all that its user gets to see.",
        level="should",
        clause="basic/versioning#backward-compatibility-with-initialization-based-versions",
        kinds=frozenset({Kind.MODERN_ONLY}),
        look=on_answer(Question.INITIALIZE, _names_versions),
    ),
    Check(
        id="initialize.negotiates",
        title="initialize negotiates a known revision",
        reason="Legacy clients go on in the revision that the handshake gives them.",
        level="must",
        clause="basic/versioning#backward-compatibility-with-initialization-based-versions",
        kinds=LEGACY_KINDS,
        look=on_answer(Question.INITIALIZE, _negotiates),
    ),
    Check(
        id="initialize.then-modern",
        title="a modern request after initialize is served",
        reason="Nothing may be inferred from earlier requests: clients of both eras may share one process.",
        level="must",
        clause="basic/index#statelessness",
        kinds=MODERN_KINDS,
        look=on_answer(Question.AFTER_INITIALIZE, is_discover_result),
    ),
)
