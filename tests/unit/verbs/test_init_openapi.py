"""``discern init --openapi``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from discern_server.project import OpenApiSource, Project, Secret
from discern_server.verbs.init_openapi import init_openapi
from tests.unit.sources.openapi.descriptions import describe

OK = {"responses": {"200": {"description": "ok"}}}


def write(folder: Path, paths: dict[str, Any], **top: Any) -> None:
    (folder / "openapi.json").write_text(json.dumps(describe(paths, **top)), encoding="utf-8")


def source_of(folder: Path) -> OpenApiSource:
    (source,) = Project.load(folder).sources
    assert isinstance(source, OpenApiSource)
    return source


def test_what_reads_is_on_and_what_writes_is_listed_and_off(tmp_path: Path):
    write(
        tmp_path,
        {"/pets": {"get": OK, "post": {**OK, "summary": 'Add a "pet"\n# now'}}, "/bad": {"get": {"parameters": 1}}},
        servers=[{"url": "https://api.example.com"}],
    )
    result = init_openapi(tmp_path, "openapi.json", name="shop")
    assert result.ok
    assert result.data["operations"] == 3
    assert result.data["tools"] == ["get_pets"]
    assert result.data["off"] == ["POST /pets"]
    assert result.data["refused"] == ["GET /bad"]
    assert "openapi.refused" in [finding.rule for finding in result.diagnostics]
    assert source_of(tmp_path).include == ("method:read",)


def test_an_operation_is_turned_on_by_taking_its_hash_away(tmp_path: Path):
    write(tmp_path, {"/a b": {"post": {**OK, "summary": "# odd"}}, "/pets/{id}": {"delete": OK}})
    init_openapi(tmp_path, "openapi.json")
    file = tmp_path / "discern.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'^  # (?=")', "  ", text, flags=re.MULTILINE), encoding="utf-8")
    assert source_of(tmp_path).include == ("method:read", "POST /a b", "DELETE /pets/{id}")


def test_credentials_are_named_by_variable(tmp_path: Path):
    schemes = {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "user": {"type": "http", "scheme": "basic"},
        "o auth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}}},
        "unused": {"type": "http", "scheme": "bearer"},
    }
    write(
        tmp_path,
        {"/a": {"get": OK}},
        components={"securitySchemes": schemes},
        security=[{"key": []}, {"user": [], "o auth": []}],
    )
    result = init_openapi(tmp_path, "openapi.json", name="my-shop")
    assert source_of(tmp_path).credentials == {
        "key": Secret(env="MY_SHOP_KEY"),
        "user": {"username": Secret(env="MY_SHOP_USER_USERNAME"), "password": Secret(env="MY_SHOP_USER_PASSWORD")},
        "o auth": {
            "client_id": Secret(env="MY_SHOP_O_AUTH_CLIENT_ID"),
            "client_secret": Secret(env="MY_SHOP_O_AUTH_CLIENT_SECRET"),
        },
    }
    assert "MY_SHOP_KEY" in result.hints[0]


def test_a_server_that_nobody_names_is_asked_for(tmp_path: Path):
    write(tmp_path, {"/a": {"get": OK}})
    result = init_openapi(tmp_path, "openapi.json", dry_run=True)
    assert [finding.rule for finding in result.diagnostics] == ["openapi.server"]
    told = init_openapi(tmp_path, "openapi.json", base_url="http://localhost:8000")
    assert told.diagnostics == ()
    assert source_of(tmp_path).base_url == "http://localhost:8000"


@pytest.mark.parametrize(
    ("document", "error"),
    [("missing.json", "invalid_sources"), ("../openapi.json", "invalid_project"), ("ftp://a/b", "invalid_project")],
)
def test_nothing_is_written_for_what_cannot_be_read(tmp_path: Path, document: str, error: str):
    result = init_openapi(tmp_path, document)
    assert (result.ok, result.error) == (False, error)
    assert result.diagnostics
    assert not (tmp_path / "discern.toml").exists()


def test_nothing_is_overwritten(tmp_path: Path):
    (tmp_path / "discern.toml").write_text("", encoding="utf-8")
    assert init_openapi(tmp_path, "openapi.json").error == "exists"
