"""From an answer, or from what went wrong, to the tool's output: pure functions.

- A success in JSON is structured content with its text beside it; other text is text; an image or audio is a block of
  that kind; any other binary content is an embedded resource; an empty body is a line that says so.
- An error status, an answer that is too large, one that breaks the tool's schema, and every `UpstreamError` is an
  error: a first text block tells the facts, a second one carries what the API sent, bounded. The facts are in
  ``_meta`` too, as the same envelope that all of this server's failures have. An error has no structured
  content, for that would have to keep the tool's ``outputSchema``.

Credentials are masked in all of it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from discern_server.handler import ABSENT, ToolOutput
from discern_server.result import Diagnostic, DiscernResult, render_text, serialize
from discern_server.schema.validate import Validator
from discern_server.upstream.answer import Answer
from discern_server.upstream.decoding import json_of, text_of
from discern_server.upstream.errors import UpstreamError
from discern_server.upstream.files import OCTET_STREAM
from discern_server.upstream.media import essence, is_json
from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import UpstreamRequest
from discern_server.upstream.styles import as_text

META: Final = "discern-server/upstream"
"""The key of ``_meta`` that holds the facts of the HTTP exchange."""

EXCERPT_BYTES: Final = 8_192
"""How much is handed on of an error's content, and of content that was cut."""

_SHOWN: Final = 1_000
_PROBLEM: Final = ("type", "title", "status", "detail", "instance")
_TOLD_HEADERS: Final = ("location", "link", "etag", "last-modified", "content-range")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """One request with its answer, and what is needed to tell of them.

    Attributes:
        tool: The tool's name.
        request: What was sent.
        answer: What came.
        redactor: Masks the credentials that were sent.
        output: Judges structured content, or None where the tool promises none.
    """

    tool: str
    request: UpstreamRequest
    answer: Answer
    redactor: Redactor
    output: Validator | None


def render(exchanged: Exchanged) -> ToolOutput:
    """The output for an answer."""
    answer = exchanged.answer
    if not answer.is_success:
        return _error_status(exchanged)
    if answer.cut:
        return _too_large(exchanged)
    if not answer.body:
        return _empty(exchanged)
    text = text_of(answer)
    if text is None:
        return _binary(exchanged)
    value = json_of(answer) if is_json(answer.content_type) or exchanged.output is not None else ABSENT
    if exchanged.output is not None:
        return _promised(exchanged, exchanged.output, text, value)
    return _structured(exchanged, value) if value is not ABSENT else _success(exchanged, _text_block(exchanged, text))


def render_error(tool: str, error: UpstreamError) -> ToolOutput:
    """The output for a call that got no answer to hand on."""
    result = DiscernResult(
        ok=False,
        verb=tool,
        error=error.error,
        message=str(error),
        data=error.facts or None,
        diagnostics=error.diagnostics,
        hints=error.hints,
    )
    return _failed(result, Redactor())


# --- successes ----------------------------------------------------------------------------------------


def _promised(exchanged: Exchanged, output: Validator, text: str, value: Any) -> ToolOutput:
    """A success of a tool with an ``outputSchema``: the JSON value, or text that is one under another media type.

    Servers send JSON as ``text/html``, and a schema of type string describes text: what keeps the schema is taken.
    """
    if value is ABSENT and is_json(exchanged.answer.content_type):
        return _broken(exchanged, (_no_json(),))
    candidates = [value] if value is not ABSENT else []
    if not is_json(exchanged.answer.content_type):
        candidates.append(text)
    fitting = next((candidate for candidate in candidates if output.is_valid(candidate)), ABSENT)
    if fitting is ABSENT:
        return _broken(exchanged, output.diagnose(candidates[0]))
    return _structured(exchanged, fitting)


def _structured(exchanged: Exchanged, value: Any) -> ToolOutput:
    value = exchanged.redactor.value(value)
    return _success(exchanged, {"type": "text", "text": as_text(value)}, structured=value)


def _empty(exchanged: Exchanged) -> ToolOutput:
    """A success without content (RFC 9110, section 15.3.5): null where the tool promises a value and null is one."""
    output = exchanged.output
    if output is not None and not output.is_valid(None):
        finding = Diagnostic(rule="empty", message="the answer has no content", path="")
        return _broken(exchanged, (finding,))
    told = exchanged.answer.headers if exchanged.request.method == "HEAD" else _told_headers(exchanged.answer)
    lines = [exchanged.answer.title, *(f"{name}: {text}" for name, text in told if name != "set-cookie")]
    block = _text_block(exchanged, "\n".join(lines)[:EXCERPT_BYTES])
    return _success(exchanged, block, structured=ABSENT if output is None else None)


def _binary(exchanged: Exchanged) -> ToolOutput:
    if exchanged.output is not None:
        return _broken(exchanged, (_no_json(),))
    answer = exchanged.answer
    media_type = essence(answer.content_type) or OCTET_STREAM
    data = base64.b64encode(answer.body).decode("ascii")
    kind = media_type.partition("/")[0]
    if kind in ("image", "audio"):
        return _success(exchanged, {"type": kind, "data": data, "mimeType": media_type})
    resource = {"uri": exchanged.request.public_url, "mimeType": media_type, "blob": data}
    return _success(exchanged, {"type": "resource", "resource": resource})


def _success(exchanged: Exchanged, block: Mapping[str, Any], structured: Any = ABSENT) -> ToolOutput:
    answer = exchanged.answer
    facts = {"status": answer.status, "request_id": answer.request_id, **dict(_told_headers(answer))}
    meta = {META: exchanged.redactor.value(_known(facts))}
    return ToolOutput(content=(block,), structured=structured, meta=meta)


def _told_headers(answer: Answer) -> list[tuple[str, str]]:
    return [(name, text) for name in _TOLD_HEADERS if (text := answer.header(name)) is not None]


# --- errors -------------------------------------------------------------------------------------------


def _error_status(exchanged: Exchanged) -> ToolOutput:
    answer = exchanged.answer
    problem = _problem(answer)
    said = ": ".join(str(problem[name]) for name in ("title", "detail") if name in problem)
    message = f"the API answered {answer.title}" + (f" ({said})" if said else "")
    facts = {"problem": problem or None, "retry_after_s": answer.retry_after_s(), "location": answer.header("location")}
    return _failed_exchange(exchanged, "http_status", message, facts, hints=_hints(answer))


def _too_large(exchanged: Exchanged) -> ToolOutput:
    limit = len(exchanged.answer.body)
    message = f"the API's answer is larger than {limit} bytes, the most that is read; what follows is its beginning"
    hints = (
        "ask for less: a smaller page, fewer fields, a narrower filter",
        "or raise max_response_bytes for this source in discern.toml",
    )
    return _failed_exchange(exchanged, "answer_too_large", message, {"limit_bytes": limit}, hints=hints)


def _broken(exchanged: Exchanged, findings: Sequence[Diagnostic]) -> ToolOutput:
    message = f"the API answered {exchanged.answer.title}, and the answer is not what its description declares"
    return _failed_exchange(
        exchanged,
        "answer_breaks_schema",
        message,
        {},
        diagnostics=tuple(findings),
        most_bytes=len(exchanged.answer.body),
    )


def _no_json() -> Diagnostic:
    return Diagnostic(rule="json", message="the content is no JSON that can be handed on", path="")


def _failed_exchange(
    exchanged: Exchanged,
    error: str,
    message: str,
    facts: Mapping[str, Any],
    *,
    diagnostics: tuple[Diagnostic, ...] = (),
    hints: tuple[str, ...] = (),
    most_bytes: int = EXCERPT_BYTES,
) -> ToolOutput:
    """An error about an answer: the facts, then the content up to `most_bytes`."""
    request, answer = exchanged.request, exchanged.answer
    shown = Answer(
        status=answer.status,
        headers=answer.headers,
        body=answer.body[:most_bytes],
        cut=answer.cut or len(answer.body) > most_bytes,
    )
    text = text_of(shown) if shown.body else None
    common = {
        "method": request.method,
        "url": request.public_url[:_SHOWN],
        "status": answer.status,
        "content_type": answer.content_type or None,
        "request_id": answer.request_id,
        "content_bytes_shown": len(shown.body) if shown.cut and text is not None else None,
    }
    result = DiscernResult(
        ok=False,
        verb=exchanged.tool,
        error=error,
        message=message,
        data=_known({**common, **facts}),
        diagnostics=diagnostics,
        hints=hints,
    )
    return _failed(result, exchanged.redactor, *([text] if text is not None else []))


def _failed(result: DiscernResult, redactor: Redactor, *bodies: str) -> ToolOutput:
    texts = [redactor.text(text) for text in (render_text(result), *bodies)]
    return ToolOutput(
        content=tuple({"type": "text", "text": text} for text in texts),
        is_error=True,
        meta={META: redactor.value(serialize(result))},
    )


def _problem(answer: Answer) -> dict[str, Any]:
    """The members of problem details that RFC 9457, section 3.1, defines, bounded."""
    if essence(answer.content_type) != "application/problem+json":
        return {}
    value = json_of(answer)
    if not isinstance(value, dict):
        return {}
    return {
        name: said[:_SHOWN] if isinstance(said := value[name], str) else said
        for name in _PROBLEM
        if isinstance(value.get(name), str | int)
    }


def _hints(answer: Answer) -> tuple[str, ...]:
    wait_s = answer.retry_after_s()
    if wait_s is not None:
        return (f"the API asks to wait {wait_s:g} s before the next try",)
    if answer.status in (401, 403):
        return ("the API does not accept the configured credential for this operation",)
    return ()


def _text_block(exchanged: Exchanged, text: str) -> dict[str, str]:
    return {"type": "text", "text": exchanged.redactor.text(text)}


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}
