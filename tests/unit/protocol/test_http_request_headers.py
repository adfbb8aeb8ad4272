"""Headers as they are tidied before anything looks at them, and what is refused."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from discern_server.protocol.http_headers import MAX_HEADER_BYTES, MAX_HEADERS, tidy


def tidied(*headers: tuple[bytes, bytes]):
    found = tidy({"type": "http", "headers": list(headers)})
    return found if isinstance(found, Response) else found["headers"]


def test_white_space_around_a_value_is_no_part_of_it():
    assert tidied((b"accept", b" \ta/b "), (b"x", b"c  d")) == [(b"accept", b"a/b"), (b"x", b"c  d")]


def test_accept_in_several_lines_is_one_list():
    assert tidied((b"accept", b"a/b"), (b"x", b"1"), (b"accept", b"c/d")) == [(b"x", b"1"), (b"accept", b"a/b, c/d")]


@pytest.mark.parametrize("name", [b"host", b"origin", b"content-type", b"authorization"])
def test_what_may_stand_once_and_stands_twice_is_refused_although_both_are_alike(name):
    refused = tidied((name, b"localhost"), (name, b"localhost"))
    assert (refused.status_code, refused.body) == (400, name + b" header appears more than once")


def test_other_headers_may_be_repeated():
    headers = [(b"x-forwarded-for", b"1"), (b"x-forwarded-for", b"2"), (b"mcp-method", b"a"), (b"mcp-method", b"b")]
    assert tidied(*headers) == headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"x-%d" % number, b"") for number in range(MAX_HEADERS)], None),
        ([(b"x-%d" % number, b"") for number in range(MAX_HEADERS + 1)], 431),
        ([(b"x", b"a" * (MAX_HEADER_BYTES - 1))], None),
        ([(b"x", b"a" * MAX_HEADER_BYTES)], 431),
    ],
    ids=["as many", "one more", "as large", "one byte more"],
)
def test_the_number_and_the_size_of_headers_are_bounded(headers, status):
    found = tidied(*headers)
    assert getattr(found, "status_code", None) == status
