"""The official suite, where a checkout of it stands beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites import json_schema

SUITE = Path(__file__).parents[4] / "shared" / "corpus" / "json-schema-test-suite"


@pytest.mark.skipif(not SUITE.is_dir(), reason="the JSON Schema Test Suite is not beside the project")
def test_every_required_test_of_every_dialect_gets_its_verdict_from_both_engines(capsys):
    assert json_schema.main(SUITE) == 0, capsys.readouterr().out
