"""One ``resources/read``: find the resource or the template that the URI fits, run the handler, render the content."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ReadResourceRequestParams
from pydantic import BaseModel

from discern_server.handler import RequestScope
from discern_server.protocol.context import Context
from discern_server.protocol.replies import encodable
from discern_server.protocol.rounds import NeedsInput
from discern_server.protocol.running import faults_are_ours
from discern_server.protocol.surface import Readable, Surface
from discern_server.resources import Content

_SHOWN_URI: Final = 200


async def read_resource(
    surface: Surface, scope: RequestScope, sdk: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
) -> dict[str, Any] | BaseModel:
    """Serve the resource at a URI.

    Raises:
        MCPError: -32602 with the URI where there is no such resource (server/resources, "error handling"); -32603
            where the handler fails.
    """
    found = surface.find_resource(params.uri)
    if found is None:
        raise _not_found(params.uri)
    readable, variables = found
    context = Context(sdk, scope, logging=surface.logging)
    with faults_are_ours("Reading"):
        try:
            value = await readable.runner.run(dict(variables), context)
        except NeedsInput:
            return context.rounds.interim()
        if value is None:
            raise _not_found(params.uri)
        if isinstance(value, BaseModel):
            return value
        contents = [_content(item, params.uri, readable) for item in _parts(value)]
        return {"resultType": "complete", "contents": contents, **surface.cache_hint("resources/read").wire}


def _not_found(uri: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=f"Resource not found: {uri[:_SHOWN_URI]}", data={"uri": uri})


def _parts(value: Any) -> list[Any]:
    """A list of contents as it is; anything else, a list of JSON values too, is one content."""
    if isinstance(value, list | tuple) and value and all(isinstance(item, str | bytes | Content) for item in value):
        return list(value)
    return [value]


def _content(value: Any, uri: str, readable: Readable) -> dict[str, Any]:
    if not isinstance(value, Content):
        is_json = not isinstance(value, str | bytes)
        data = json.dumps(value, ensure_ascii=False, allow_nan=False) if is_json else value
        value = Content(data=data, mime_type=readable.mime_type or ("application/json" if is_json else None))
    wire: dict[str, Any] = {"uri": value.uri or uri}
    mime_type = value.mime_type or readable.mime_type
    if mime_type is not None:
        wire["mimeType"] = mime_type
    if isinstance(value.data, bytes):
        wire["blob"] = base64.b64encode(value.data).decode("ascii")
    else:
        wire["text"] = encodable(value.data)
    if value.meta is not None:
        wire["_meta"] = dict(value.meta)
    return wire
