"""Writing discern.toml."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discern_server.project import Project, PythonSource, SchemasSource
from discern_server.verbs.generate import generate
from discern_server.verbs.init import init


@pytest.fixture(autouse=True)
def _import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_in_an_empty_folder_a_module_to_start_from_is_written_too(tmp_path: Path):
    result = init(tmp_path, generate, name="shop")
    assert (result.ok, result.data) == (True, {"server": "shop", "tools": ["add"]})
    assert [step.target for step in result.steps or ()] == ["discern.toml", "tools.py"]
    project = Project.load(tmp_path)
    assert project.server.name == "shop"
    assert project.sources == (PythonSource(module="tools", path=tmp_path),)


def test_a_dry_run_writes_nothing(tmp_path: Path):
    result = init(tmp_path, generate, dry_run=True)
    assert [step.target for step in result.plan or ()] == ["discern.toml", "tools.py"]
    assert list(tmp_path.iterdir()) == []


def test_a_module_is_taken_with_the_tools_it_has(tmp_path: Path):
    source = "from discern_server import tool\n@tool\ndef ping(): ...\n"
    (tmp_path / "init_given.py").write_text(source, encoding="utf-8")
    result = init(tmp_path, generate, module="init_given")
    assert (result.ok, result.data["tools"]) == (True, ["ping"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["discern.toml", "init_given.py"]


def test_a_folder_is_taken_with_its_handlers(tmp_path: Path):
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "ping.json").write_text('{"type": "object"}', encoding="utf-8")
    result = init(tmp_path, generate, folder="definitions", handlers="init_handlers")
    assert (result.ok, result.data["tools"]) == (True, ["ping"])
    assert Project.load(tmp_path).sources == (
        SchemasSource(directory=tmp_path / "definitions", handlers="init_handlers", path=tmp_path),
    )


def test_nothing_that_exists_is_overwritten(tmp_path: Path):
    (tmp_path / "discern.toml").write_text("mine", encoding="utf-8")
    result = init(tmp_path, generate)
    assert (result.ok, result.error) == (False, "exists")
    assert (tmp_path / "discern.toml").read_text(encoding="utf-8") == "mine"


def test_a_module_to_start_from_that_is_there_is_left_as_it_is(tmp_path: Path):
    (tmp_path / "tools.py").write_text("mine = 1", encoding="utf-8")
    init(tmp_path, generate)
    assert (tmp_path / "tools.py").read_text(encoding="utf-8") == "mine = 1"


@pytest.mark.parametrize(
    ("module", "folder", "error"),
    [
        ("init_nowhere", None, "invalid_sources"),
        ("no module", None, "invalid_project"),
        (None, "nowhere", "invalid_sources"),
        (None, "../elsewhere", "invalid_project"),
        (None, "schemas", "invalid_project"),
    ],
)
def test_for_a_source_that_gives_nothing_nothing_is_written(
    tmp_path: Path, module: str | None, folder: str | None, error: str
):
    result = init(tmp_path, generate, module=module, folder=folder)
    assert (result.ok, result.error) == (False, error)
    assert result.diagnostics
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ['a "quoted" name', "back\\slash", "line\nbreak", "emoji \N{GRINNING FACE}", "del\x7f"]
)
def test_any_name_is_written_as_toml_that_says_it(tmp_path: Path, name: str):
    assert init(tmp_path, generate, name=name).ok
    assert Project.load(tmp_path).server.name == name


def test_the_name_of_the_folder_is_the_servers(tmp_path: Path):
    folder = tmp_path / "my shop!"
    folder.mkdir()
    assert init(folder, generate).data["server"] == "my-shop"
