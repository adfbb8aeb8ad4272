"""The project's own cases, run from the document to the request and the result: see `tests.suites.openapi_cases`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.suites import openapi_cases

CASES = sorted((Path(__file__).parents[3] / "cases" / "openapi").glob("*.json"))
SHARED = Path(__file__).parents[5] / "shared" / "cases" / "openapi"


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_a_case_holds(file: Path):
    assert openapi_cases.run(json.loads(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"request": {"method": "GET"}}, "method is POST"),
        ({"request": {"url": "https://api.example.com/u"}}, "url is"),
        ({"request": {"headers": {"X": "1"}}}, "header X is None"),
        ({"request": {"absent_headers": ["Content-Type"]}}, "is there"),
        ({"request": {"content_type": "text/plain"}}, "content type is"),
        ({"request": {"body": {"json": {"n": True}}}}, "the body is"),
        ({"request": {"body": {"none": True}}}, "there is a body"),
        ({"requests_count": 2}, "1 requests were sent, not 2"),
        ({"max_requests": 0}, "more than 0"),
        ({"no_requests_to": ["api.example.com"]}, "a request went to"),
        ({"secrets_only_to": {"secrets": ["word"], "origins": []}}, "a secret went to"),
        ({"result": {"is_error": True}}, "isError is False"),
        ({"result": {"structured": {"a": 2}}}, "structured content is"),
        ({"result": {"structured": "absent"}}, "there is structured content"),
        ({"result": {"text_contains": ["nothing"]}}, "has no 'nothing'"),
        ({"result": {"class": "invalid_arguments"}}, "not refused"),
        ({"input": {"valid": [{"body": {"n": "x"}}]}}, "input refuses"),
        ({"input": {"invalid": [{"body": {"n": 1}}]}}, "input accepts"),
        ({"output": {"valid": [{}]}}, "no outputSchema"),
        ({"tools": {"count": 2}}, "there are 1 tools"),
        ({"load": "error"}, "should be refused"),
        ({"facts": [{"fact": "keyword_absent", "of": "input", "keyword": "type"}]}, "type is there"),
        ({"facts": [{"fact": "not_exposed", "in": "body", "name": "n"}]}, "there is a property"),
        ({"facts": [{"fact": "default_is", "in": "body", "name": "n", "value": 1}]}, "the defaults are"),
        ({"facts": [{"fact": "unheard"}]}, "not known"),
        ({"either": [{"requests_count": 2}, {"result": {"is_error": True}}]}, "none of the alternatives"),
        ({"max_elapsed_s": -1}, "the call took"),
    ],
)
def test_the_runner_sees_what_does_not_hold(expect: dict, told: str):
    """A runner that passes everything would prove nothing."""
    body = {"type": "object", "properties": {"n": {"type": "integer"}, "w": {"type": "string"}}, "required": ["n"]}
    case = {
        "id": "own",
        "spec_version": "3.0.3",
        "document": {
            "openapi": "3.0.3",
            "info": {"title": "t", "version": "1"},
            "servers": [{"url": "https://api.example.com/v1"}],
            "paths": {
                "/u": {
                    "post": {
                        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
                        "responses": {"200": {"description": "ok"}},
                    }
                }
            },
        },
        "operation": "POST /u",
        "arguments": {"body": {"n": 1, "w": "word"}},
        "upstream": [{"status": 200, "body_json": {"a": 1}}],
        "expect": expect,
    }
    failures = openapi_cases.run(case)
    assert any(told in failure for failure in failures), failures


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared cases are not here")
def test_the_shared_cases_that_need_no_time_hold():
    for file in sorted(SHARED.glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        waits = any(answer.get("delay_s") for answer in case.get("upstream", ()))
        assert waits or openapi_cases.run(case) == [], file.stem
