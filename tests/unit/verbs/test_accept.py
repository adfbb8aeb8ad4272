"""Writing what the sources generate, and nothing that a person wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from discern_server.result import DiscernResult
from discern_server.verbs.accept import accept
from discern_server.verbs.generate import generate
from tests.unit.verbs.conftest import ProjectFolder


def steps(result: DiscernResult) -> list[tuple[str, str, str]]:
    return [(step.action, step.target, step.status.value) for step in result.steps or result.plan or ()]


def run(project: ProjectFolder, *, dry_run: bool = False, overwrite: bool = False) -> DiscernResult:
    return accept(project.root, generate, dry_run=dry_run, overwrite=overwrite)


def test_every_definition_is_written_and_the_list_last(project: ProjectFolder):
    result = run(project)
    assert (result.ok, result.data) == (True, {"definitions": 2, "changes": 2})
    assert steps(result) == [
        ("create", "schemas/add.json", "done"),
        ("create", "schemas/sub.json", "done"),
        ("create", "discern.lock", "done"),
    ]
    assert project.read("schemas/add.json").startswith('{\n  "name": "add",\n')


def test_a_second_time_there_is_nothing_to_do(project: ProjectFolder):
    run(project)
    before = project.files()
    result = run(project)
    assert (result.ok, result.message, result.steps) == (True, "nothing to do", ())
    assert project.files() == before


def test_only_what_differs_is_written(project: ProjectFolder):
    run(project)
    kept = (project.root / "schemas/sub.json").stat().st_ino
    project.define(add={"type": "object", "title": "Plus"})
    result = run(project)
    assert steps(result) == [("update", "schemas/add.json", "done"), ("update", "discern.lock", "done")]
    assert (project.root / "schemas/sub.json").stat().st_ino == kept


def test_a_dry_run_shows_the_plan_and_changes_nothing(project: ProjectFolder):
    before = project.files()
    result = run(project, dry_run=True)
    assert (result.ok, result.dry_run, result.message) == (True, True, "2 changes would be made")
    assert [status for _, _, status in steps(result)] == ["planned"] * 3
    assert project.files() == before


def test_what_nothing_generates_any_more_is_deleted_if_we_wrote_it(project: ProjectFolder):
    run(project)
    project.write("schemas/mine.json", '{"name": "mine", "inputSchema": {"type": "object"}}')
    (project.root / "definitions/sub.json").unlink()
    result = run(project)
    assert steps(result) == [("delete", "schemas/sub.json", "done"), ("update", "discern.lock", "done")]
    assert [finding.rule for finding in result.diagnostics] == ["schemas.unknown"]
    assert set(project.files()) == {"discern.toml", "discern.lock", "schemas/add.json", "schemas/mine.json"}


def test_an_obsolete_file_that_was_changed_since_stays(project: ProjectFolder):
    run(project)
    project.write("schemas/sub.json", project.read("schemas/sub.json").replace("object", "object "))
    (project.root / "definitions/sub.json").unlink()
    assert [step for step in steps(run(project)) if step[0] == "delete"] == []
    assert "schemas/sub.json" in project.files()


def test_a_file_that_was_changed_by_hand_stops_everything_until_told_otherwise(project: ProjectFolder):
    run(project)
    project.write("schemas/add.json", "{}")
    project.define(sub={"type": "object", "title": "Minus"})
    before = project.files()
    result = run(project)
    assert (result.ok, result.error, result.steps) == (False, "edited", None)
    assert [(finding.rule, finding.path) for finding in result.diagnostics] == [("schemas.edited", "schemas/add.json")]
    assert project.files() == before
    assert run(project, dry_run=True).error == "edited"
    assert run(project, overwrite=True).ok
    assert project.read("schemas/add.json") != "{}"


def test_a_fault_in_a_source_stops_everything(project: ProjectFolder):
    run(project)
    before = project.files()
    project.write("definitions/add.json", "{")
    result = run(project)
    assert (result.ok, result.error) == (False, "invalid_sources")
    assert project.files() == before


def test_a_write_that_fails_is_told_and_the_next_run_goes_on_from_there(
    project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
):
    replace = Path.replace

    def no_room(self: Path, target: Path) -> Path:
        if target.name == "sub.json":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", no_room)
    result = run(project)
    assert (result.ok, result.error) == (False, "write_failed")
    assert [status for _, _, status in steps(result)] == ["done", "failed", "skipped"]
    assert set(project.files()) == {"discern.toml", "schemas/add.json"}
    monkeypatch.undo()
    assert [target for _, target, _ in steps(run(project))] == ["schemas/sub.json", "discern.lock"]


def test_a_folder_that_leads_out_of_the_project_is_not_written_to(project: ProjectFolder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (project.root / "schemas").symlink_to(outside)
    result = run(project)
    assert (result.ok, result.error) == (False, "invalid_project")
    assert list(outside.iterdir()) == []


def test_a_link_in_the_folder_is_replaced_and_what_it_points_to_left_alone(project: ProjectFolder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "precious.json"
    outside.write_text("precious", encoding="utf-8")
    (project.root / "schemas").mkdir()
    (project.root / "schemas/add.json").symlink_to(outside)
    assert run(project, overwrite=True).ok
    assert outside.read_text(encoding="utf-8") == "precious"
    assert not (project.root / "schemas/add.json").is_symlink()


def test_a_file_keeps_its_mode(project: ProjectFolder):
    run(project)
    (project.root / "schemas/add.json").chmod(0o600)
    project.define(add={"type": "object", "title": "Plus"})
    run(project)
    assert (project.root / "schemas/add.json").stat().st_mode & 0o777 == 0o600
