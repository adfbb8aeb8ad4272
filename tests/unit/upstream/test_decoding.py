from __future__ import annotations

import json

import pytest

from discern_server.handler import ABSENT
from discern_server.upstream.answer import Answer
from discern_server.upstream.decoding import json_of, text_of


def answer(body, content_type="application/json", **changes):
    headers = (("content-type", content_type),) if content_type else ()
    return Answer(status=200, headers=headers, body=body, **changes)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("a,b\n1,é\n".encode(), "text/csv; charset=utf-8", "a,b\n1,é\n"),
        (b"Gr\xf6\xdfe: 5 \xa3", "text/plain; charset=ISO-8859-1", "Größe: 5 £"),
        ("日本".encode("shift_jis"), 'text/html;charset="Shift_JIS"', "日本"),
        ("é".encode(), "text/plain", "é"),
        (b"\xe9 \x93q\x94", "text/plain", "é “q”"),
        ("é".encode(), "text/plain; charset=unknown-8bit", "é"),
        (b"\xff", "text/plain; charset=utf-8", "\ufffd"),
        ("\ufeffé".encode(), "text/plain", "é"),
        ("é".encode("utf-16"), "text/plain", "é"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>".encode("latin-1"), "application/xml", None),
        ("é".encode(), "application/problem+json", "é"),
        (b"<svg/>", "image/svg+xml", "<svg/>"),
        (b"a: 1", "application/yaml", "a: 1"),
        (b"plain", "", "plain"),
    ],
)
def test_text_is_read_in_its_charset(body, content_type, text):
    """RFC 9110, section 8.3.2."""
    expected = body.decode("latin-1") if text is None else text
    assert text_of(answer(body, content_type)) == expected


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        (b"text", "application/octet-stream"),
        (b"text", "application/pdf"),
        (b"a\0b", ""),
        (b"\xff\xfe\xfd", ""),
    ],
)
def test_anything_else_is_binary(body, content_type):
    assert text_of(answer(body, content_type)) is None


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 8])
def test_text_that_was_cut_inside_a_character_ends_before_it(length):
    cut = answer("aé€😀".encode()[:length], "text/plain", cut=True)
    assert "aé€😀".startswith(text_of(cut) or "?")


@pytest.mark.parametrize(
    "value", [None, True, 9223372036854775807, 10**30, 0.1, "é", [], {"a": [{"b": None}]}, "\U0001f600"]
)
def test_json_is_any_value(value):
    assert json_of(answer(json.dumps(value).encode())) == value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_json_is_read_in_any_unicode_encoding(encoding):
    assert json_of(answer('{"a":"é"}'.encode(encoding))) == {"a": "é"}


def test_json_is_read_in_the_charset_that_is_named():
    assert json_of(answer(b'"\xe9"', "application/json; charset=iso-8859-1")) == "é"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"<html>",
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b"\xff",
        b"1" * 5000,
        b"[" * 100_000,
        b"[" * 200 + b"]" * 200,
    ],
    ids=lambda body: repr(body[:12]),
)
def test_what_cannot_be_handed_on_is_no_json(body):
    assert json_of(answer(body)) is ABSENT


def test_many_values_side_by_side_are_not_deep():
    assert json_of(answer(json.dumps([[]] * 1000).encode())) == [[]] * 1000
    assert json_of(answer(json.dumps({"a": [{}] * 1000}).encode())) == {"a": [{}] * 1000}
    assert json_of(answer(b"[" * 100 + b"]" * 100)) is not ABSENT


def test_half_of_a_surrogate_pair_is_replaced():
    assert json_of(answer(b'{"\\ud800":["a\\udc00b", "\\ud83d\\ude00", 1]}')) == {"\ufffd": ["a\ufffdb", "😀", 1]}


@pytest.mark.parametrize(
    "charset", ["utf-7", "UNICODE_ESCAPE", "raw_unicode_escape", "idna", "punycode", "rot13", "base64", "undefined"]
)
def test_codecs_that_are_no_charsets_are_not_used(charset):
    assert text_of(answer(b"a\\u0041+2AA-", f"text/plain; charset={charset}")) == "a\\u0041+2AA-"
