"""The pages of a list and the cursors between them."""

from __future__ import annotations

import pytest

from discern_server.protocol.pages import CacheHint, Pages


def pages(count: int, size: int, **options: object) -> Pages:
    tools = [{"name": f"t{number:03}", "inputSchema": {"type": "object"}} for number in range(count)]
    options = {"cache": CacheHint(), "identify": lambda tool: tool["name"], **options}
    return Pages("tools/list", "tools", tools, size=size, **options)


def walk(pages: Pages) -> list[list[str]]:
    found: list[list[str]] = []
    cursor = None
    while True:
        page = pages.page(cursor)
        assert page is not None
        found.append([tool["name"] for tool in page["tools"]])
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


@pytest.mark.parametrize(
    ("count", "size", "lengths"),
    [(0, 10, [0]), (1, 10, [1]), (10, 10, [10]), (11, 10, [10, 1]), (25, 10, [10, 10, 5]), (3, 1, [1, 1, 1])],
)
def test_the_pages_hold_every_item_once_in_order(count, size, lengths):
    found = walk(pages(count, size))
    assert [len(page) for page in found] == lengths
    names = [name for page in found for name in page]
    assert names == sorted(names)
    assert len(names) == count


@pytest.mark.requirement(62)
def test_a_cursor_is_good_for_another_process_with_the_same_list():
    """Replicas serve the same list, and so does a fresh process: a cursor must not be one of them's alone."""
    cursor = pages(30, 10).page(None)["nextCursor"]
    assert pages(30, 10).page(cursor)["tools"][0]["name"] == "t010"


@pytest.mark.requirement(62, 63)
def test_an_unknown_cursor_has_no_page_and_the_empty_one_is_unknown():
    assert pages(30, 10).page("made-up") is None
    assert pages(30, 10).page("") is None


@pytest.mark.requirement(60, 61)
def test_the_cache_hint_is_on_every_page():
    found = pages(30, 10, cache=CacheHint(ttl_ms=5000, scope="public"))
    first = found.page(None)
    for page in (first, found.page(first["nextCursor"])):
        assert (page["ttlMs"], page["cacheScope"]) == (5000, "public")


def test_what_the_wire_does_not_allow_is_refused_when_it_is_rendered():
    with pytest.raises(ValueError, match="inputSchema"):
        Pages("tools/list", "tools", [{"name": "t"}], identify=str, cache=CacheHint(), size=10)


@pytest.mark.parametrize("hint", [{"ttl_ms": -1}, {"scope": "everyone"}])
def test_a_wrong_cache_hint_is_refused_where_it_is_made(hint):
    with pytest.raises(ValueError, match=next(iter(hint))):
        CacheHint(**hint)
