"""A tool that asks before it deletes: ``python server.py``.

The call ends with the question, and is made again with the answer, so the function runs twice: what it does before the
question must bear that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from discern_server import Catalog, RequestContext, ServerFactory, Surface, ToolDefinition, serve_stdio

DELETE = {
    "name": "delete_files",
    "title": "Delete files",
    "description": "Deletes all files whose name ends in a given way. Asks the user first.",
    "inputSchema": {
        "type": "object",
        "properties": {"suffix": {"type": "string", "pattern": "^\\.[a-z]+$"}},
        "required": ["suffix"],
        "additionalProperties": False,
    },
    "annotations": {"destructiveHint": True, "idempotentHint": True, "openWorldHint": False},
}
CONSENT = {
    "type": "object",
    "properties": {"delete": {"type": "boolean", "title": "Delete them"}},
    "required": ["delete"],
}


@asynccontextmanager
async def open_folder() -> AsyncIterator[set[str]]:
    """Give the files; in a real server, a folder that it was told to work in."""
    yield {"notes.txt", "draft.tmp", "old.tmp"}


async def delete_files(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Show what would be deleted, and delete that and nothing else once the user agrees."""
    files: set[str] = ctx.state
    chosen = await ctx.once("chosen", lambda: sorted(name for name in files if name.endswith(args["suffix"])))
    if not chosen:
        return {"deleted": [], "why": "nothing ends like that"}
    answer = await ctx.elicit("consent", f"Delete {', '.join(chosen)}?", CONSENT)
    if not (answer.accepted and answer.content["delete"]):
        return {"deleted": [], "why": "the user said no"}
    files.difference_update(chosen)
    return {"deleted": chosen}


surface = Surface("files", "1.0.0", Catalog.of([ToolDefinition.from_wire(DELETE)]), {"delete_files": delete_files})

if __name__ == "__main__":
    serve_stdio(ServerFactory(surface, lifespan=open_folder))
