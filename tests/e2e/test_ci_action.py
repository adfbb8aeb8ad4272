"""The action for CI: its script, run by bash with the environment that a runner gives it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
SERVER = [sys.executable, str(Path(__file__).parent / "hostile" / "server.py"), "Server"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the action's scripts are for bash")


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return loaded


def probe(tmp_path: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step with `inputs` over the defaults, as the runner would."""
    described = action()
    values = {name: given["default"] for name, given in described["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    step = described["runs"]["steps"][-1]
    env = {name: values[text.split("inputs.")[1].split(" ")[0]] for name, text in step["env"].items()}
    discern = tmp_path / "discern"
    discern.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m discern_server "$@"\n')
    discern.chmod(0o755)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **env, "DISCERN": str(discern), "DISCERN_PYTHON": sys.executable},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
    )


def test_every_input_is_used_and_none_is_pasted_into_a_script():
    described = action()
    text = ACTION.read_text(encoding="utf-8")
    for name in described["inputs"]:
        assert f"inputs.{name} " in text
    for step in described["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_a_good_server_passes_and_leaves_a_file(tmp_path: Path):
    done = probe(tmp_path, command=shlex.join(SERVER), forbid_legacy="true", strict="true", output="era.xml")
    assert done.returncode == 0, done.stderr
    assert "era: modern-only" in done.stdout
    assert ET.parse(tmp_path / "era.xml").getroot().get("failures") == "0"


def test_a_server_of_another_revision_fails_the_step(tmp_path: Path):
    done = probe(tmp_path, command=shlex.join(SERVER), require="2025-11-25")
    assert done.returncode == 1
    assert "era.require" in done.stdout


def test_words_keep_their_quotes_and_nothing_is_run_by_a_shell(tmp_path: Path):
    done = probe(tmp_path, command="'no such program' '$(touch pwned)' ; touch pwned")
    assert done.returncode == 1
    assert "cannot start 'no such program'" in done.stdout
    assert not (tmp_path / "pwned").exists()


def test_a_command_that_cannot_be_split_is_told_and_nothing_else_is_probed(tmp_path: Path):
    done = probe(tmp_path, command="server 'with one quote")
    assert done.returncode == 2
    assert "cannot be split into words: server 'with one quote" in done.stderr
    assert done.stdout == ""


def test_without_command_and_url_the_project_s_own_server_is_probed(tmp_path: Path):
    done = probe(tmp_path)
    assert done.returncode == 1
    assert "discern init" in done.stdout
