"""URI references, joined as RFC 3986 joins them."""

from __future__ import annotations

import pytest

from discern_server.schema.errors import UnresolvableError
from discern_server.schema.references import join, split


@pytest.mark.parametrize(
    ("base", "reference", "joined"),
    [
        ("http://example.com/a/b.json", "c.json", "http://example.com/a/c.json"),
        ("http://example.com/a/b.json", "../c.json#/x", "http://example.com/c.json#/x"),
        ("http://example.com/a/b.json", "/c", "http://example.com/c"),
        ("http://example.com/a/b.json#here", "#there", "http://example.com/a/b.json#there"),
        ("http://example.com/a", "", "http://example.com/a"),
        ("http://example.com/a", "urn:x:y", "urn:x:y"),
        ("urn:uuid:1", "#/definitions/a", "urn:uuid:1#/definitions/a"),
        ("urn:example:w?=op=map", "#a", "urn:example:w?=op=map#a"),
        ("file:///folder/file.json", "other.json", "file:///folder/other.json"),
        ("schema://host/folder/file", "other?x#y", "schema://host/folder/other?x#y"),
        ("folder/file.json", "other.json", "folder/other.json"),
        ("", "other.json#/x", "other.json#/x"),
    ],
)
def test_a_reference_is_joined_to_its_base(base, reference, joined):
    assert join(base, reference) == joined


def test_what_is_no_reference_is_refused():
    with pytest.raises(UnresolvableError):
        join("http://example.com", "http://[1/")


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("http://example.com/a#/b%25c~1d", ("http://example.com/a", "/b%c~1d")),
        ("#", ("", "")),
        ("a", ("a", "")),
        ("a#b#c", ("a", "b#c")),
    ],
)
def test_a_fragment_is_parted_and_decoded(uri, parts):
    assert split(uri) == parts
