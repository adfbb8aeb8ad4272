"""Every rule over every definition, and whether the files are current."""

from __future__ import annotations

from pathlib import Path

from discern_server.result import DiscernResult
from discern_server.verbs.accept import accept
from discern_server.verbs.check import check
from discern_server.verbs.generate import generate
from tests.unit.verbs.conftest import ProjectFolder

REPOSITORY = Path(__file__).parents[3]


def errors(result: DiscernResult) -> list[tuple[str, str | None, int | None]]:
    return [
        (finding.rule, finding.path, finding.line)
        for finding in result.diagnostics
        if finding.severity.value == "error"
    ]


def test_our_own_definitions_are_what_our_sources_generate():
    result = check(REPOSITORY, generate)
    assert errors(result) == []
    assert result.ok


def test_a_project_whose_files_are_current_is_ok(project: ProjectFolder):
    accept(project.root, generate)
    result = check(project.root, generate)
    assert (result.ok, errors(result)) == (True, [])
    assert result.data["definitions"] == 2


def test_files_that_are_not_current_are_told_each_with_its_mend(project: ProjectFolder):
    accept(project.root, generate)
    project.define(add={"type": "object", "title": "Plus"}, new={"type": "object"})
    (project.root / "definitions/sub.json").unlink()
    result = check(project.root, generate)
    assert (result.ok, result.error) == (False, "findings")
    assert errors(result) == [
        ("schemas.stale", "schemas/add.json", None),
        ("schemas.missing", "schemas/new.json", None),
        ("schemas.obsolete", "schemas/sub.json", None),
    ]


def test_a_rule_that_warns_can_be_switched_off(project: ProjectFolder):
    accept(project.root, generate)
    assert "definition.description" in {finding.rule for finding in check(project.root, generate).diagnostics}
    project.write("discern.toml", project.read("discern.toml") + "[rules]\ndefinition.description = false\n")
    assert "definition.description" not in {finding.rule for finding in check(project.root, generate).diagnostics}


def test_definitions_of_prompts_and_resources_beside_the_tools_are_checked(project: ProjectFolder):
    accept(project.root, generate)
    project.write("schemas/prompts/good.json", '{"name": "good"}')
    project.write("schemas/prompts/bad.json", '{\n  "title": "no name"\n}')
    project.write("schemas/resources/bad.json", '{"uri": "no scheme", "name": "x"}')
    result = check(project.root, generate)
    assert errors(result) == [
        ("prompt.shape", "schemas/prompts/bad.json", 1),
        ("resource.shape", "schemas/resources/bad.json#/uri", 1),
    ]


def test_a_persons_own_file_is_checked_by_the_rules_with_lines(project: ProjectFolder):
    accept(project.root, generate)
    project.write("schemas/mine.json", '{\n  "name": "other",\n  "inputSchema": {\n    "type": "array"\n  }\n}')
    project.write("schemas/torn.json", "{")
    assert errors(check(project.root, generate)) == [
        ("definition.input-object", "schemas/mine.json#/inputSchema/type", 4),
        ("catalog.file-name", "schemas/mine.json#/name", 2),
        ("json.syntax", "schemas/torn.json", 1),
    ]


def test_where_a_source_has_faults_files_of_its_own_are_not_called_obsolete(project: ProjectFolder):
    accept(project.root, generate)
    project.write("definitions/sub.json", "{")
    assert errors(check(project.root, generate)) == [("json.syntax", "definitions/sub.json", 1)]


def test_a_definition_that_nothing_can_serve_is_told(project: ProjectFolder):
    project.write("discern.toml", project.read("discern.toml") + 'handlers = "no_such_handlers_module"\n')
    accept(project.root, generate)
    assert errors(check(project.root, generate)) == [("python.import", "discern.toml", None)]


def test_a_name_that_two_sources_use_is_told(project: ProjectFolder):
    source = '[[sources]]\nkind = "schemas"\ndirectory = "more"\n'
    project.write("discern.toml", project.read("discern.toml") + source)
    project.write("more/add.json", '{"type": "object"}')
    result = check(project.root, generate)
    taken = next(finding for finding in result.diagnostics if finding.rule == "sources.unique-names")
    assert taken.message == "the tool name add is taken: definitions and more both define it"


def test_where_there_is_no_project_the_next_step_is_told(tmp_path: Path):
    result = check(tmp_path, generate)
    assert (result.ok, result.error, result.hints) == (False, "not_initialized", ("discern init writes one",))


def test_a_faulty_project_file_is_told_with_every_fault(project: ProjectFolder):
    project.write("discern.toml", "[sever]\n")
    result = check(project.root, generate)
    assert (result.ok, result.error) == (False, "invalid_project")
    assert len(result.diagnostics) == 3
