"""The guide says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

from discern_server.upstream import errors, limits, results
from discern_server.upstream.binding import BodyBinding, OperationBinding, ParameterBinding, Server
from discern_server.upstream.rendering import as_text
from discern_server.upstream.request import USER_AGENT, Presented, build_request, with_credentials

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "upstream.md"


def words_of(error):
    """The `error` of a class and of all below it that are raised."""
    below = [word for child in error.__subclasses__() for word in words_of(child)]
    return below or [error.error]


def test_the_request_that_the_guide_shows_is_what_is_printed():
    binding = OperationBinding(
        method="POST",
        path="/invoices",
        server=Server(url="https://api.example.com/v1"),
        parameters=(ParameterBinding(argument="expand", name="expand", location="query"),),
        body=BodyBinding(argument="body", media_type="application/json", kind="json"),
    )
    request = build_request(binding, {"expand": ["lines"], "body": {"customer": 42}})
    shown = as_text(with_credentials(request, Presented(query=(("key", "s"),), secrets=("s",))))
    block = re.search(r"\n\n((?:    .*\n|\n)+)", GUIDE.read_text(encoding="utf-8"))
    assert block
    assert dedent(block[1]).strip() == shown.replace(USER_AGENT, "discern-server/0.1.0")


def test_the_guide_lists_every_word_for_what_went_wrong():
    text = GUIDE.read_text(encoding="utf-8")
    source = Path(results.__file__).read_text(encoding="utf-8")
    words = set(words_of(errors.UpstreamError)) | set(re.findall(r'exchanged, "(\w+)"', source))
    words |= set(re.findall(r'^\s+exchanged,\n\s+"(\w+)"', source, re.MULTILINE))
    assert {"http_status", "answer_breaks_schema", "timed_out"} <= words
    assert {word for word in words if f"| `{word}` |" not in text} == set()


def test_the_guide_names_the_limits_in_force():
    text = GUIDE.read_text(encoding="utf-8")
    assert f"| `max_response_bytes` | {limits.Limits().max_response_bytes} |" in text
    assert f"| `timeout_s` | {limits.Limits().timeout_s:g} |" in text
    assert f"| `max_attempts` | {limits.RetryPolicy().max_attempts} |" in text
    assert f"{limits.Limits().connect_timeout_s:g} s to connect, {limits.Limits().max_redirects} redirects" in text
    assert results.META in text
