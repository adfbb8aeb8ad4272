"""``discern call``: what it refuses before anything is started, and how an answer is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discern_server.result import DiscernResult
from discern_server.verbs.call import call, for_people
from tests.unit.sources.openapi.descriptions import describe

PARAMETERS = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
UPLOAD = {"content": {"application/octet-stream": {}}, "required": True}
OK = {"200": {"description": "ok"}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    paths = {
        "/pets/{id}": {"get": {"operationId": "getPet", "parameters": PARAMETERS, "responses": OK}},
        "/files": {"post": {"operationId": "upload", "requestBody": UPLOAD, "responses": OK}},
    }
    (tmp_path / "openapi.json").write_text(json.dumps(describe(paths)), encoding="utf-8")
    lines = ["[server]", 'name = "x"', 'version = "1"', "[[sources]]", 'kind = "openapi"', 'document = "openapi.json"']
    (tmp_path / "discern.toml").write_text("\n".join([*lines, 'base_url = "https://a.example"']), encoding="utf-8")
    return tmp_path


def preview(project: Path, tool: str, arguments: Any) -> DiscernResult:
    text = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    return call(project, tool, text, dry_run=True)


def test_a_dry_run_shows_the_request(project: Path):
    result = preview(project, "getPet", {"id": 3})
    assert result.ok
    assert result.dry_run
    assert result.data["request"]["method"] == "GET"
    assert result.data["request"]["url"] == "https://a.example/pets/3"


def test_people_see_the_request_as_it_goes_out(project: Path):
    shown = for_people(preview(project, "getPet", {"id": 3})).data
    assert shown.splitlines()[:2] == ["GET /pets/3 HTTP/1.1", "Host: a.example"]


def test_bytes_are_shown_as_base64(project: Path):
    request = preview(project, "upload", {"body": {"base64": "/wA="}}).data["request"]
    assert request["body_base64"] == "/wA="
    assert "body" not in request


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("getPet", b"{", "invalid_arguments"),
        ("getPet", b"[]", "invalid_arguments"),
        ("getPet", {"id": "x"}, "invalid_arguments"),
        ("nobody", {}, "no_preview"),
    ],
)
def test_what_cannot_be_shown_is_refused(project: Path, tool: str, arguments: Any, error: str):
    assert preview(project, tool, arguments).error == error


def test_there_has_to_be_a_project(tmp_path: Path):
    assert call(tmp_path, "x", b"{}").error == "not_initialized"


def test_people_see_an_answer_once():
    text = {"type": "text", "text": "[1]"}
    both = DiscernResult(ok=True, verb="call", data={"content": [text], "structuredContent": [1]})
    assert for_people(both).data == {"structuredContent": "[\n  1\n]"}
    assert for_people(DiscernResult(ok=True, verb="call", data={"content": [text]})).data == "[1]"
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    assert for_people(DiscernResult(ok=True, verb="call", data={"content": [text, image]})).data == [
        "[1]",
        {"type": "image"},
    ]
