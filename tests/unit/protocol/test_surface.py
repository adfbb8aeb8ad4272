"""The surface: whole or not at all, and the pages that it renders once."""

from __future__ import annotations

import pytest

from discern_server.catalog import Catalog, ToolDefinition
from discern_server.protocol.surface import CacheHint, Surface


async def answer(args, ctx):
    return args


def surface(count: int = 1, **options: object) -> Surface:
    definitions = [
        ToolDefinition.from_wire({"name": f"t{number:03}", "description": "d", "inputSchema": {"type": "object"}})
        for number in range(count)
    ]
    return Surface("s", "1", Catalog.of(definitions), handlers={d.name: answer for d in definitions}, **options)


def walk(surface: Surface) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = surface.page(cursor)
        assert page is not None
        pages.append([tool["name"] for tool in page["tools"]])
        cursor = page.get("nextCursor")
        if cursor is None:
            return pages


def test_a_definition_without_a_handler_and_a_handler_without_a_definition_are_named():
    catalog = Catalog.of([ToolDefinition.from_wire({"name": "a", "inputSchema": {"type": "object"}})])
    with pytest.raises(ValueError, match="no handler for a; no definition for b"):
        Surface("s", "1", catalog, handlers={"b": answer})


def test_a_surface_does_not_change_with_what_it_was_made_from():
    handlers = {"t000": answer}
    catalog = Catalog.of([ToolDefinition.from_wire({"name": "t000", "inputSchema": {"type": "object"}})])
    made = Surface("s", "1", catalog, handlers=handlers)
    handlers.clear()
    assert made.handlers["t000"] is answer
    with pytest.raises(TypeError):
        made.handlers["x"] = answer  # type: ignore[index]


@pytest.mark.parametrize(
    ("count", "size", "lengths"),
    [(0, 10, [0]), (1, 10, [1]), (10, 10, [10]), (11, 10, [10, 1]), (25, 10, [10, 10, 5])],
)
def test_the_pages_hold_every_tool_once_in_order(count, size, lengths):
    pages = walk(surface(count, page_size=size))
    assert [len(page) for page in pages] == lengths
    names = [name for page in pages for name in page]
    assert names == sorted(names)
    assert len(names) == count


def test_a_cursor_is_good_for_another_surface_of_the_same_catalog():
    """Replicas serve the same catalog, and a fresh process does: a cursor must not be theirs alone."""
    cursor = surface(30, page_size=10).pages[0]["nextCursor"]
    assert surface(30, page_size=10).page(cursor)["tools"][0]["name"] == "t010"


def test_an_unknown_cursor_has_no_page():
    assert surface(30, page_size=10).page("made-up") is None
    assert surface(30, page_size=10).page("") is None


def test_the_cache_hint_is_on_every_page():
    page = surface(cache=CacheHint(ttl_ms=5000, scope="public")).page(None)
    assert (page["ttlMs"], page["cacheScope"]) == (5000, "public")


def test_a_page_size_below_one_is_refused():
    with pytest.raises(ValueError, match="page_size"):
        surface(page_size=0)


@pytest.mark.parametrize("hint", [{"ttl_ms": -1}, {"scope": "everyone"}])
def test_a_wrong_cache_hint_is_refused_where_it_is_made(hint):
    with pytest.raises(ValueError, match=next(iter(hint))):
        CacheHint(**hint)


def test_pages_and_validators_are_made_once():
    made = surface(3)
    assert made.pages is made.pages
    tool = made.tools["t000"]
    assert tool.arguments is tool.arguments
