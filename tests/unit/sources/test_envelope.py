"""The envelope's schema holds for whatever `serialize` gives."""

from __future__ import annotations

import pytest

from discern_server.result import Diagnostic, DiscernResult, Severity, Step, StepStatus, failure, serialize
from discern_server.schema.validate import compile_validator
from discern_server.sources.envelope import envelope_schema

WHOLE = DiscernResult(
    ok=True,
    verb="accept",
    message="m",
    data=[1],
    diagnostics=(Diagnostic(rule="r", message="m", severity=Severity.INFO, path="p", line=1, fix="f"),),
    dry_run=True,
    plan=(Step(action="create", target="a"),),
    steps=(Step(action="create", target="a", status=StepStatus.FAILED, detail="d"),),
    hints=("h",),
    error="e",
)


@pytest.mark.parametrize("result", [DiscernResult(ok=True, verb="check"), WHOLE, failure("map", "odd", "m")])
def test_every_envelope_keeps_it(result: DiscernResult):
    assert compile_validator(envelope_schema()).diagnose(serialize(result)) == ()


def test_it_names_every_field_and_no_other():
    assert set(envelope_schema()["properties"]) == set(serialize(WHOLE))
    assert not compile_validator(envelope_schema()).is_valid({"ok": True, "verb": "check", "extra": 1})


def test_data_may_be_told():
    validator = compile_validator(envelope_schema({"type": "string"}))
    assert validator.is_valid({"ok": True, "verb": "help", "data": "text"})
    assert not validator.is_valid({"ok": True, "verb": "help", "data": 1})
