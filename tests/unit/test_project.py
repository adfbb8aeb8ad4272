"""The project file: what it may say, and how each fault is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from discern_server.project import (
    Features,
    OffersConfig,
    OpenApiSource,
    Project,
    ProjectError,
    PythonSource,
    SchemasSource,
    Secret,
    ServerConfig,
)

WHOLE = """
[server]
name = "billing"
version = "1.4.0"
title = "Billing"
instructions = "Ask before refunding."
legacy = "serve"

[features]
map = true
accept = false

[rules]
"client.size" = false
client.depth = true

[[sources]]
kind = "python"
module = "billing.tools"
path = "src"
lifespan = "billing.app:pool"

[[sources]]
kind = "schemas"
directory = "definitions"
dialect = "draft-07"
handlers = "billing.handlers"

[[sources]]
kind = "openapi"
document = "openapi.yaml"
base_url = "https://api.example.com"
include = ["GET /invoices/**", "tag:customers"]
credentials.bearerAuth = { env = "BILLING_TOKEN" }
credentials.login = { username = { env = "USER_NAME" }, password = { file = "/run/secrets/password" } }

[prompts]
handlers = "billing.prompts"

[resources]
handlers = "billing.resources"
files = { terms = "docs/terms.md" }
path = "src"
lifespan = "billing.app:pool"
"""

SERVER = '[server]\nname = "a"\nversion = "1"\n'


def load(folder: Path, text: str) -> Project:
    (folder / "discern.toml").write_text(text, encoding="utf-8")
    return Project.load(folder)


def faults(folder: Path, text: str) -> list[tuple[str, str | None, int | None]]:
    with pytest.raises(ProjectError) as caught:
        load(folder, text)
    return [(fault.rule, fault.path, fault.line) for fault in caught.value.diagnostics]


def test_every_key_reaches_its_value(tmp_path: Path):
    assert load(tmp_path, WHOLE) == Project(
        root=tmp_path,
        server=ServerConfig(
            name="billing",
            version="1.4.0",
            title="Billing",
            instructions="Ask before refunding.",
            legacy="serve",
        ),
        features=Features(map=True, accept=False),
        rules={"client.size": False, "client.depth": True},
        sources=(
            PythonSource(module="billing.tools", path=tmp_path / "src", lifespan="billing.app:pool"),
            SchemasSource(
                directory=tmp_path / "definitions",
                dialect="draft-07",
                handlers="billing.handlers",
                path=tmp_path,
            ),
            OpenApiSource(
                document="openapi.yaml",
                base_url="https://api.example.com",
                include=("GET /invoices/**", "tag:customers"),
                credentials={
                    "bearerAuth": Secret(env="BILLING_TOKEN"),
                    "login": {
                        "username": Secret(env="USER_NAME"),
                        "password": Secret(file=Path("/run/secrets/password")),
                    },
                },
            ),
        ),
        prompts=OffersConfig(handlers="billing.prompts", path=tmp_path),
        resources=OffersConfig(
            handlers="billing.resources",
            files={"terms": tmp_path / "docs" / "terms.md"},
            path=tmp_path / "src",
            lifespan="billing.app:pool",
        ),
    )


def test_what_is_left_out_has_its_default(tmp_path: Path):
    project = load(tmp_path, SERVER)
    assert project == Project(root=tmp_path, server=ServerConfig(name="a", version="1"))
    assert project.features == Features(map=True, accept=True)
    assert project.schemas == tmp_path / "schemas"


def test_a_folder_without_the_file_is_no_project(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        Project.load(tmp_path)


def test_the_nearest_project_is_found_at_or_above(tmp_path: Path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "discern.toml").touch()
    assert Project.find(inner) == tmp_path
    assert Project.find(tmp_path) == tmp_path
    (inner / "discern.toml").touch()
    assert Project.find(inner) == inner


def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path):
    text = (
        '[server]\nname = "a"\nlegcy = "serve"\n[features]\nmap = "yes"\n'
        '[[sources]]\nkind = "pyhton"\nmodule = "x"\n[[sources]]\nkind = "python"\nmodule = "not a module"\n'
    )
    assert faults(tmp_path, text) == [
        ("toml.required", "discern.toml#/server/version", 1),
        ("toml.unknown-key", "discern.toml#/server/legcy", 3),
        ("toml.type", "discern.toml#/features/map", 5),
        ("toml.value", "discern.toml#/sources/0/kind", 7),
        ("toml.value", "discern.toml#/sources/1/module", 11),
    ]


def test_an_unknown_key_of_a_source_names_the_nearest_of_its_kind(tmp_path: Path):
    with pytest.raises(ProjectError) as caught:
        load(tmp_path, SERVER + '[[sources]]\nkind = "python"\nmodule = "m"\nmodul = "m"\n')
    assert [fault.fix for fault in caught.value.diagnostics] == ['did you mean "module"?']


def test_an_unreadable_file_is_a_fault_not_a_traceback(tmp_path: Path):
    (tmp_path / "discern.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProjectError) as caught:
        Project.load(tmp_path)
    assert [fault.rule for fault in caught.value.diagnostics] == ["project.unreadable"]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path):
    assert load(tmp_path, "\ufeff" + SERVER).server.name == "a"


@pytest.mark.parametrize("path", ["../elsewhere", "/etc", "a/../../b", "link/inner"])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, path: str):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    text = f'{SERVER}[[sources]]\nkind = "schemas"\ndirectory = "{path}"\n'
    assert faults(folder, text) == [("project.path", "discern.toml#/sources/0/directory", 6)]


def test_an_openapi_document_is_a_path_inside_or_an_https_url(tmp_path: Path):
    text = f'{SERVER}[[sources]]\nkind = "openapi"\ndocument = '
    load(tmp_path, text + '"https://example.com/openapi.json"')
    assert faults(tmp_path, text + '"../openapi.json"') == [("project.path", "discern.toml#/sources/0/document", 6)]


@pytest.mark.parametrize(
    "line",
    [
        'credentials.bearerAuth = "hunter2"',
        'credentials.login = { username = { env = "U" }, password = "hunter2" }',
        'credentials.bearerAuth = { env = "U", file = "hunter2" }',
        "credentials.bearerAuth = {}",
        'base_url = "https://user:hunter2@api.example.com"',
    ],
)
def test_a_secret_is_named_by_reference_and_a_literal_is_never_repeated(tmp_path: Path, line: str):
    text = f'{SERVER}[[sources]]\nkind = "openapi"\ndocument = "a.json"\n{line}\n'
    with pytest.raises(ProjectError) as caught:
        load(tmp_path, text)
    assert [(fault.rule, fault.line) for fault in caught.value.diagnostics] == [("project.secret", 7)]
    assert "hunter2" not in str(caught.value) + str(caught.value.diagnostics)


@pytest.mark.parametrize("lifespan", ["billing.app", "billing.app:", ":pool", "a b:c"])
def test_a_lifespan_that_names_no_function_is_refused(tmp_path: Path, lifespan: str):
    text = f'{SERVER}[[sources]]\nkind = "python"\nmodule = "m"\nlifespan = "{lifespan}"\n'
    assert faults(tmp_path, text) == [("toml.value", "discern.toml#/sources/0/lifespan", 7)]


def test_the_folder_that_accept_writes_is_no_source(tmp_path: Path):
    text = f'{SERVER}[[sources]]\nkind = "schemas"\ndirectory = "./schemas"\n'
    assert faults(tmp_path, text) == [("project.path", "discern.toml#/sources/0/directory", 6)]


def test_a_dialect_that_nobody_knows_is_answered_with_the_known_ones(tmp_path: Path):
    text = f'{SERVER}[[sources]]\nkind = "schemas"\ndirectory = "d"\ndialect = "draft-03"\n'
    assert faults(tmp_path, text) == [("toml.value", "discern.toml#/sources/0/dialect", 7)]


def test_a_rule_that_there_is_not_or_that_is_an_error_cannot_be_switched(tmp_path: Path):
    text = SERVER + '[rules]\n"client.siz" = false\ndefinition.name = false\n"client.size" = 1\n'
    assert faults(tmp_path, text) == [
        ("rules.unknown", "discern.toml#/rules/client.siz", 5),
        ("rules.error", "discern.toml#/rules/definition/name", 6),
        ("rules.switch", "discern.toml#/rules/client.size", 7),
    ]
