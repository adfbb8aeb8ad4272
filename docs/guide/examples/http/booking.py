"""A tool that asks in the middle of its work: ``python booking.py``."""

from typing import Any

import anyio

from discern_server import Catalog, RequestContext, ServerFactory, Surface, ToolDefinition, http_app, serve_http

BOOK = ToolDefinition.from_wire(
    {
        "name": "book",
        "description": "Books a flight.",
        "inputSchema": {
            "type": "object",
            "properties": {"flight": {"type": "string"}},
            "required": ["flight"],
        },
    }
)
SEAT = {"type": "object", "properties": {"seat": {"type": "string", "enum": ["aisle", "window"]}}, "required": ["seat"]}
CONSENT = {"type": "object", "properties": {"agreed": {"type": "boolean"}}, "required": ["agreed"]}


async def fetch_price() -> float:
    """Ask the airline; what it says changes from minute to minute."""
    return 99.5


async def book(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Ask for the seat, then for consent to the price."""
    price = await ctx.once("price", fetch_price)
    seat = await ctx.elicit("seat", "Which seat?", SEAT)
    if not seat.accepted:
        return {"booked": False}
    consent = await ctx.elicit("consent", f"Pay {price} for a seat at the {seat.content['seat']}?", CONSENT)
    return {"booked": consent.content.get("agreed", False), "flight": args["flight"], "price": price}


PLAN = ToolDefinition.from_wire(
    {"name": "plan", "description": "Plans a trip.", "inputSchema": {"type": "object", "properties": {}}}
)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def plan(_args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Ask two questions in one round."""
    answers: dict[str, Any] = {}

    async def ask(key: str, message: str) -> None:
        answers[key] = (await ctx.elicit(key, message, TEXT)).content.get("text")

    async with anyio.create_task_group() as questions:
        questions.start_soon(ask, "from", "Where from?")
        questions.start_soon(ask, "to", "Where to?")
    return answers


surface = Surface("flights", "1.0.0", Catalog.of([BOOK, PLAN]), {"book": book, "plan": plan})
app = http_app(ServerFactory(surface))

if __name__ == "__main__":
    serve_http(app, port=8000)
