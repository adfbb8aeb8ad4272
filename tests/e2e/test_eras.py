"""The eras of this project's own servers, proven by the probe: every way to serve, under every check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from discern_server.pytest_plugin import assert_era
from discern_server.wire.evidence import Question
from discern_server.wire.report import Report
from tests.e2e.bounded import PATIENCE_S
from tests.e2e.cli import DISCERN, discern, environment, make_shop
from tests.e2e.http_serving import serving, serving_command

WIRE = [sys.executable, str(Path(__file__).with_name("wire_server.py"))]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_shop(tmp_path_factory.mktemp("shop"))
    assert discern("accept", cwd=root).code == 0
    return root


def assert_modern(target: list[str] | str, **options: Any) -> Report:
    """It serves the modern revision alone, passes every check, and refuses as the project says it does."""
    report = assert_era(target, "2026-07-28", legacy="reject", strict=True, answer_s=PATIENCE_S, **options)
    assert report.verdict.revisions == ("2026-07-28",)
    refusal, bare = report.evidence.get(Question.INITIALIZE), report.evidence.get(Question.BARE)
    assert refusal is not None
    assert bare is not None
    assert refusal.code == -32022
    assert refusal.data == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert "--legacy serve" in str(refusal.received)
    assert bare.code == -32602
    assert bare.data == {"supported": ["2026-07-28"]}
    return report


def assert_dual(target: list[str] | str, **options: Any) -> None:
    """It serves both eras and passes every check."""
    report = assert_era(target, "2026-07-28", legacy="serve", strict=True, answer_s=PATIENCE_S, **options)
    assert report.verdict.revisions == ("2026-07-28", "2025-11-25")


@pytest.mark.requirement(1, 2, 4, 5, 8, 11, 14, 17, 20, 21, 22, 23, 24, 25, 26, 27, 47, 60, 67, 68, 69)
def test_a_host_app_on_stdio_is_modern_unless_told():
    assert_modern(WIRE)
    assert_dual([*WIRE, "--legacy", "serve"])


@pytest.mark.parametrize("answers", ["auto", "json", "stream"])
@pytest.mark.requirement(5, 11, 14, 22, 25, 60, 73, 74, 77, 78, 79, 80, 81, 83, 86, 87)
def test_a_host_app_over_http_is_modern_unless_told_however_it_answers(answers: str):
    with serving("wire_server.py", "--answers", answers) as served:
        assert_modern(served.url)
    with serving("wire_server.py", "--answers", answers, "--legacy", "serve") as served:
        assert_dual(served.url)


def test_the_verbs_are_a_modern_server(shop: Path):
    report = assert_modern([*DISCERN, "mcp", "--root", str(shop)])
    assert report.call is not None


def test_a_project_s_own_server_is_what_its_command_line_says(shop: Path):
    assert_modern([*DISCERN, "serve", "--root", str(shop)])
    assert_dual([*DISCERN, "serve", "--root", str(shop), "--legacy", "serve"])


def test_a_project_s_own_server_over_http_is_modern_too(shop: Path):
    command = [*DISCERN, "serve", "--root", str(shop), "--http", "127.0.0.1:0"]
    with serving_command(command, env=environment()) as served:
        assert_modern(served.url)


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_where_legacy_clients_are_served_each_gets_the_revision_it_asks_for(revision: str):
    assert_era([*WIRE, "--legacy", "serve"], revision, legacy="serve", strict=True, answer_s=PATIENCE_S)
