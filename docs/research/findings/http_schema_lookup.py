"""Without `get_tool_input_schema` every HTTP call with arguments lists the tools first; with it, none does."""

from __future__ import annotations

import logging
from typing import Any

import anyio
from common.http import modern_headers, post
from common.messages import call, outcome
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, ListToolsResult, PaginatedRequestParams, Tool

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
PAGES = 3


async def main() -> None:
    logging.disable()
    listed = 0

    async def list_tools(_ctx: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        nonlocal listed
        listed += 1
        page = int(params.cursor) if params and params.cursor else 1
        tool = Tool(name="where" if page == PAGES else f"other{page}", input_schema=SCHEMA)
        return ListToolsResult(tools=[tool], next_cursor=None if page == PAGES else str(page + 1))

    async def call_tool(_ctx: Any, _params: CallToolRequestParams) -> Any:
        return {"resultType": "complete", "content": []}

    def raises(_name: str) -> Any:
        raise RuntimeError

    lookups: dict[str, Any] = {"none": None, "a lookup": {"where": SCHEMA}.get, "a lookup that raises": raises}
    for name, lookup in lookups.items():
        server = Server[Any](
            "research", version="1", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=lookup
        )
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            for region in ("eu", "us", None):
                listed = 0
                message = call(1, "where", region="eu")
                headers = modern_headers(message) | ({"mcp-param-region": region} if region else {})
                answer = await post(manager.handle_request, message, headers)
                said = f"{answer.status} {outcome(answer.json)}"
                print(f"{name}, argument eu, header {region}: {listed} times tools/list, {said}")


if __name__ == "__main__":
    anyio.run(main)
