"""The questions a server is asked, in conversations that each meet a fresh process or connection.

The first message a process gets fixes its era in most servers, so every conversation begins with one
question that decides something, and only then asks what may follow it:

    initialize       what becomes of a legacy client; then a modern request after it
    discover         is it modern; then its tools, one call, an unknown method, an unknown version later
    tools/list       a modern call without any handshake; the same list as before
    unknown version  how a version that nobody serves is refused
    no envelope      what becomes of a request that is neither
    burst            many requests, then the end of input (stdio)
    headers, ...     one exchange for each rule of Streamable HTTP (HTTP)

No notification is sent before these: in some servers one makes the process legacy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias

from discern_server.wire.evidence import Answer, Question, tools_in
from discern_server.wire.messages import Message, envelope, initialize, modern_request, notification, request
from discern_server.wire.revisions import (
    LEGACY,
    METHOD_HEADER,
    MODERN,
    SESSION_HEADER,
    UNKNOWN,
    VERSION_HEADER,
    VERSION_KEY,
)
from discern_server.wire.verdict import proves_modern

BURST_REQUESTS: Final = 50
MAX_PAGES: Final = 100
UNKNOWN_METHOD: Final = "discern/no-such-method"


class Talk(Protocol):
    """One conversation under way; everything asked in it is recorded."""

    def ask(self, question: Question, message: Message) -> Answer:
        """Send a message and return what came back."""


class StdioTalk(Talk, Protocol):
    """One with a process."""

    def burst(self, count: int) -> None:
        """Write `count` requests at once, end the input, and count the results."""


class HttpTalk(Talk, Protocol):
    """One over HTTP."""

    def ask(self, question: Question, message: Message, headers: Mapping[str, str | None] | None = None) -> Answer:
        """Post a message; `headers` replace the standard ones by name, None drops one."""

    def get(self) -> None:
        """Ask for a stream as clients of the legacy era do, and wait for its first event."""


Step: TypeAlias = Callable[[Talk], Any]
"""One conversation, whatever it goes over."""
StdioStep: TypeAlias = Callable[[StdioTalk], Any]
HttpStep: TypeAlias = Callable[[HttpTalk], Any]


def openings(legacy_revision: str, *, call: bool) -> tuple[Step, ...]:
    """The two conversations that show whether there is anybody to talk to.

    Args:
        legacy_revision: The revision that ``initialize`` asks for.
        call: Whether to call a tool that says it only reads and needs no arguments.
    """
    return (lambda talk: _open_legacy(talk, legacy_revision), lambda talk: _open_modern(talk, call=call))


def _open_legacy(talk: Talk, revision: str) -> None:
    talk.ask(Question.INITIALIZE, initialize(revision))
    talk.ask(Question.AFTER_INITIALIZE, modern_request("server/discover", id=2))


def _open_modern(talk: Talk, *, call: bool) -> None:
    answer = talk.ask(Question.DISCOVER, modern_request("server/discover"))
    if not proves_modern(answer):
        return
    ids = itertools.count(2)
    tool = _harmless_tool(_list_tools(talk, Question.TOOLS, ids))
    if tool and call:
        talk.ask(Question.CALL, modern_request("tools/call", {"name": tool, "arguments": {}}, id=next(ids)))
    talk.ask(Question.UNKNOWN_METHOD, modern_request(UNKNOWN_METHOD, id=next(ids)))
    talk.ask(Question.UNKNOWN_VERSION_LATER, modern_request("server/discover", id=next(ids), revision=UNKNOWN))


def _fresh_tools(talk: Talk) -> None:
    _list_tools(talk, Question.FRESH_TOOLS, itertools.count(1))


def _unknown_version(talk: Talk) -> None:
    talk.ask(Question.UNKNOWN_VERSION, modern_request("server/discover", revision=UNKNOWN))


def _bare(talk: Talk) -> None:
    talk.ask(Question.BARE, request("tools/list", {}))


def _list_tools(talk: Talk, question: Question, ids: Iterator[int]) -> tuple[Answer, ...]:
    """Ask for the list page by page, up to a repeated cursor or `MAX_PAGES`."""
    pages: list[Answer] = []
    cursors: list[str] = []
    while len(pages) < MAX_PAGES:
        params = {"cursor": cursors[-1]} if cursors else {}
        pages.append(talk.ask(question, modern_request("tools/list", params, id=next(ids))))
        cursor = (pages[-1].result or {}).get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors:
            break
        cursors.append(cursor)
    return tuple(pages)


def _harmless_tool(pages: tuple[Answer, ...]) -> str | None:
    """The name of a tool that says it only reads, and needs no arguments; one that stays at home is preferred."""
    names = [(_is_open(tool), tool["name"]) for tool in tools_in(pages) if _is_harmless(tool)]
    return min(names, key=lambda pair: pair[0])[1] if names else None


def _is_harmless(tool: Any) -> bool:
    return (
        isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("annotations"), dict)
        and tool["annotations"].get("readOnlyHint") is True
        and isinstance(tool.get("inputSchema"), dict)
        and not tool["inputSchema"].get("required")
    )


def _is_open(tool: dict[str, Any]) -> bool:
    return tool["annotations"].get("openWorldHint") is not False


def _burst(talk: StdioTalk) -> None:
    talk.burst(BURST_REQUESTS)


def _wrong_headers(question: Question, headers: Mapping[str, str | None]) -> HttpStep:
    return lambda talk: talk.ask(question, modern_request("server/discover"), headers)


def _other_version_header(talk: HttpTalk) -> None:
    message = modern_request("server/discover", {"_meta": {VERSION_KEY: LEGACY[0]}})
    talk.ask(Question.OTHER_VERSION_HEADER, message, {VERSION_HEADER: MODERN})


def _notify(talk: HttpTalk) -> None:
    params = {"requestId": "none", "_meta": envelope()}
    talk.ask(Question.NOTIFICATION, notification("notifications/cancelled", params))


def _get(talk: HttpTalk) -> None:
    talk.get()


_EVERYWHERE: Final[tuple[Step, ...]] = (_fresh_tools, _unknown_version, _bare)
ON_STDIO: Final[tuple[StdioStep, ...]] = (*_EVERYWHERE, _burst)
OVER_HTTP: Final[tuple[HttpStep, ...]] = (
    *_EVERYWHERE,
    _wrong_headers(Question.NO_VERSION_HEADER, {VERSION_HEADER: None}),
    _wrong_headers(Question.NO_METHOD_HEADER, {METHOD_HEADER: None}),
    _wrong_headers(Question.OTHER_METHOD_HEADER, {METHOD_HEADER: "tools/list"}),
    _other_version_header,
    _wrong_headers(Question.SESSION, {SESSION_HEADER: "discern-era"}),
    _wrong_headers(Question.FOREIGN_ORIGIN, {"Origin": "http://discern.invalid"}),
    _notify,
    _get,
)
WITHOUT_ANSWER: Final[tuple[HttpStep, ...]] = (_get,)
"""What is left to ask over HTTP where nobody answered a message: the transport of 2024-11-05 begins with GET."""
