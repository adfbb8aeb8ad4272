"""``discern era`` as a program: its forms, its exit codes, its targets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.e2e.cli import discern
from tests.e2e.hostile.test_hostile_http import good
from tests.e2e.raw_http import listening

SERVER = (sys.executable, str(Path(__file__).parent / "hostile" / "server.py"))
GOOD = ("--", *SERVER, "Server")


def test_a_command_is_probed_and_shown_as_a_short_table(tmp_path: Path):
    shown = discern("era", "--require", "2026-07-28", "--forbid-legacy", "--strict", *GOOD, cwd=tmp_path)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == "era: modern-only: serves modern clients and refuses legacy ones (2026-07-28)"
    assert any(line.split()[:2] == ["eof.answers", "pass"] for line in lines)
    assert "called now" in shown.out


def test_what_does_not_hold_is_exit_code_1_with_the_exchange(tmp_path: Path):
    shown = discern("era", "--require", "2025-11-25", *GOOD, cwd=tmp_path)
    assert shown.code == 1
    assert "error era.require" in shown.out
    assert '"method":"initialize"' in shown.out


@pytest.mark.parametrize(
    "words", [("era", "no-url"), ("era", "http://127.0.0.1:9/"), ("era", "--", "no-such-program"), ("era",)]
)
def test_whatever_cannot_be_probed_is_exit_code_1_in_every_form(words: tuple[str, ...], tmp_path: Path):
    text = discern(*words, cwd=tmp_path)
    assert text.code == 1
    assert text.out.startswith("era: ")
    as_json = discern(words[0], "--json", *words[1:], cwd=tmp_path)
    assert as_json.code == 1
    assert as_json.envelope["ok"] is False
    as_xml = discern(words[0], "--format", "junit", *words[1:], cwd=tmp_path)
    assert as_xml.code == 1
    assert ET.fromstring(as_xml.out).get("failures") == "1"


def test_a_url_and_a_command_are_one_too_many(tmp_path: Path):
    assert discern("era", "http://127.0.0.1:9/", *GOOD, cwd=tmp_path).code == 2


def test_a_file_gets_the_form_and_the_terminal_the_text(tmp_path: Path):
    shown = discern("era", "--format", "junit", "--output", "era.xml", *GOOD, cwd=tmp_path)
    assert shown.code == 0
    assert shown.out.startswith("era: modern-only")
    root = ET.fromstring((tmp_path / "era.xml").read_text(encoding="utf-8"))
    assert root.get("failures") == "0"


def test_findings_are_placed_in_the_file_that_the_command_names(tmp_path: Path):
    (tmp_path / "mine.py").write_text("raise SystemExit('not yet')\n", encoding="utf-8")
    shown = discern("era", "--format", "sarif", "--", sys.executable, "mine.py", cwd=tmp_path)
    assert shown.code == 1
    (found,) = json.loads(shown.out)["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "mine.py"
    assert "its last words: not yet" in found["message"]["text"]


def test_a_file_that_cannot_be_written_is_told_and_the_answer_shown(tmp_path: Path):
    shown = discern("era", "--json", "--output", "no/such/folder.json", *GOOD, cwd=tmp_path)
    assert shown.code == 1
    assert shown.out.startswith("era: modern-only")
    assert "cannot write no/such/folder.json: No such file or directory" in shown.err


def test_the_transcript_is_there_when_asked_for(tmp_path: Path):
    shown = discern("era", "--json", "--transcript", *GOOD, cwd=tmp_path)
    lines = shown.envelope["data"]["transcript"]
    assert any("initialize" in line for line in lines)
    assert any("stdin closed" in line for line in lines)


def test_a_url_is_probed_with_headers_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    requests: list[bytes] = []

    def answer(connection, request):
        requests.append(request)
        good()(connection, request)

    monkeypatch.setenv("BILLING_TOKEN", "Bearer s3cret")
    with listening(answer) as url:
        shown = discern(
            "era", "--json", "--transcript", "--header-env", "Authorization=BILLING_TOKEN", url, cwd=tmp_path
        )
    assert shown.envelope["data"]["verdict"] == "modern-only"
    assert all(b"authorization: bearer s3cret" in request.lower() for request in requests)
    assert "s3cret" not in shown.out
    assert json.loads(shown.out)["data"]["target"] == url


def test_no_tool_is_called_where_none_shall_be(tmp_path: Path):
    shown = discern("era", "--json", "--no-call", *GOOD, cwd=tmp_path)
    assert "called" not in shown.envelope["data"]
