"""One ``prompts/get``: find the prompt, check its arguments, run the handler, render its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptRequestParams, GetPromptResult
from pydantic import BaseModel

from discern_server.handler import RequestScope
from discern_server.prompts import PromptDefinition
from discern_server.protocol.context import Context
from discern_server.protocol.replies import compact
from discern_server.protocol.rounds import NeedsInput
from discern_server.protocol.running import faults_are_ours
from discern_server.protocol.surface import Surface


async def get_prompt(
    surface: Surface, scope: RequestScope, sdk: ServerRequestContext[Any, Any], params: GetPromptRequestParams
) -> dict[str, Any] | BaseModel:
    """Serve one prompt of `surface`.

    Raises:
        MCPError: -32602 for an unknown prompt, and for arguments that are missing or that it does not have
            (server/prompts, "error handling"); -32603 where the handler fails.
    """
    prompt = surface.prompt_table.get(params.name)
    if prompt is None:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {params.name!r}; prompts/list shows them")
    arguments = dict(params.arguments or {})
    _check_arguments(prompt.definition, arguments)
    context = Context(sdk, scope, logging=surface.logging)
    with faults_are_ours(f"The prompt {params.name!r}"):
        try:
            value = await prompt.runner.run(arguments, context)
        except NeedsInput:
            return context.rounds.interim()
        return _render(prompt.definition, value)


def _check_arguments(definition: PromptDefinition, arguments: Mapping[str, Any]) -> None:
    known = {*definition.required, *definition.optional}
    faults = [f"missing {name!r}" for name in definition.required if name not in arguments]
    faults += [f"unknown {name!r}" for name in arguments if name not in known]
    if faults:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The arguments of the prompt {definition.name!r} are wrong: {', '.join(faults)}",
            data={"required": list(definition.required), "optional": list(definition.optional)},
        )


def _render(definition: PromptDefinition, value: Any) -> dict[str, Any] | BaseModel:
    if isinstance(value, BaseModel):
        return value
    values = value if isinstance(value, list | tuple) else [value]
    result: dict[str, Any] = {"resultType": "complete", "messages": [_message(item) for item in values]}
    description = definition.wire.get("description")
    if description is not None:
        result["description"] = description
    # The SDK takes a result of no known shape for an empty one, and what cannot be written would end the connection.
    GetPromptResult.model_validate(result, by_name=False)
    compact(result)
    return result


def _message(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        content = value.get("content")
        return {**value, "content": _text(content) if isinstance(content, str) else content}
    return {"role": "user", "content": _text(str(value))}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
