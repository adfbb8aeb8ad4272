"""From what a handler returns to what goes on the wire: the result of ``tools/call``.

A handler may return any JSON value, a `DiscernResult`, a `ToolOutput`, or an SDK result object as it is. The
rules (server/tools, "structured content"):

- a string is text; it is structured too where the definition has an ``outputSchema``;
- any other JSON value is structured content, with its compact JSON as text beside it;
- None is an empty answer, unless the ``outputSchema`` admits null;
- a `DiscernResult` is its serialized form, an error where it is not ``ok``;
- a `ToolOutput` goes out block by block;
- an SDK result object goes out untouched.

A structured result must keep the ``outputSchema``. One that breaks it, or that JSON cannot carry, is never
sent as good: the caller gets an error, the operator a log entry that says what was wrong.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CallToolResult
from pydantic import BaseModel

from discern_server.handler import ABSENT, ToolOutput
from discern_server.result import Diagnostic, DiscernResult, failure, render_text, serialize
from discern_server.schema.validate import Validator

logger = logging.getLogger(__name__)

WireResult = dict[str, Any]
"""A ``CallToolResult`` as the JSON object that goes on the wire."""

_LOGGED_FINDINGS: Final = 5


def reply(tool: str, value: Any, output: Validator | None) -> WireResult | BaseModel:
    """Render what the handler of `tool` returned; `output` validates structured content where it is declared."""
    try:
        if isinstance(value, BaseModel):
            value.model_dump_json(by_alias=True)  # what cannot be written would end the connection, not the request
            return value
        return _checked(tool, _render(value, declares_output=output is not None), output)
    except (TypeError, ValueError, RecursionError) as error:
        logger.error("%s returned what JSON cannot carry: %s", tool, error)
        return _faulty(tool)


def _render(value: Any, *, declares_output: bool) -> WireResult:
    if isinstance(value, ToolOutput):
        return _blocks(value)
    if isinstance(value, DiscernResult):
        envelope = serialize(value)
        return _result(compact(envelope), envelope, is_error=not value.ok)
    if isinstance(value, str) and not declares_output:
        return _result(encodable(value), ABSENT)
    if value is None and not declares_output:
        return {"resultType": "complete", "content": []}
    text = compact(value)
    return _result(value if isinstance(value, str) else text, value)


def _blocks(output: ToolOutput) -> WireResult:
    result: WireResult = {"resultType": "complete", "content": [dict(block) for block in output.content]}
    if output.structured is not ABSENT:
        result["structuredContent"] = output.structured
    if output.is_error:
        result["isError"] = True
    if output.meta:
        result["_meta"] = dict(output.meta)
    CallToolResult.model_validate(result, by_name=False)  # the SDK would take blocks of no known shape for none
    compact(result)
    return result


def _checked(tool: str, result: WireResult, output: Validator | None) -> WireResult:
    """`result`, unless it is good and breaks its ``outputSchema``."""
    if output is None or result.get("isError"):
        return result
    findings = output.diagnose(result.get("structuredContent"))
    for finding in findings[:_LOGGED_FINDINGS]:
        logger.error("%s broke its outputSchema at %r: %s", tool, finding.path or "", finding.message)
    return _faulty(tool) if findings else result


def compact(value: Any) -> str:
    """`value` as compact JSON; raises ValueError or TypeError for what JSON or UTF-8 cannot carry."""
    return encodable(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def encodable(text: str) -> str:
    """`text`, or a ValueError where it holds a lone surrogate, which UTF-8 cannot carry."""
    text.encode("utf-8")
    return text


def invalid_arguments(tool: str, findings: tuple[Diagnostic, ...]) -> WireResult:
    """The result for arguments that break the definition: an error that a model can act on (SEP-1303)."""
    count = "one problem" if len(findings) == 1 else f"{len(findings)} problems"
    result = failure(tool, "invalid_arguments", f"the arguments have {count}", diagnostics=findings)
    return _result(render_text(result), serialize(result), is_error=True)


def handler_failed(tool: str) -> WireResult:
    """The result for a handler that raised: it says so, and nothing of what was raised."""
    return _error(tool, "tool_failed", "the tool failed; the server's log says why")


def _faulty(tool: str) -> WireResult:
    return _error(tool, "faulty_result", "the tool gave a faulty result, which was withheld; the server's log says why")


def _error(tool: str, word: str, message: str) -> WireResult:
    result = failure(tool, word, message)
    return _result(render_text(result), serialize(result), is_error=True)


def _result(text: str, structured: Any, *, is_error: bool = False) -> WireResult:
    wire: WireResult = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    if structured is not ABSENT:
        wire["structuredContent"] = structured
    if is_error:
        wire["isError"] = True
    return wire


def legacy(result: WireResult) -> WireResult:
    """`result` for a handshake revision, where structured content can only be an object."""
    if isinstance(result.get("structuredContent"), Mapping):
        return result
    return {key: value for key, value in result.items() if key != "structuredContent"}
