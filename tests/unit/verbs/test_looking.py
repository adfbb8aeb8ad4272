"""The verbs that only look: status, map, doctor, help."""

from __future__ import annotations

from pathlib import Path

import pytest

from discern_server.result import Severity
from discern_server.verbs import doctor as doctor_module
from discern_server.verbs.accept import accept
from discern_server.verbs.doctor import doctor
from discern_server.verbs.generate import generate
from discern_server.verbs.help import TOPICS, help_on
from discern_server.verbs.map import map_tools
from discern_server.verbs.status import status
from tests.unit.verbs.conftest import ProjectFolder


def test_status_tells_where_a_project_stands(project: ProjectFolder):
    accept(project.root, generate)
    project.define(new={"type": "object"})
    result = status(project.root, generate)
    assert result.ok
    assert result.data == {
        "root": str(project.root),
        "config": "discern.toml",
        "server": {"name": "shop", "version": "1.0", "legacy": "reject"},
        "features": {"map": True, "accept": True},
        "sources": [{"kind": "schemas", "origin": "definitions", "tools": 3}],
        "definitions": {"current": 2, "missing": 1, "stale": 0, "edited": 0, "obsolete": 0, "unknown": 0},
    }
    assert result.hints == ("discern accept writes the definitions",)


def test_status_of_a_source_with_faults_tells_them(project: ProjectFolder):
    project.write("definitions/add.json", "{")
    result = status(project.root, generate)
    assert (result.ok, result.error) == (False, "invalid_sources")
    assert result.data["sources"] == [{"kind": "schemas", "origin": "definitions", "tools": None}]


def test_the_map_lists_the_tools_by_name(project: ProjectFolder):
    project.write(
        "definitions/add.json",
        '{"description": "Plus.\\nMore.", "annotations": {"readOnlyHint": true, "title": "Add"}, '
        '"inputSchema": {"type": "object"}}',
    )
    accept(project.root, generate)
    assert map_tools(project.root).data == {
        "tools": [
            {"name": "add", "title": "Add", "read_only": True, "description": "Plus."},
            {"name": "sub", "title": "", "read_only": False, "description": ""},
        ]
    }


def test_the_map_shows_one_definition_whole(project: ProjectFolder):
    accept(project.root, generate)
    assert map_tools(project.root, "add").data == {"definition": {"name": "add", "inputSchema": {"type": "object"}}}


def test_a_tool_that_is_not_there_is_answered_with_the_nearest(project: ProjectFolder):
    accept(project.root, generate)
    result = map_tools(project.root, "ad")
    assert (result.ok, result.error, result.hints) == (False, "unknown_tool", ("did you mean add?",))


def test_before_anything_was_accepted_the_map_is_empty_and_says_what_to_do(project: ProjectFolder):
    result = map_tools(project.root)
    assert (result.ok, result.data, result.hints) == (True, {"tools": []}, ("discern accept writes them",))


def test_definitions_that_cannot_be_used_are_told(project: ProjectFolder):
    project.write("schemas/add.json", "{")
    result = map_tools(project.root)
    assert (result.ok, result.error, len(result.diagnostics)) == (False, "invalid_definitions", 1)


def test_this_installation_is_well():
    result = doctor()
    assert result.ok, result.diagnostics
    assert result.data["sdk"]["required"] == result.data["sdk"]["installed"]
    assert result.data["definitions"] > 0
    assert "test" in {extra["extra"] for extra in result.data["extras"]}


def test_an_sdk_other_than_the_pinned_one_is_told_with_the_mend(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor_module, "version", lambda _name: "9.9")
    result = doctor()
    (finding,) = (finding for finding in result.diagnostics if finding.rule == "doctor.sdk")
    assert finding.severity is Severity.ERROR
    assert finding.fix == f"pip install mcp=={result.data['sdk']['required']}"
    assert (result.ok, result.error) == (False, "environment")


def test_every_page_of_the_guide_is_a_topic_and_every_topic_a_page():
    guide = Path(doctor_module.__file__).parent.parent / "guide"
    assert {page.stem for page in guide.glob("*.md")} == set(TOPICS)
    topics = help_on().data["topics"]
    assert [entry["topic"] for entry in topics] == list(TOPICS)
    assert all(entry["title"] for entry in topics)
    assert all(help_on(topic).data.startswith("# ") for topic in TOPICS)


def test_an_unknown_topic_is_answered_with_the_nearest():
    result = help_on("serve")
    assert (result.ok, result.error, result.hints) == (False, "unknown_topic", ("did you mean serving?",))
