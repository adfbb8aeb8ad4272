"""``discern call``: call one of the project's tools, or show the request that a call would send.

A call goes the whole way that a client's does: the project's server is started anew and asked over stdio. A dry run
starts nothing and sends nothing; it shows the HTTP request of a tool of kind ``openapi``, credentials masked. They need
not be set for that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from discern_server.jsontext import JsonTextError, read_json
from discern_server.result import DiscernError, DiscernResult, failure
from discern_server.schema.validate import compile_validator
from discern_server.sources.openapi.source import OpenApi
from discern_server.upstream.errors import NotSent
from discern_server.upstream.rendering import as_data, as_text
from discern_server.verbs.program import this_program
from discern_server.verbs.projects import load_project
from discern_server.verbs.sources import open_sources
from discern_server.wire.errors import WireError
from discern_server.wire.limits import Limits
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer

VERB: Final = "call"


def call(root: Path, tool: str, arguments: bytes, *, dry_run: bool = False, timeout_s: float = 120.0) -> DiscernResult:
    """Call `tool` of the project in the folder `root`.

    Args:
        root: The project's folder.
        tool: The tool's name.
        arguments: The arguments as JSON text.
        dry_run: Show the request instead of sending it.
        timeout_s: How long to wait for the answer, in seconds.
    """
    project = load_project(VERB, root)
    if isinstance(project, DiscernResult):
        return project
    try:
        given = read_json(arguments).value
    except JsonTextError as error:
        return failure(VERB, "invalid_arguments", "the arguments are no JSON", diagnostics=error.diagnostics)
    if not isinstance(given, dict):
        message = "the arguments are no JSON object"
        return failure(VERB, "invalid_arguments", message, hints=('--args \'{"name": "value"}\'',))
    if not dry_run:
        return _call(project.root, tool, given, timeout_s)
    for opened in open_sources(project):
        if isinstance(opened.source, OpenApi):
            try:
                found = _preview(opened.source, tool, given)
            except DiscernError as error:
                return failure(VERB, "invalid_sources", "the source has faults", diagnostics=error.diagnostics)
            if found is not None:
                return found
    message = f"there is no tool {tool} that calls an API"
    return failure(VERB, "no_preview", message, hints=("discern map lists the tools",))


# --- a dry run ----------------------------------------------------------------------------------------


def _preview(source: OpenApi, name: str, arguments: dict[str, Any]) -> DiscernResult | None:
    """The request that the tool would send; None where the source has no such tool."""
    tool = next((tool for tool in source.loaded.toolset.tools if tool.definition.name == name), None)
    if tool is None:
        return None
    findings = compile_validator(tool.definition.input_schema).diagnose(arguments)
    if findings:
        return failure(VERB, "invalid_arguments", "the arguments break the definition", diagnostics=findings)
    try:
        preview = source.upstream.preview(tool.binding, arguments)
    except NotSent as error:
        return failure(VERB, error.error, str(error), diagnostics=error.diagnostics, hints=error.hints)
    data = {"request": as_data(preview.request), "http": as_text(preview.request)}
    message = f"{name} would send this; nothing was sent"
    return DiscernResult(ok=True, verb=VERB, message=message, data=data, dry_run=True, diagnostics=preview.unset)


# --- a call -------------------------------------------------------------------------------------------


def _call(root: Path, tool: str, arguments: dict[str, Any], timeout_s: float) -> DiscernResult:
    message = modern_request("tools/call", {"name": tool, "arguments": arguments})
    server = StdioServer([*this_program(), "serve"], cwd=root, limits=Limits(answer_s=timeout_s))
    try:
        with server:
            answer = server.ask(message)
    except WireError as error:
        said = server.stderr.strip() or str(error)
        return failure(VERB, "no_answer", f"the server gave no answer: {said}", hints=("discern check",))
    if "error" in answer:
        told = answer["error"]
        message_text = f"{told.get('message')} ({told.get('code')})"
        return failure(VERB, "protocol_error", message_text, hints=("discern map lists the tools",))
    return _answered(tool, answer["result"])


def _answered(tool: str, result: Mapping[str, Any]) -> DiscernResult:
    data = {key: result[key] for key in ("content", "structuredContent") if key in result}
    if not result.get("isError"):
        return DiscernResult(ok=True, verb=VERB, message=f"{tool} answered", data=data)
    return replace(failure(VERB, "tool_error", f"{tool} answered with an error"), data=data)


def for_people(result: DiscernResult) -> DiscernResult:
    """The answer without what stands in it twice: a request in two forms, structured content that is also text."""
    if not isinstance(result.data, dict):
        return result
    if "http" in result.data:
        return replace(result, data=result.data["http"])
    if "content" not in result.data:
        return result
    if "structuredContent" in result.data:
        return replace(result, data={"structuredContent": _written(result.data["structuredContent"])})
    shown = [block.get("text") or {"type": block["type"]} for block in result.data["content"]]
    return replace(result, data=shown[0] if len(shown) == 1 else shown)


def _written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
