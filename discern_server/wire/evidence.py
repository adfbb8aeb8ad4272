"""What was observed of a server: the questions asked, what came back, and how its processes ended.

Values only. A probe gathers them (`probe`), the verdict and the checks judge them (`verdict`, `checks`):
nothing here talks to a server, and nothing there trusts what is not written down here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from discern_server.wire.messages import Message
from discern_server.wire.transcript import Entry
from discern_server.wire.urls import shown_url

Transport: TypeAlias = Literal["stdio", "http"]


class Question(StrEnum):
    """What is asked. The first of a conversation meets a fresh process (stdio) or connection (HTTP)."""

    INITIALIZE = "initialize"
    AFTER_INITIALIZE = "discover after initialize"
    DISCOVER = "discover"
    TOOLS = "tools/list"
    CALL = "tools/call"
    UNKNOWN_METHOD = "unknown method"
    UNKNOWN_VERSION_LATER = "unknown version later"
    FRESH_TOOLS = "tools/list, fresh"
    UNKNOWN_VERSION = "unknown version"
    BARE = "no envelope"
    BURST = "burst, then end of input"
    # Over HTTP alone.
    NO_VERSION_HEADER = "no version header"
    NO_METHOD_HEADER = "no method header"
    OTHER_VERSION_HEADER = "other version in header"
    OTHER_METHOD_HEADER = "other method in header"
    SESSION = "with a session id"
    FOREIGN_ORIGIN = "foreign origin"
    NOTIFICATION = "notification"
    GET = "GET"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question and what came back.

    Attributes:
        question: What was asked.
        sent: The message; empty where none was sent.
        received: The response to it, or None.
        fault: Why there is none, or why reading ended early.
        status: The HTTP status.
        headers: The HTTP response's headers, names in lower case.
        body: The HTTP body where it holds no response, as text, shortened.
        stream: The names of the events, where the HTTP response is a stream of them.
        span: Where in the conversation's transcript it begins and ends; no end where the conversation broke off.
    """

    question: Question
    sent: Mapping[str, Any]
    received: Message | None = None
    fault: str | None = None
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    stream: tuple[str, ...] | None = None
    span: tuple[int, int | None] = (0, None)

    @property
    def result(self) -> dict[str, Any] | None:
        """The result, where it is an object."""
        result = (self.received or {}).get("result")
        return result if isinstance(result, dict) else None

    @property
    def error(self) -> dict[str, Any] | None:
        """The error, where it is an object. Some servers put a text there."""
        error = (self.received or {}).get("error")
        return error if isinstance(error, dict) else None

    @property
    def contradicts_itself(self) -> bool:
        """Whether it has a result and an error, of which a response has one (JSON-RPC 2.0, section 5)."""
        return self.result is not None and self.error is not None

    @property
    def code(self) -> int | None:
        """The error's code, where it is an integer."""
        code = (self.error or {}).get("code")
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def data(self) -> dict[str, Any]:
        """The error's data; empty where it has none or it is no object."""
        data = (self.error or {}).get("data")
        return data if isinstance(data, dict) else {}

    def header(self, name: str) -> str | None:
        """The value of an HTTP response header, in any case."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def __str__(self) -> str:
        said = self._said()
        return f"{self.status} {said}" if self.status is not None else said

    def _said(self) -> str:
        if self.contradicts_itself:
            return f"a result and an error at once: {shortened(json.dumps(self.received))}"
        if self.error is not None:
            message = shortened(str(self.error.get("message", "")))
            return f"error {self.error.get('code')} “{message}”"
        if self.result is not None:
            return _describe(self.result)
        if self.received is not None:
            return f"no well-formed response: {shortened(json.dumps(self.received))}"
        if self.fault:
            return self.fault
        if location := self.header("location"):
            return f"redirected to {shortened(shown_url(location))}"
        if self.stream is not None:
            return "a stream of events"
        return f"no JSON-RPC: {shortened(self.body)}" if self.body else "nothing"


def _describe(result: Mapping[str, Any]) -> str:
    if "supportedVersions" in result:
        return f"DiscoverResult {shortened(json.dumps(result['supportedVersions']))}"
    if "protocolVersion" in result:
        return f"InitializeResult {shortened(str(result['protocolVersion']))}"
    if "resultType" in result:
        return f"a result with resultType {shortened(json.dumps(result['resultType']))}"
    return "a result without resultType"


def shortened(text: str, length: int = 110) -> str:
    """`text` on one line, cut to `length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a process behaved once its input was closed.

    Attributes:
        code: Its exit code (negative: a signal), or None where it had to be killed.
        within_s: The time it was given.
    """

    code: int | None
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Many requests written at once, followed by the end of input.

    Attributes:
        asked: How many requests were written.
        answered: How many of them got a result.
    """

    asked: int
    answered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What one fresh process, or one fresh HTTP client, was asked and said.

    Attributes:
        answers: The questions in order.
        strays: Messages that answer none of them, such as requests or answers with other ids.
        noise: Lines on stdout that are no JSON objects, shortened.
        exit: How it ended after its input was closed; None where it ended before, or over HTTP.
        burst: What became of a burst, where one was sent.
        entries: The transcript.
    """

    answers: tuple[Answer, ...] = ()
    strays: tuple[Message, ...] = ()
    noise: tuple[str, ...] = ()
    exit: Exit | None = None
    burst: Burst | None = None
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that was observed of one server.

    Attributes:
        target: The command line or the URL.
        transport: How it was spoken to.
        conversations: In the order they were held.
        unreachable: Why there was nobody to talk to, or None.
        unasked: Why questions were left out, or None.
    """

    target: str
    transport: Transport
    conversations: tuple[Conversation, ...] = ()
    unreachable: str | None = None
    unasked: str | None = None

    def answers(self) -> Iterator[Answer]:
        """Every answer, in order."""
        for conversation in self.conversations:
            yield from conversation.answers

    def all(self, question: Question) -> tuple[Answer, ...]:
        """The answers to one question: the pages of a list, for example."""
        return tuple(answer for answer in self.answers() if answer.question is question)

    def get(self, question: Question) -> Answer | None:
        """The first answer to a question, or None where it was not asked."""
        return next((answer for answer in self.answers() if answer.question is question), None)

    def exchange(self, question: Question) -> tuple[Entry, ...]:
        """The part of the transcript in which `question` was asked and answered."""
        conversation, answer = self.conversation(question), self.get(question)
        return conversation.entries[slice(*answer.span)] if conversation and answer else ()

    def conversation(self, question: Question) -> Conversation | None:
        """The conversation in which a question was asked."""
        for conversation in self.conversations:
            if any(answer.question is question for answer in conversation.answers):
                return conversation
        return None


def tools_in(answers: tuple[Answer, ...]) -> list[Any]:
    """The tool definitions on the pages of a list, as they came."""
    pages = ((answer.result or {}).get("tools") for answer in answers)
    return [tool for page in pages if isinstance(page, list) for tool in page]
