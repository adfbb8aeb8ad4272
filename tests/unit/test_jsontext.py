"""Strict reading: what `json.loads` lets pass in silence, with its line."""

from __future__ import annotations

import pytest

from discern_server.jsontext import JsonTextError, read_json


@pytest.mark.parametrize(
    ("content", "rule", "path", "line"),
    [
        pytest.param(b'{\n "a": 1,\n "b": [1 2]}', "json.syntax", "", 3, id="syntax"),
        pytest.param(b'{"a":\n NaN}', "json.number", "/a", 2, id="NaN"),
        pytest.param(b'{"a": {"b~/":\n\n 1E400}}', "json.number", "/a/b~0~1", 3, id="1E400"),
        pytest.param(b'{"a":\n ' + b"1" * 5000 + b"}", "json.number", "", 2, id="digits"),
        pytest.param(b'[\n"\\ud800"]', "json.unicode", "/0", 2, id="surrogate"),
        pytest.param(b'{"a": 1,\n "a": 2}', "json.duplicate-key", "/a", 2, id="duplicate"),
        pytest.param(b"\xef\xbb\xbf{}", "json.encoding", "", 1, id="BOM"),
        pytest.param(b'{"a":\n "\xff"}', "json.encoding", "", 2, id="not UTF-8"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "json.depth", "", None, id="depth"),
    ],
)
def test_a_fault_has_its_rule_place_and_line(content, rule, path, line):
    with pytest.raises(JsonTextError) as caught:
        read_json(content)
    assert [(d.rule, d.path, d.line) for d in caught.value.diagnostics] == [(rule, path, line)]


def test_every_value_has_its_line():
    document = read_json(b'{\n  "a": [\n    1,\n    {"b": "]"}\n  ]\n}')
    assert document.lines() == {"": 1, "/a": 2, "/a/0": 3, "/a/1": 4, "/a/1/b": 4}
