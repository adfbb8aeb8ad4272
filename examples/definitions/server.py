"""A library of books: definitions in schemas/, a function for each, over stdio.

Start it with ``python server.py``, or let an agent do so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discern_server import Catalog, DiscernResult, RequestContext, ServerFactory, Surface, serve_stdio


@dataclass
class Book:
    """A book on the shelf, or with a reader."""

    title: str
    lent_to: str | None = None


@asynccontextmanager
async def open_shelf() -> AsyncIterator[dict[int, Book]]:
    """Give what all requests share; here would be a database."""
    yield {1: Book("The Left Hand of Darkness"), 2: Book("The Dispossessed"), 3: Book("A Wizard of Earthsea")}


def find_books(args: dict[str, Any], ctx: RequestContext) -> dict[str, Any]:
    """Answer with the books whose title has all the words."""
    words = [word.casefold() for word in args["words"]]
    shelf: dict[int, Book] = ctx.state
    found = [
        {"id": number, "title": book.title, "lent_to": book.lent_to}
        for number, book in shelf.items()
        if all(word in book.title.casefold() for word in words)
    ]
    return {"books": found}


def lend_book(args: dict[str, Any], ctx: RequestContext) -> DiscernResult:
    """Lend a book, or say why it cannot be lent and what to do instead."""
    book: Book | None = ctx.state.get(args["id"])
    if book is None:
        return refusal("unknown_book", f"there is no book {args['id']}", "find_books gives the ids")
    if book.lent_to is not None:
        return refusal("lent", f"{book.title} is lent to {book.lent_to}", "lend another one")
    book.lent_to = args["to"]
    return DiscernResult(ok=True, verb="lend_book", message=f"{book.title} is lent to {book.lent_to}")


def refusal(error: str, message: str, hint: str) -> DiscernResult:
    """Say why not, in a form that a model can act on."""
    return DiscernResult(ok=False, verb="lend_book", error=error, message=message, hints=(hint,))


catalog = Catalog.load(Path(__file__).with_name("schemas"))
surface = Surface("library", "1.0.0", catalog, {"find_books": find_books, "lend_book": lend_book})

if __name__ == "__main__":
    serve_stdio(ServerFactory(surface, lifespan=open_shelf))
