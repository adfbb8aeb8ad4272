"""One ``completion/complete``: values for an argument of a prompt or a variable of a template."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CompleteRequestParams, PromptReference

from discern_server.handler import RequestScope
from discern_server.protocol.context import Context
from discern_server.protocol.replies import encodable
from discern_server.protocol.running import Runner, faults_are_ours
from discern_server.protocol.surface import Surface

_MOST_VALUES: Final = 100
"""How many values one answer may hold (server/utilities/completion)."""


async def complete(
    surface: Surface, scope: RequestScope, sdk: ServerRequestContext[Any, Any], params: CompleteRequestParams
) -> dict[str, Any]:
    """Serve one completion. An argument that nothing completes has no values: that is no fault of the client.

    Raises:
        MCPError: -32602 for a prompt or template that is not there; -32603 where the handler fails.
    """
    runner = _completer(surface, params)
    values: list[str] = []
    if runner is not None:
        known = dict(params.context.arguments or {}) if params.context is not None else {}
        context = Context(sdk, scope, logging=surface.logging)
        with faults_are_ours("Completion"):
            found = await runner.run({"value": params.argument.value, "arguments": known}, context)
            values = [encodable(value) for value in found]
    completion: dict[str, Any] = {"values": values[:_MOST_VALUES], "total": len(values)}
    if len(values) > _MOST_VALUES:
        completion["hasMore"] = True
    return {"resultType": "complete", "completion": completion}


def _completer(surface: Surface, params: CompleteRequestParams) -> Runner | None:
    reference = params.ref
    if isinstance(reference, PromptReference):
        prompt = surface.prompt_table.get(reference.name)
        if prompt is None:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {reference.name!r}")
        return prompt.completers.get(params.argument.name)
    template = surface.template_table.get(reference.uri)
    if template is None:
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource template: {reference.uri!r}")
    return template.completers.get(params.argument.name)
