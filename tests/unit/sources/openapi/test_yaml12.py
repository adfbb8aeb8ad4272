"""YAML by the meaning of YAML 1.2, as OpenAPI asks for it."""

from __future__ import annotations

import pytest

from discern_server.sources.openapi import yaml12
from discern_server.sources.openapi.documents import Duplicate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"),
        ("on", "on"),
        ("yes", "yes"),
        ("2024-01-01", "2024-01-01"),
        ("2015-02-22T20:00:45.000Z", "2015-02-22T20:00:45.000Z"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("+2", 2),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-1.5E-3", -0.0015),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9223372036854775807", 9223372036854775807),
        ("null", None),
        ("~", None),
        ("True", True),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("!!int '12'", 12),
        ("!!float 12", 12.0),
        ("!!bool 'true'", True),
        ("!custom 12", "12"),
        ("=", "="),
        ("-", [None]),
    ],
)
def test_a_scalar_means_what_the_core_schema_says(text: str, value: object):
    """YAML 1.2.2, section 10.3.2."""
    parsed = yaml12.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_keys_are_the_text_as_written():
    """OpenAPI 3.2, section 4.3: keys are scalar strings."""
    assert yaml12.parse("200: a\nnull: b\nNO: c\n1.0: d\n") == {"200": "a", "null": "b", "NO": "c", "1.0": "d"}


def test_merge_keys_give_way_to_the_mappings_own():
    text = "base: &base {a: 1, b: 2}\none:\n  <<: *base\n  b: 3\ntwo:\n  <<: [{c: 4}, *base]\n"
    assert yaml12.parse(text) == {"base": {"a": 1, "b": 2}, "one": {"b": 3, "a": 1}, "two": {"c": 4, "a": 1, "b": 2}}


def test_a_merge_key_in_quotes_is_an_ordinary_key():
    assert yaml12.parse("'<<': {a: 1}") == {"<<": {"a": 1}}


def test_an_alias_shares_what_it_stands_for():
    parsed = yaml12.parse("a: &x {b: 1}\nc: *x\n")
    assert parsed["a"] is parsed["c"]


def test_an_alias_may_be_a_key():
    assert yaml12.parse("a: &k name\n*k : 1\n") == {"a": "name", "name": 1}


def test_aliases_that_multiply_are_refused():
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 12))
    with pytest.raises(yaml12.YamlError, match="aliases make the document larger"):
        yaml12.parse("l0: &l0 x\n" + levels)


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("a: 1\nb: *nobody\n", "has no anchor|undefined alias", 2),
        ("a: &a\n  b: *a\n", "stands inside", 2),
        ("{a: 1}: b\n", "has to be text", 1),
        ("a: 1\n---\nb: 2\n", "more than one", 2),
        ("a: [1\nb: 2\n", "expected", 2),
        ("a: !!int x\n", "not a number", 1),
    ],
)
def test_what_stands_for_no_json_value_is_refused_with_its_line(text: str, reason: str, line: int):
    with pytest.raises(yaml12.YamlError, match=reason) as caught:
        yaml12.parse(text)
    assert caught.value.line == line


def test_a_key_that_stands_twice_is_told():
    found: list[Duplicate] = []
    assert yaml12.parse("a: 1\nb: 2\na: 3\n", found.append) == {"a": 3, "b": 2}
    assert found == [Duplicate("a", 3)]


def test_nesting_that_the_parser_bounds_is_an_error():
    assert yaml12.parse("[" * 900 + "]" * 900) is not None
    with pytest.raises(yaml12.YamlError, match="nesting depth"):
        yaml12.parse("[" * 100_000)
