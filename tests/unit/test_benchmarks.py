"""The benchmark's arithmetic: a wrong answer fails it, a bar is held against the median, pairs stay pairs."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise

import pytest

from benchmarks import definitions, report
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row


def answer(number: int, **changes: object) -> bytes:
    arguments = {"a": f"text {number}", "b": number}
    result = {"content": [{"type": "text", "text": json.dumps(arguments)}], "structuredContent": arguments, **changes}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def row(median: float, bar: float | None, *, at_least: bool = False) -> Row:
    value = Spread(median, median, median)
    return Row(group="group", what="what", ours="a", theirs="b", value=value, bar=bar, at_least=at_least)


def test_the_right_answers_pass_in_any_order():
    definitions.check_calls([1, 2], [answer(2), answer(1)])


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([answer(1)], id="one is missing"),
        pytest.param([answer(1), answer(1)], id="one came twice"),
        pytest.param([answer(1), answer(2, structuredContent={"a": "text 1", "b": 1})], id="another call's content"),
        pytest.param([answer(1), answer(2, content=[{"type": "text", "text": "{}"}])], id="another text"),
        pytest.param([answer(1), answer(2, isError=True)], id="an error result"),
        pytest.param([answer(1), b'{"jsonrpc":"2.0","id":2,"error":{"code":0,"message":""}}'], id="a protocol error"),
    ],
)
def test_a_wrong_answer_is_an_error(answers):
    with pytest.raises(definitions.WrongAnswerError):
        definitions.check_calls([1, 2], answers)


def test_a_missing_tool_is_an_error():
    with pytest.raises(definitions.WrongAnswerError, match="3 tools, 2 listed"):
        definitions.check_names(["t00000", "t00001"], 3)


def test_each_subject_is_measured_once_in_a_round_and_follows_every_other_one_in_some():
    order: list[str] = []

    def measure(name: str, number: int) -> int:
        order.append(name)
        return number

    samples = alternate(20, {name: partial(measure, name) for name in "abc"})
    assert samples == {name: list(range(20)) for name in "abc"}
    assert all(sorted(order[start : start + 3]) == ["a", "b", "c"] for start in range(0, 60, 3))
    assert {*pairwise(order)} >= {(one, other) for one in "abc" for other in "abc" if one != other}


def test_a_ratio_is_taken_within_each_round():
    assert ratios([1.0, 20.0, 3.0], [2.0, 20.0, 4.0]) == Spread(0.75, 0.625, 0.875)


@pytest.mark.parametrize(
    ("median", "bar", "at_least", "missed"),
    [
        (0.4, 0.4, False, False),
        (0.41, 0.4, False, True),
        (9, None, False, False),
        (8, 8, True, False),
        (7, 8, True, True),
    ],
)
def test_a_bar_is_held_against_the_median(median, bar, at_least, missed):
    assert row(median, bar, at_least=at_least).missed is missed


def test_the_page_says_which_row_missed_its_bar():
    page = report.as_page([row(0.3, 0.4), row(0.5, 0.4)], {"ours": {"mcp": "2.3.0"}}, quick=False)
    assert "* ours: mcp 2.3.0" in page
    assert "| what | a | b | 0.300 [0.300, 0.300] | - | at most 0.4 | ok |" in page
    assert "| what | a | b | 0.500 [0.500, 0.500] | - | at most 0.4 | MISSED |" in page
