from __future__ import annotations

import pytest

from discern_server.upstream.redaction import MASK, Redactor


@pytest.mark.parametrize(
    "text",
    [
        "GET /?key=a+b/c=d e&x=1",
        "GET /?key=a%2Bb%2Fc%3Dd%20e&x=1",
        "GET /?key=a%2bb%2fc%3dd%20e&x=1",
        "key=a%2Bb%2Fc%3Dd+e",
        "wordsa+b/c=d ewords",
    ],
)
def test_a_secret_is_masked_in_every_spelling(text):
    masked = Redactor(["a+b/c=d e"]).text(text)
    assert MASK in masked
    assert "b/c" not in masked
    assert "b%2" not in masked


def test_a_secret_is_masked_as_json_escapes_it():
    assert Redactor(['pass"word\\é']).text('{"p": "pass\\"word\\\\\\u00e9"}') == '{"p": "***"}'


def test_a_short_secret_is_masked_where_it_stands_alone():
    mask = Redactor(["id"]).text
    assert mask("id=id, identity, 'id'") == "***=***, identity, '***'"


def test_the_longest_secret_is_masked_first():
    assert Redactor(["secret-1", "secret-1-and-more"]).text("secret-1-and-more") == MASK


def test_a_value_is_masked_all_the_way_down():
    value = {"a": ["x secret-token", 1, None, True], "secret-token": {"b": "secret-token"}}
    assert Redactor(["secret-token"]).value(value) == {"a": ["x ***", 1, None, True], "***": {"b": "***"}}


def test_without_secrets_nothing_is_touched():
    value = {"a": [1]}
    assert Redactor().value(value) is value
    assert Redactor([""]).text("text") == "text"
