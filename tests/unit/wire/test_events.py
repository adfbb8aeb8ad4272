"""Server-Sent Events: complete ones are told from what is still to come."""

from __future__ import annotations

import pytest

from discern_server.wire.events import Event, split_events


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_events_end_with_an_empty_line_in_any_spelling(newline: str):
    text = newline.join(["event: message", "data: {", 'data:"a":1}', "", "id: 7", "data: x", "", "data: unfinished"])
    events, rest = split_events(text.encode())
    assert events == [Event("message", b'{\n"a":1}'), Event("message", b"x")]
    assert rest == b"data: unfinished"


def test_comments_and_events_without_data_are_left_out():
    assert split_events(b": ping\n\nevent: x\n\ndata\n\n") == ([Event("message", b"")], b"")


def test_the_name_of_an_event_is_kept():
    assert split_events(b"event: endpoint\ndata: /messages\n\n") == ([Event("endpoint", b"/messages")], b"")


@pytest.mark.parametrize("size", range(1, 12))
def test_the_same_events_come_whatever_the_chunks(size: int):
    text = b"data: 1\r\n\r\n: c\r\n\r\nevent: b\r\ndata: 2\r\ndata: 3\r\n\r\n"
    events, rest = [], b""
    for start in range(0, len(text), size):
        fresh, rest = split_events(rest + text[start : start + size])
        events += fresh
    assert events == [Event("message", b"1"), Event("b", b"2\n3")]
    assert rest.strip() == b""
