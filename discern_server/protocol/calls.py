"""One ``tools/call``: find the tool, validate the arguments, run the handler, render what it returns.

Three audiences are told apart. A request that is wrong as a request (an unknown tool) is a protocol error. What
the model can mend (arguments that break the definition) and what the tool could not do are results with
``isError``. What is our own bug, or the handler's, goes to the log with its traceback, and the caller learns
only that it happened.
"""

from __future__ import annotations

import inspect
import logging
from typing import Any, Final

import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequestParams,
)
from pydantic import BaseModel

from discern_server.handler import RequestScope
from discern_server.protocol import replies
from discern_server.protocol.context import Context
from discern_server.protocol.surface import Surface, Tool

logger = logging.getLogger(__name__)

_SHOWN_NAME: Final = 128
_RESERVED_CODES: Final = range(-32099, -32019)
_ALLOCATED_CODES: Final = frozenset({HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION})
_RETIRED_CODES: Final = frozenset({-32002, -32042})


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
    result = await _call(tool, dict(params.arguments or {}), Context(sdk, scope))
    return replies.legacy(result) if scope.era == "legacy" and isinstance(result, dict) else result


async def _call(tool: Tool, arguments: dict[str, Any], context: Context) -> replies.WireResult | BaseModel:
    findings = tool.arguments.diagnose(arguments)
    if findings:
        return replies.invalid_arguments(tool.name, findings)
    try:
        value = await _run(tool, arguments, context)
    except MCPError as error:
        raise _permitted(tool.name, error) from error
    except Exception:
        logger.exception("the handler of %s raised", tool.name)
        return replies.handler_failed(tool.name)
    return replies.reply(tool.name, value, tool.output)


async def _run(tool: Tool, arguments: dict[str, Any], context: Context) -> Any:
    if tool.is_async:
        return await tool.handler(arguments, context)
    # A cancelled request stops waiting for its thread, which cannot be stopped from outside.
    value = await anyio.to_thread.run_sync(tool.handler, arguments, context, abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value


def _permitted(tool: str, error: MCPError) -> MCPError:
    """`error`, unless its code is one that no server may send (basic/index, "error codes")."""
    code = error.error.code
    if code in _RETIRED_CODES or (code in _RESERVED_CODES and code not in _ALLOCATED_CODES):
        logger.error("the handler of %s raised a protocol error with the reserved code %d", tool, code)
        return MCPError(code=INTERNAL_ERROR, message="Internal server error")
    return error
