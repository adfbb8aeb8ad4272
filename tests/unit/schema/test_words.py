"""How values appear in messages."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.schema.words import SECRET, any_of, listed, quote, show, type_name


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (5, "the number 5"),
        (1.5, "the number 1.5"),
        ("é\n", '"\\u00e9\\n"'),
        ("\ud83d", '"\\ud83d"'),
        ({"password": "hunter2"}, "an object with 1 property"),
        (["hunter2", 2], "an array of 2 items"),
        (SECRET, "a value that is kept secret"),
    ],
)
def test_a_value_is_shown_as_json_and_containers_by_their_size(value, shown):
    assert show(value) == shown


def test_what_is_long_is_cut():
    assert quote("x" * 61) == '"' + "x" * 59 + '…"'
    assert len(show(10**4_000)) < 100
    assert listed(list("abcdefghijklmnop")) == "a, b, c, d, e, f, g, h, i, j, k, l and 4 more"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_a_type_has_the_name_that_json_schema_gives_it(value: Any, name: str):
    assert type_name(value) == name


def test_types_are_listed_with_their_articles():
    assert any_of(["string", "integer", "null"]) == "a string or an integer or null"
