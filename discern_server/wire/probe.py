"""The probe: holds the conversations of `questions` with a server, one after another.

Time is bounded for each answer, each exit and the whole; once a server has shown how fast it answers,
later silences are believed sooner. Whatever a server does ends as `Evidence`, never as an exception.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from discern_server.wire.errors import (
    AnswerError,
    ConnectError,
    EndedError,
    InputClosedError,
    SilenceError,
    StartError,
    WireError,
)
from discern_server.wire.evidence import Answer, Burst, Conversation, Evidence, Exit, Question, shortened
from discern_server.wire.http import HttpAnswer, HttpServer
from discern_server.wire.limits import Limits
from discern_server.wire.messages import Message, answers, encode, modern_request
from discern_server.wire.questions import ON_STDIO, OVER_HTTP, WITHOUT_ANSWER, openings
from discern_server.wire.revisions import LEGACY
from discern_server.wire.stdio import StdioServer
from discern_server.wire.urls import shown_url

_LEAST_PATIENCE_S: Final = 5.0
_STREAM_PATIENCE_S: Final = 2.0
_TELLING: Final = re.compile(r"error|exception|panic|fatal", re.IGNORECASE)


def probe_command(
    command: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    legacy_revision: str = LEGACY[0],
    call: bool = True,
) -> Evidence:
    """Observe a server that is started by a command and spoken to over stdio.

    Args:
        command: The argument list; no shell is involved. It is started about six times, one at a time.
        cwd: The working directory, or None for the caller's.
        env: The whole environment, or None for the caller's.
        limits: Bounds on time and size.
        legacy_revision: The revision that ``initialize`` asks for.
        call: Whether to call a tool that says it only reads and needs no arguments.
    """
    limits = limits or Limits()

    def converse(step: _AnyStep, pace: _Pace) -> Conversation:
        with StdioServer(command, cwd=cwd, env=env, limits=limits) as server:
            talk = _StdioTalk(server, pace)
            step(talk)
            return talk.end()

    asked = _hold(openings(legacy_revision, call=call), ON_STDIO, (), converse, _Pace(limits))
    return Evidence(target=shlex.join(command), transport="stdio", **asked)


def probe_url(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    legacy_revision: str = LEGACY[0],
    call: bool = True,
) -> Evidence:
    """Observe a server behind a URL, over Streamable HTTP.

    Args:
        url: The endpoint.
        headers: Sent with every request, such as ``Authorization``; their values are not recorded.
        limits: Bounds on time and size.
        legacy_revision: The revision that ``initialize`` asks for.
        call: Whether to call a tool that says it only reads and needs no arguments.
    """
    limits = limits or Limits()

    def converse(step: _AnyStep, pace: _Pace) -> Conversation:
        talk = _HttpTalk(HttpServer(url, headers=headers, limits=limits), pace)
        step(talk)
        return talk.end()

    asked = _hold(openings(legacy_revision, call=call), OVER_HTTP, WITHOUT_ANSWER, converse, _Pace(limits))
    return Evidence(target=shown_url(url), transport="http", **asked)


_AnyStep: TypeAlias = Callable[[Any], Any]


def _hold(
    opening: Iterable[_AnyStep],
    others: Iterable[_AnyStep],
    last: Iterable[_AnyStep],
    converse: Callable[[_AnyStep, _Pace], Conversation],
    pace: _Pace,
) -> dict[str, Any]:
    """Hold the openings, then the others, or the last ones where nobody answered; members for an `Evidence`."""
    held: list[Conversation] = []
    asked: dict[str, Any] = {}
    try:
        for step in opening:
            held.append(converse(step, pace))  # noqa: PERF401 - what was held before an error is kept
        if not _was_answered(held):
            asked["unasked"] = "neither opening was answered"
            others = last
        for step in others:
            if pace.is_over():
                asked["unasked"] = f"the probe's time of {pace.limits.total_s:g} s was over"
                break
            held.append(converse(step, pace))
    except (StartError, ConnectError) as error:
        asked["unreachable" if not held else "unasked"] = str(error)
    return {**asked, "conversations": tuple(held)}


def _was_answered(held: Sequence[Conversation]) -> bool:
    return any(answer.received is not None for conversation in held for answer in conversation.answers)


class _Pace:
    """How long to wait: a server that answers in one second is not silent for fifteen."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.exit_s = limits.exit_s
        self._answer_s = limits.answer_s
        self._deadline = time.monotonic() + limits.total_s

    def answer_s(self) -> float:
        """Seconds to wait for the next answer."""
        return max(0.1, min(self._answer_s, self._deadline - time.monotonic()))

    def is_over(self) -> bool:
        """Whether the probe's time is over."""
        return time.monotonic() > self._deadline

    def note_answer(self, seconds: float) -> None:
        """Take note of how long an answer took."""
        self._answer_s = min(self.limits.answer_s, max(_LEAST_PATIENCE_S, 4 * seconds))

    def note_no_exit(self) -> None:
        """Take note that the server does not end by itself: once is evidence enough."""
        self.exit_s = min(0.2, self.limits.exit_s)


class _StdioTalk:
    """A conversation with one process."""

    def __init__(self, server: StdioServer, pace: _Pace) -> None:
        self._server = server
        self._pace = pace
        self._answers: list[Answer] = []
        self._burst: Burst | None = None
        self._broken = False

    def ask(self, question: Question, message: Message) -> Answer:
        received = fault = None
        started, first = time.monotonic(), len(self._server.transcript)
        try:
            if self._broken:
                fault = "not asked: the conversation had broken off"
            else:
                received = self._server.ask(message, self._pace.answer_s())
                self._pace.note_answer(time.monotonic() - started)
        except WireError as error:
            fault = self._told(error)
            self._break_off()
        span = (first, len(self._server.transcript) if received is not None else None)
        answer = Answer(question=question, sent=message, received=received, fault=fault, span=span)
        self._answers.append(answer)
        return answer

    def burst(self, count: int) -> None:
        messages = [modern_request("server/discover", id=number) for number in range(1, count + 1)]
        answered = 0
        fault = None
        try:
            self._server.send_raw(b"".join(encode(message) + b"\n" for message in messages))
            self._server.close_stdin()
            for message in messages:
                answered += "result" in self._server.reply(message["id"], self._pace.answer_s())
        except WireError as error:
            fault = str(error)
        self._burst = Burst(asked=count, answered=answered)
        self._answers.append(Answer(question=Question.BURST, sent=messages[0], fault=fault))

    def end(self) -> Conversation:
        """End the input, see how the process ends, and return what was said."""
        return Conversation(
            answers=tuple(self._answers),
            exit=None if self._broken else self._see_exit(),
            strays=tuple(self._server.unclaimed),
            noise=tuple(shortened(line.decode("utf-8", "backslashreplace")) for line in self._server.noise),
            burst=self._burst,
            entries=self._server.transcript.entries,
        )

    def _told(self, error: WireError) -> str:
        """What went wrong, with what came instead of the answer or, from a process that ended, its last words."""
        if self._server.unclaimed:
            return f"{error}; it sent {shortened(encode(self._server.unclaimed[-1]).decode())}"
        if isinstance(error, SilenceError) and self._server.noise:
            return f"{error}; it wrote {shortened(self._server.noise[0].decode('utf-8', 'backslashreplace'))!r}"
        words = _last_words(self._server.stderr)
        ended = isinstance(error, (EndedError, InputClosedError))
        return f"{error}; its last words: {words}" if ended and words else str(error)

    def _see_exit(self) -> Exit:
        self._server.close_stdin()
        try:
            return Exit(code=self._server.wait(self._pace.exit_s), within_s=self._pace.exit_s)
        except AnswerError:
            unmoved = Exit(code=None, within_s=self._pace.exit_s)
            self._pace.note_no_exit()
            self._server.give_up()
            return unmoved

    def _break_off(self) -> None:
        self._broken = True
        self._server.give_up()


def _last_words(stderr: str) -> str:
    """The last line that speaks of an error, or the last of all: stack traces come before it, or after."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    return shortened((telling or lines or [""])[-1])


class _HttpTalk:
    """A conversation over HTTP."""

    def __init__(self, server: HttpServer, pace: _Pace) -> None:
        self._server = server
        self._pace = pace
        self._answers: list[Answer] = []
        self._strays: list[Message] = []

    def ask(self, question: Question, message: Message, headers: Mapping[str, str | None] | None = None) -> Answer:
        """Post a message.

        Raises:
            ConnectError: Nobody is there.
        """
        started, first = time.monotonic(), len(self._server.transcript)
        came = self._server.ask(message, headers=headers, timeout_s=self._pace.answer_s())
        if isinstance(came.fault, ConnectError):
            raise came.fault
        if came.status is not None and came.fault is None:
            self._pace.note_answer(time.monotonic() - started)
        received = _response(message, came)
        self._strays += [stray for stray in came.messages if stray is not received]
        return self._keep(question, message, came, received, first)

    def get(self) -> None:
        patience_s = min(_STREAM_PATIENCE_S, self._pace.answer_s())
        accept = {"Accept": "text/event-stream"}
        first = len(self._server.transcript)
        came = self._server.exchange("GET", headers=accept, max_events=1, timeout_s=patience_s)
        self._keep(Question.GET, {}, came, None, first)  # whatever comes is no answer to a message

    def end(self) -> Conversation:
        """What was said."""
        return Conversation(
            answers=tuple(self._answers), strays=tuple(self._strays), entries=self._server.transcript.entries
        )

    def _keep(
        self, question: Question, message: Message, came: HttpAnswer, received: Message | None, first: int
    ) -> Answer:
        answer = Answer(
            question=question,
            sent=message,
            received=received,
            fault=str(came.fault) if came.fault else None,
            status=came.status,
            headers=came.headers,
            body="" if received else shortened(came.body[:1000].decode("utf-8", "backslashreplace")),
            stream=tuple(event.name for event in came.events) if came.is_event_stream else None,
            span=(first, len(self._server.transcript)),
        )
        self._answers.append(answer)
        return answer


def _response(message: Message, came: HttpAnswer) -> Message | None:
    """The response to `message`; an error with another id, or none, belongs to the only request there is."""
    exact = (candidate for candidate in came.messages if "id" in message and answers(candidate, message["id"]))
    errors = (candidate for candidate in came.messages if "error" in candidate and "method" not in candidate)
    return next(exact, None) or next(errors, None)
