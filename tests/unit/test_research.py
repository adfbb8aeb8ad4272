"""The runner of the research findings: it sees a difference, records one, and bounds what it starts."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The runner, over an empty directory of findings."""
    spec = importlib.util.spec_from_file_location("research_run", ROOT / "docs" / "research" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("FINDINGS", "RECORDED"):
        directory = tmp_path / name.lower()
        directory.mkdir()
        monkeypatch.setattr(module, name, directory)
    monkeypatch.setattr(module, "NOTES", tmp_path / "notes.md")
    (tmp_path / "notes.md").write_text("**`one`** says something.", encoding="utf-8")
    return module


def finding(runner: ModuleType, name: str, code: str) -> None:
    (runner.FINDINGS / f"{name}.py").write_text(code, encoding="utf-8")


def test_a_finding_that_prints_what_was_recorded_passes(runner, capsys):
    finding(runner, "one", "print('é')")
    (runner.RECORDED / "one.txt").write_text("é\n", encoding="utf-8")
    assert runner.main([]) == 0
    assert "same  one" in capsys.readouterr().out


def test_a_difference_is_shown_and_fails(runner, capsys):
    finding(runner, "one", "print('new')")
    (runner.RECORDED / "one.txt").write_text("old\n", encoding="utf-8")
    assert runner.main([]) == 1
    assert "-old\n+new\n" in capsys.readouterr().out
    assert (runner.RECORDED / "one.txt").read_text(encoding="utf-8") == "old\n"


def test_an_update_records_what_is_printed(runner):
    finding(runner, "one", "print('new')")
    assert runner.main(["--update"]) == 0
    assert runner.main([]) == 0


def test_a_finding_that_fails_is_a_difference(runner, capsys):
    finding(runner, "one", "print('so far'); raise SystemExit(3)")
    (runner.RECORDED / "one.txt").write_text("so far\n", encoding="utf-8")
    assert runner.main([]) == 1
    assert "+(exit status 3)\n" in capsys.readouterr().out


def test_a_finding_that_does_not_end_is_given_up(runner):
    finding(runner, "one", "print('so far', flush=True); import time; time.sleep(60)")
    assert runner.run(runner.FINDINGS / "one.py", timeout_s=2).endswith("(gave up after 2 s)\n")


def test_a_finding_that_the_notes_leave_out_fails(runner, capsys):
    finding(runner, "two", "")
    assert runner.main([]) == 1
    assert "notes.md does not say what `two` means" in capsys.readouterr().out


def test_a_record_without_its_finding_fails(runner, capsys):
    (runner.RECORDED / "gone.txt").write_text("", encoding="utf-8")
    assert runner.main([]) == 1
    assert "recorded/gone.txt belongs to no finding" in capsys.readouterr().out


def test_an_unknown_finding_is_a_usage_error(runner, capsys):
    with pytest.raises(SystemExit, match="2"):
        runner.main(["three"])
    assert "no such finding: three" in capsys.readouterr().err
