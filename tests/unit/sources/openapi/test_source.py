"""The source of kind ``openapi``: from a project's configuration to tools that can be called."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from discern_server.project import CallConfig, OpenApiSource
from discern_server.sources import SourceError, open_source
from discern_server.sources.openapi.source import upstream_settings
from tests.unit.sources.openapi.descriptions import describe

OK = {"responses": {"200": {"description": "ok"}}}
PATHS: dict[str, Any] = {
    "/pets": {"get": {**OK, "operationId": "list"}, "post": {**OK, "operationId": "add"}},
    "/pets/{id}": {"get": {**OK, "operationId": "get", "parameters": [{"name": "id", "in": "path", "schema": {}}]}},
    "/bad": {"get": {**OK, "parameters": [{"name": "x", "in": "nowhere"}]}},
}


def write(folder: Path, document: Any, name: str = "openapi.json") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")


def names(folder: Path, **config: Any) -> list[str]:
    source = open_source(OpenApiSource(document="openapi.json", **config), folder)
    return [definition.name for definition in source.definitions()]


def test_chosen_operations_are_tools_each_with_a_handler(tmp_path: Path):
    write(tmp_path, describe(PATHS))
    source = open_source(OpenApiSource(document="openapi.json", include=("GET /pets/**",)), tmp_path)
    assert [definition.name for definition in source.definitions()] == ["list", "get"]
    assert list(source.handlers()) == ["list", "get"]


def test_an_operation_that_is_refused_is_a_finding_with_its_place(tmp_path: Path):
    write(tmp_path, describe(PATHS, servers=[{"url": "https://api.example.com"}]))
    source = open_source(OpenApiSource(document="openapi.json", exclude=("tag:no",)), tmp_path)
    assert len(source.definitions()) == 3
    assert [(found.rule, found.path) for found in source.findings()] == [
        ("openapi.refused", "openapi.json#/paths/~1bad/get/parameters/0"),
        ("openapi.selection", "discern.toml"),
    ]


def test_a_key_that_stands_twice_in_any_document_is_a_finding(tmp_path: Path):
    pet = '{"get": {"responses": {"200": {"description": "ok"}}}, "get": {"responses": {"200": {"description": "ok"}}}}'
    write(tmp_path, describe({"/a": {"$ref": "a.json"}}, servers=[{"url": "https://a.example"}]))
    write(tmp_path, pet, "a.json")
    source = open_source(OpenApiSource(document="openapi.json"), tmp_path)
    assert [(found.rule, found.path) for found in source.findings()] == [("openapi.duplicate-key", "a.json")]


def test_reading_leaves_the_garbage_collector_as_it_was(tmp_path: Path):
    write(tmp_path, describe(PATHS))
    assert gc.isenabled()
    assert len(names(tmp_path)) == 3
    assert gc.isenabled()
    with pytest.raises(SourceError):
        names(tmp_path / "nowhere")
    assert gc.isenabled()


def test_a_server_that_nobody_names_is_a_finding_unless_the_user_does(tmp_path: Path):
    write(tmp_path, describe({"/pets": PATHS["/pets"]}, servers=[{"url": "/v1"}]))
    source = open_source(OpenApiSource(document="openapi.json"), tmp_path)
    assert [found.rule for found in source.findings()] == ["openapi.server"]
    told = open_source(OpenApiSource(document="openapi.json", base_url="https://a.example"), tmp_path)
    assert told.findings() == ()


def test_a_prefix_goes_before_every_name(tmp_path: Path):
    write(tmp_path, describe(PATHS))
    assert names(tmp_path, prefix="pets-", include=("POST",)) == ["pets-add"]


def test_files_lie_beside_the_document_unless_a_folder_is_allowed(tmp_path: Path):
    write(tmp_path, {"get": {**OK, "operationId": "shared"}}, "shared/item.json")
    write(tmp_path, describe({"/a": {"$ref": "../shared/item.json"}}), "api/openapi.json")
    config: dict[str, Any] = {"document": "api/openapi.json"}
    closed = open_source(OpenApiSource(**config), tmp_path)
    assert closed.definitions() == []
    assert "outside" in closed.findings()[0].message
    opened = open_source(OpenApiSource(**config, root=tmp_path), tmp_path)
    assert [definition.name for definition in opened.definitions()] == ["shared"]


@pytest.mark.parametrize(
    ("document", "config", "rule"),
    [
        (None, {}, "openapi.document"),
        ("a: [1", {}, "openapi.document"),
        ({"swagger": "1.2"}, {}, "openapi.version"),
        (describe({}), {"include": ("GET pets",)}, "openapi.configuration"),
        (describe({}), {"base_url": "ftp://x"}, "openapi.configuration"),
        (describe({}), {"server_variables": {"zone": "eu"}}, "openapi.configuration"),
    ],
)
def test_what_cannot_be_used_is_one_error_that_says_why(tmp_path: Path, document: Any, config: Any, rule: str):
    if document is not None:
        write(tmp_path, document)
    with pytest.raises(SourceError) as caught:
        names(tmp_path, **config)
    assert [found.rule for found in caught.value.diagnostics] == [rule]


def test_a_document_on_plain_http_is_fetched_from_this_machine_alone(tmp_path: Path):
    source = open_source(OpenApiSource(document="http://api.example/openapi.json"), tmp_path)
    with pytest.raises(SourceError, match="over https only"):
        source.definitions()


def test_the_configuration_of_calls_reaches_the_upstream():
    calls = CallConfig(timeout_s=5, max_response_bytes=10, max_attempts=1, invalid_output="deliver")
    settings = upstream_settings(OpenApiSource(document="x", calls=calls))
    assert (settings.limits.timeout_s, settings.limits.max_response_bytes) == (5, 10)
    assert (settings.retry.max_attempts, settings.invalid_output) == (1, "deliver")
    with pytest.raises(SourceError, match="forward_headers"):
        upstream_settings(OpenApiSource(document="x", calls=CallConfig(forward_headers=("Authorization",))))
