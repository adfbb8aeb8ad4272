"""The envelope: its wire shape, its text, and what becomes of a plan."""

from __future__ import annotations

import json

import pytest

from discern_server.result import (
    Diagnostic,
    DiscernResult,
    Severity,
    Step,
    StepStatus,
    apply,
    failure,
    render_text,
    serialize,
)


def test_an_answer_without_anything_to_say_is_ok_and_verb_alone():
    assert serialize(DiscernResult(ok=True, verb="check")) == {"ok": True, "verb": "check"}


def test_every_field_reaches_the_wire_under_its_own_name_and_the_shape_is_json():
    result = DiscernResult(
        ok=False,
        verb="accept",
        message="one step failed",
        data={"written": 1},
        diagnostics=(Diagnostic(rule="r", message="m", severity=Severity.WARNING, path="a.json#/x", line=3, fix="f"),),
        dry_run=False,
        steps=(Step(action="create", target="a.json", status=StepStatus.FAILED, detail="no room"),),
        hints=("try again",),
        error="write_failed",
    )
    wire = serialize(result)
    assert json.loads(json.dumps(wire)) == wire
    assert wire == {
        "ok": False,
        "verb": "accept",
        "dry_run": False,
        "steps": [{"action": "create", "target": "a.json", "status": "failed", "detail": "no room"}],
        "diagnostics": [
            {"rule": "r", "severity": "warning", "message": "m", "path": "a.json#/x", "line": 3, "fix": "f"}
        ],
        "data": {"written": 1},
        "hints": ["try again"],
        "error": "write_failed",
        "message": "one step failed",
    }


def test_an_empty_plan_is_said():
    """Nothing to do is an answer; it must not read like no plan at all."""
    assert serialize(DiscernResult(ok=True, verb="accept", dry_run=True, plan=())) == {
        "ok": True,
        "verb": "accept",
        "dry_run": True,
        "plan": [],
    }


def test_apply_does_each_step_in_order():
    done: list[str] = []
    plan = [Step(action="create", target=name) for name in ("a", "b")]
    steps = apply(plan, lambda step: done.append(step.target))
    assert done == ["a", "b"]
    assert [step.status for step in steps] == [StepStatus.DONE, StepStatus.DONE]


def test_apply_stops_at_the_first_step_that_fails_and_says_so():
    done: list[str] = []

    def perform(step: Step) -> None:
        if step.target == "b":
            raise OSError(28, "No space left on device")
        done.append(step.target)

    steps = apply([Step(action="create", target=name) for name in ("a", "b", "c")], perform)
    assert done == ["a"]
    assert [(step.status, step.detail) for step in steps] == [
        (StepStatus.DONE, None),
        (StepStatus.FAILED, "No space left on device"),
        (StepStatus.SKIPPED, None),
    ]


def test_a_bug_in_a_step_is_not_taken_for_a_full_disk():
    def perform(_step: Step) -> None:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        apply([Step(action="create", target="a")], perform)


def test_text_shows_message_findings_steps_data_and_hints():
    result = DiscernResult(
        ok=False,
        verb="check",
        message="1 error",
        diagnostics=(
            Diagnostic(rule="definition.name", message="bad name", path="a.json#/name", line=2, fix="rename"),
        ),
        plan=(Step(action="update", target="a.json", detail="stale"),),
        data={"root": "x", "tools": [{"name": "a", "ok": True}, {"name": "long", "ok": False}], "none": []},
        hints=("discern accept",),
    )
    assert render_text(result) == (
        "check: 1 error\n"
        "\n"
        "error definition.name  a.json#/name (line 2)\n"
        "  bad name\n"
        "  fix: rename\n"
        "\n"
        "planned update  a.json  (stale)\n"
        "\n"
        "root: x\n"
        "tools:\n"
        "  name  ok\n"
        "  a     yes\n"
        "  long  no\n"
        "none: none\n"
        "\n"
        "next: discern accept"
    )


def test_text_without_colour_holds_no_escape_even_where_the_data_does():
    """A description comes from others: what it holds must not drive the reader's terminal."""
    result = failure("map", "odd", "a\x1b[31mred\x07 \u202etxet", hints=("b\x1b]0;title\x07",))
    text = render_text(result)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "a\\x1b[31mred\\x07" in text


def test_colour_is_asked_for():
    assert "\x1b[32m" in render_text(DiscernResult(ok=True, verb="check"), color=True)
