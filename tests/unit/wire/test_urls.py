"""URLs as they are shown."""

from __future__ import annotations

import pytest

from discern_server.wire.urls import shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/mcp"),
        ("https://user:secret@host/mcp", "https://***@host/mcp"),
        ("https://secret@host:1/mcp?x", "https://***@host:1/mcp?x"),
        ("https://user:se@cret@[::1]:1/", "https://***@[::1]:1/"),
        ("https://user:secret@", "https://***@"),
        ("http://host/a@b?key=secret&flag&other=secret=more#top", "http://host/a@b?key=***&flag&other=***#top"),
        ("http://host/?a=b?c=secret", "http://host/?a=***"),
        ("http://[::1/mcp", "http://[::1/mcp"),
        ("/elsewhere?code=secret", "/elsewhere?code=***"),
        ("", ""),
    ],
)
def test_whatever_may_be_a_secret_is_masked(url: str, shown: str):
    assert shown_url(url) == shown
