"""The transcript: bounded, readable, whatever was said."""

from __future__ import annotations

from discern_server.wire.transcript import Direction, Transcript


def test_each_line_shows_who_spoke():
    transcript = Transcript()
    transcript.add(Direction.SENT, b'{"id":1}')
    transcript.add(Direction.EVENT, "exit code 0")
    assert [(entry.direction, entry.text) for entry in transcript.entries] == [(">", '{"id":1}'), ("*", "exit code 0")]
    assert str(transcript).splitlines()[0].endswith('> {"id":1}')


def test_bytes_that_are_no_text_are_shown_escaped():
    transcript = Transcript()
    transcript.add(Direction.RECEIVED, b"\xff\xfe")
    assert transcript.entries[0].text == "\\xff\\xfe"


def test_long_text_is_cut_and_says_so():
    transcript = Transcript()
    transcript.add(Direction.RECEIVED, b"x" * 1_000_000)
    text = transcript.entries[0].text
    assert len(text) < 5000
    assert text.endswith("... (1000000 in all)")


def test_a_flood_is_counted_not_kept():
    transcript = Transcript()
    for _ in range(1500):
        transcript.add(Direction.RECEIVED, b"x")
    assert len(transcript.entries) == 1000
    assert transcript.dropped == 500
    assert str(transcript).endswith("... and 500 more")
