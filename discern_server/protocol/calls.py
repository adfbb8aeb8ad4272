"""One ``tools/call``: find the tool, validate the arguments, run the handler, render what it returns.

Three audiences are told apart. A request that is wrong as a request (an unknown tool) is a protocol error. What
the model can mend (arguments that break the definition) and what the tool could not do are results with
``isError``. What is our own bug, or the handler's, goes to the log with its traceback, and the caller learns
only that it happened.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams
from pydantic import BaseModel

from discern_server.handler import RequestScope
from discern_server.protocol import replies
from discern_server.protocol.context import Context
from discern_server.protocol.rounds import NeedsInput
from discern_server.protocol.running import Failed
from discern_server.protocol.surface import Surface, Tool

_SHOWN_NAME: Final = 128


async def call_tool(
    surface: Surface, scope: RequestScope, sdk: ServerRequestContext[Any, Any], params: CallToolRequestParams
) -> replies.WireResult | BaseModel:
    """Serve one call on `surface`.

    Raises:
        MCPError: -32602 for a tool that the surface does not show; whatever protocol error a handler raises.
    """
    tool = surface.tools.get(params.name)
    if tool is None:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"Unknown tool: {params.name[:_SHOWN_NAME]!r}; tools/list shows the tools there are",
        )
    context = Context(sdk, scope, logging=surface.logging)
    result = await _call(tool, dict(params.arguments or {}), context)
    return replies.legacy(result) if scope.era == "legacy" and isinstance(result, dict) else result


async def _call(tool: Tool, arguments: dict[str, Any], context: Context) -> replies.WireResult | BaseModel:
    findings = tool.arguments.diagnose(arguments)
    if findings:
        return replies.invalid_arguments(tool.name, findings)
    try:
        value = await tool.runner.run(arguments, context)
    except NeedsInput:
        return context.rounds.interim()
    except Failed:
        return replies.handler_failed(tool.name)
    return replies.reply(tool.name, value, tool.output)
