"""The whole way: an API description, ``discern init``, ``accept`` and ``serve``, a raw client, a real API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e import petstore_api
from tests.e2e.bounded import PATIENT

SECRET = "s3cret-key-of-the-store"
ENVIRONMENT = {**os.environ, "SHOP_KEY": SECRET}
DISCERN = [sys.executable, "-m", "discern_server"]


def discern(project: Path, *arguments: str) -> Any:
    """Run a verb and give its answer."""
    done = subprocess.run(
        [*DISCERN, *arguments, "--json"], cwd=project, env=ENVIRONMENT, capture_output=True, timeout=120, check=False
    )
    return json.loads(done.stdout)


def turn_on(project: Path, *operations: str) -> None:
    """Take the ``#`` away before operations in the project file."""
    file = project / "discern.toml"
    text = file.read_text(encoding="utf-8")
    for operation in operations:
        assert f'  # "{operation}",' in text
        text = text.replace(f'  # "{operation}",', f'  "{operation}",')
    file.write_text(text + "timeout_s = 5\nmax_response_bytes = 100_000\n", encoding="utf-8")


@dataclass(frozen=True)
class Served:
    """A served project, and the API behind it."""

    project: Path
    api: petstore_api.Api
    server: StdioServer

    def ask(self, method: str, **params: Any) -> Any:
        return self.server.ask(modern_request(method, params))["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=tool, arguments=arguments)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    project = tmp_path_factory.mktemp("shop")
    (project / "openapi.yaml").write_text(petstore_api.DOCUMENT, encoding="utf-8")
    with petstore_api.serve() as api:
        begun = discern(project, "init", "--openapi", "openapi.yaml", "--base-url", api.url, "--name", "shop")
        assert begun["ok"], begun
        assert begun["data"]["off"] == ["POST /pets", "DELETE /pets/{id}"]
        assert begun["data"]["credentials"] == [
            {"scheme": "key", "kind": "API key in header X-Key", "variables": ["SHOP_KEY"]}
        ]
        turn_on(project, "POST /pets", "DELETE /pets/{id}")
        assert discern(project, "accept")["ok"]
        assert discern(project, "check")["ok"]
        with StdioServer([*DISCERN, "serve"], cwd=project, env=ENVIRONMENT, limits=PATIENT) as server:
            yield Served(project, api, server)


def text_of(result: Any) -> str:
    return "\n".join(block["text"] for block in result["content"])


def test_a_client_sees_the_operations_that_are_on(served: Served):
    tools = {tool["name"]: tool for tool in served.ask("tools/list")["tools"]}
    assert sorted(tools) == ["addPet", "getPet", "listPets", "removePet"]
    assert tools["addPet"]["inputSchema"]["properties"]["body"]["required"] == ["name"]
    assert tools["getPet"]["annotations"]["readOnlyHint"]


def test_a_call_is_the_request_that_the_description_asks_for(served: Served):
    served.api.answer(200, [{"id": 1, "name": "Rex"}])
    result = served.call("listPets", limit=5, tags=["a b", "c,d"])
    assert result["structuredContent"] == [{"id": 1, "name": "Rex"}]
    request = served.api.requests.pop()
    assert (request.method, request.target) == ("GET", "/pets?limit=5&tags=a%20b,c%2Cd")
    assert request.headers["X-Key"] == SECRET
    assert "Authorization" not in request.headers


def test_a_body_goes_out_as_json_and_an_empty_answer_is_a_success(served: Served):
    served.api.answer(201, {"id": 2, "name": "é"})
    assert served.call("addPet", body={"name": "é"})["structuredContent"] == {"id": 2, "name": "é"}
    request = served.api.requests.pop()
    assert (request.method, json.loads(request.body)) == ("POST", {"name": "é"})
    served.api.answer(204)
    result = served.call("removePet", id=2)
    assert not result.get("isError")
    assert served.api.requests.pop().target == "/pets/2"


def test_arguments_that_break_the_definition_reach_no_api(served: Served):
    result = served.call("listPets", limit=1000, colour="red")
    assert result["isError"]
    assert "colour" in text_of(result)
    assert served.api.requests == []


def test_401_and_500_are_errors_that_tell_what_the_api_said_and_no_secret(served: Served):
    for status in (401, 500):
        served.api.answer(status, {"title": "no", "detail": f"the key {SECRET} is bad"}, X_Request_Id="r-1")
        result = served.call("addPet", body={"name": "x"})
        served.api.requests.clear()
        assert result["isError"]
        assert str(status) in text_of(result)
        assert "r-1" in text_of(result)
        assert SECRET not in json.dumps(result)
        assert "structuredContent" not in result


def test_429_is_asked_again_when_the_api_says_so_and_not_beyond_the_time_limit(served: Served):
    served.api.answer(429, {"title": "slow down"}, Retry_After="0")
    served.api.answer(200, {"id": 1, "name": "Rex"})
    assert served.call("getPet", id=1)["structuredContent"] == {"id": 1, "name": "Rex"}
    assert len(served.api.requests) == 2
    served.api.requests.clear()
    served.api.answer(429, {"title": "tomorrow"}, Retry_After="86400")
    result = served.call("getPet", id=1)
    assert result["isError"]
    assert "429" in text_of(result)
    assert len(served.api.requests) == 1
    served.api.requests.clear()


def test_an_answer_that_does_not_come_in_time_is_an_error(served: Served):
    served.api.answer_never()
    result = served.call("addPet", body={"name": "x"})
    assert result["isError"]
    assert "5 s" in text_of(result)
    served.api.requests.clear()


def test_an_answer_of_50_mb_comes_back_bounded_and_says_so(served: Served):
    served.api.answer_without_end(50)
    result = served.call("listPets")
    served.api.requests.clear()
    assert result["isError"]
    assert "structuredContent" not in result
    assert len(json.dumps(result)) < 100_000
    served.api.answer(200, [])
    assert served.call("listPets")["structuredContent"] == []
    served.api.requests.clear()


def test_a_dry_run_shows_the_request_and_sends_nothing(served: Served):
    shown = discern(served.project, "call", "getPet", "--args", '{"id": 7}', "--dry-run")
    assert shown["data"]["request"]["url"] == f"{served.api.url}/pets/7"
    assert ["X-Key", "***"] in shown["data"]["request"]["headers"]
    assert shown["data"]["http"].startswith("GET /pets/7 HTTP/1.1\nHost: ")
    assert served.api.requests == []


def test_call_answers_with_what_a_client_would_get(served: Served):
    served.api.answer(200, {"id": 7, "name": "Tom"})
    answer = discern(served.project, "call", "getPet", "--args", '{"id": 7}')
    assert answer["data"]["structuredContent"] == {"id": 7, "name": "Tom"}
    served.api.requests.clear()
    refused = discern(served.project, "call", "nobody")
    assert refused["error"] == "protocol_error"


def test_drift_between_the_description_and_the_files_is_found(served: Served):
    document = served.project / "openapi.yaml"
    before = document.read_text(encoding="utf-8")
    document.write_text(before.replace("maximum: 100", "maximum: 50"), encoding="utf-8")
    try:
        checked = discern(served.project, "check")
        assert not checked["ok"]
        assert [finding["path"] for finding in checked["diagnostics"]] == ["schemas/listPets.json"]
    finally:
        document.write_text(before, encoding="utf-8")


def test_a_person_at_a_terminal_is_told_what_takes_a_while(tmp_path: Path):
    """And nobody else: an answer in JSON, read by a program, has a clean standard error beside it."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [*DISCERN, "init", "--openapi", "none.json", "--json"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, timeout=120, check=False)
    os.close(theirs)
    assert os.read(ours, 4096).startswith(b"reading none.json ...")
    os.close(ours)
    assert json.loads(done.stdout)["error"] == "invalid_sources"
    quiet = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert quiet.stderr == b""
