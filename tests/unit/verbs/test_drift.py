"""How the files in schemas/ stand to what the sources generate."""

from __future__ import annotations

from pathlib import Path

import pytest

from discern_server.catalog import ToolDefinition
from discern_server.result import Severity
from discern_server.verbs.drift import (
    FileComparison,
    FileState,
    compare,
    file_content,
    findings,
    lock_content,
    read_lock,
)

DEFINITION = ToolDefinition.from_wire({"name": "add", "description": "Plus é", "inputSchema": {"type": "object"}})
CONTENT = file_content(DEFINITION)


def one(tmp_path: Path, definitions: dict[str, ToolDefinition]) -> FileComparison:
    (entry,) = compare(definitions, tmp_path / "schemas", read_lock(tmp_path))
    return entry


def write(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "add.json").write_bytes(content)


def locked(tmp_path: Path, content: bytes) -> None:
    entry = FileComparison(file="add.json", state=FileState.CURRENT, wanted=content, found=content)
    (tmp_path / "discern.lock").write_bytes(lock_content([entry]))


def test_a_file_is_json_with_two_spaces_a_final_newline_and_readable_text():
    assert CONTENT.decode() == (
        '{\n  "name": "add",\n  "description": "Plus é",\n  "inputSchema": {\n    "type": "object"\n  }\n}\n'
    )


def test_what_is_not_there_is_missing(tmp_path: Path):
    assert one(tmp_path, {"add": DEFINITION}).state is FileState.MISSING


@pytest.mark.parametrize("content", [CONTENT, CONTENT.replace(b"\n", b"\r\n")], ids=["as written", "checked out CRLF"])
def test_what_is_generated_is_current(tmp_path: Path, content: bytes):
    write(tmp_path, content)
    assert one(tmp_path, {"add": DEFINITION}).state is FileState.CURRENT


def test_what_was_written_once_is_stale_and_what_never_was_is_edited(tmp_path: Path):
    write(tmp_path, b"{}")
    assert one(tmp_path, {"add": DEFINITION}).state is FileState.EDITED
    locked(tmp_path, b"{}")
    assert one(tmp_path, {"add": DEFINITION}).state is FileState.STALE


def test_what_nothing_generates_is_obsolete_if_we_wrote_it_and_a_persons_own_if_not(tmp_path: Path):
    write(tmp_path, b"{}")
    assert one(tmp_path, {}).state is FileState.UNKNOWN
    locked(tmp_path, b"{}")
    assert one(tmp_path, {}).state is FileState.OBSOLETE


def test_other_files_and_folders_are_not_looked_at(tmp_path: Path):
    (tmp_path / "schemas" / "folder.json").mkdir(parents=True)
    (tmp_path / "schemas" / "README.md").touch()
    assert compare({}, tmp_path / "schemas", frozenset()) == []


def test_what_a_merge_left_in_the_list_does_no_harm(tmp_path: Path):
    write(tmp_path, b"{}")
    locked(tmp_path, b"{}")
    ours = (tmp_path / "discern.lock").read_text(encoding="utf-8")
    locked(tmp_path, b"[]")
    theirs = (tmp_path / "discern.lock").read_text(encoding="utf-8")
    merged = f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n"
    (tmp_path / "discern.lock").write_text(merged, encoding="utf-8")
    assert one(tmp_path, {"add": DEFINITION}).state is FileState.STALE


def test_the_list_names_what_is_generated_alone(tmp_path: Path):
    write(tmp_path, b"{}")
    files = compare({"sub": DEFINITION}, tmp_path / "schemas", frozenset())
    (tmp_path / "discern.lock").write_bytes(lock_content(files))
    assert {file for file, _ in read_lock(tmp_path)} == {"sub.json"}


def test_each_state_but_current_is_a_finding_and_only_a_persons_own_file_a_warning():
    found = [
        next(findings([FileComparison(file="a.json", state=state, wanted=None, found=None)]), None)
        for state in FileState
    ]
    assert {state.value: finding and finding.severity for state, finding in zip(FileState, found, strict=True)} == {
        "current": None,
        "missing": Severity.ERROR,
        "stale": Severity.ERROR,
        "edited": Severity.ERROR,
        "obsolete": Severity.ERROR,
        "unknown": Severity.WARNING,
    }
