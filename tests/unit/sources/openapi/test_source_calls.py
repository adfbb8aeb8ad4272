"""What ``discern.toml`` says about calls, from the file to the upstream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discern_server.project import FILE_NAME, OpenApiSource, Project
from discern_server.sources import SourceError
from discern_server.sources.openapi.source import OpenApi, upstream_settings
from discern_server.upstream.api import UpstreamSettings
from discern_server.upstream.limits import IDEMPOTENT, Limits, RetryPolicy

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "paths": {
        "/j": {
            "get": {
                "operationId": "op",
                "responses": {
                    "200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}
                },
            }
        }
    },
}


def source(root: Path, lines: str = "") -> OpenApiSource:
    (root / "openapi.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    head = '[server]\nname = "s"\nversion = "1"\n[[sources]]\nkind = "openapi"\ndocument = "openapi.json"\n'
    (root / FILE_NAME).write_text(head + lines, encoding="utf-8")
    (found,) = Project.load(root).sources
    assert isinstance(found, OpenApiSource)
    return found


def test_without_a_word_calls_are_made_as_upstream_has_it(tmp_path):
    assert upstream_settings(source(tmp_path)) == UpstreamSettings()


def test_every_key_reaches_the_upstream(tmp_path):
    lines = """
timeout_s = 2.5
max_response_bytes = 1000
max_attempts = 5
retry_methods = ["POST"]
forward_headers = ["X-Tenant"]
client_authentication = "body"
invalid_output = "deliver"
"""
    assert upstream_settings(source(tmp_path, lines)) == UpstreamSettings(
        limits=Limits(timeout_s=2.5, max_response_bytes=1000),
        retry=RetryPolicy(max_attempts=5, methods=IDEMPOTENT | {"POST"}),
        forward_headers=("X-Tenant",),
        client_authentication="body",
        invalid_output="deliver",
    )


def test_a_header_that_can_never_be_forwarded_is_a_fault_of_the_configuration(tmp_path):
    with pytest.raises(SourceError, match="Authorization"):
        upstream_settings(source(tmp_path, 'forward_headers = ["Authorization"]\n'))


@pytest.mark.parametrize(("policy", "promised"), [("error", True), ("deliver", False)])
def test_tools_that_deliver_what_comes_promise_no_schema(tmp_path, policy, promised):
    made = OpenApi(source(tmp_path, f'invalid_output = "{policy}"\n'), tmp_path)
    (definition,) = made.definitions()
    assert (definition.output_schema is not None) == promised
