"""``discern mcp``: the verbs as tools, spoken to in raw JSON-RPC."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.messages import initialize, modern_request, request
from discern_server.wire.revisions import CAPABILITIES_KEY, VERSION_KEY
from discern_server.wire.stdio import StdioServer
from tests.e2e.cli import discern, environment, make_shop, served

SCHEMAS = Path(__file__).parents[2] / "schemas"
ALL = sorted(file.stem for file in SCHEMAS.glob("*.json"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_shop(tmp_path)


@pytest.fixture
def server(root: Path) -> Iterator[StdioServer]:
    with served("mcp", cwd=root) as server:
        yield server


def names(server: StdioServer) -> list[str]:
    return [tool["name"] for tool in server.ask(modern_request("tools/list"))["result"]["tools"]]


def call(server: StdioServer, name: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = server.ask(modern_request("tools/call", {"name": name, "arguments": arguments}))
    return answer


def envelope(answer: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = answer["result"]["structuredContent"]
    return content


def test_each_tool_is_listed_as_its_file_says_byte_for_byte(server: StdioServer):
    server.send(modern_request("tools/list"))
    line = server.receive_line()
    for file in SCHEMAS.glob("*.json"):
        definition = json.loads(file.read_text(encoding="utf-8"))
        assert json.dumps(definition, ensure_ascii=False, separators=(",", ":")).encode() in line


def test_it_is_of_the_modern_era_and_refuses_the_legacy_one(server: StdioServer):
    refused = server.ask(initialize())["error"]
    assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])
    assert names(server) == ALL


@pytest.mark.parametrize(
    ("words", "settings"), [(["--legacy", "serve"], {}), ([], {"DISCERN_LEGACY": "serve"})], ids=["option", "variable"]
)
def test_legacy_clients_are_served_where_that_is_asked_for(root: Path, words: list[str], settings: dict[str, str]):
    with served("mcp", *words, cwd=root, **settings) as server:
        assert server.ask(initialize())["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("feature", ["map", "accept"])
def test_a_tool_whose_feature_is_off_is_not_there_and_is_back_when_it_is_on(
    root: Path, server: StdioServer, feature: str
):
    config = (root / "discern.toml").read_text(encoding="utf-8")
    assert names(server) == ALL
    (root / "discern.toml").write_text(f"{config}\n[features]\n{feature} = false\n", encoding="utf-8")
    assert names(server) == [name for name in ALL if name != f"discern_{feature}"]
    assert call(server, f"discern_{feature}")["error"]["code"] == -32602
    (root / "discern.toml").write_text(config, encoding="utf-8")
    assert names(server) == ALL
    assert call(server, f"discern_{feature}")["result"]["structuredContent"]["verb"] == feature


def test_a_tool_without_arguments_takes_them_absent_null_and_empty(server: StdioServer):
    meta = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}
    forms: tuple[dict[str, Any], ...] = ({}, {"arguments": None}, {"arguments": {}})
    for more in forms:
        for name in ("discern_status", "discern_doctor"):
            answer = server.ask(request("tools/call", {"name": name, **more, "_meta": meta}))
            assert answer["result"]["structuredContent"]["ok"] is True, more


def test_without_a_project_a_tool_says_so_in_an_ordinary_result(tmp_path: Path):
    with served("mcp", cwd=tmp_path) as server:
        for name in ("discern_status", "discern_map", "discern_check", "discern_accept", "discern_era"):
            answer = call(server, name)
            assert answer["result"]["isError"] is True
            assert envelope(answer)["error"] == "not_initialized"
        make_shop(tmp_path)
        assert envelope(call(server, "discern_status"))["ok"] is True


def test_a_faulty_project_file_is_told_by_the_tool(root: Path, server: StdioServer):
    (root / "discern.toml").write_text("[sever]\n", encoding="utf-8")
    answer = call(server, "discern_check")
    assert answer["result"]["isError"] is True
    assert envelope(answer)["error"] == "invalid_project"


def test_each_answer_is_about_the_files_as_they_are_then(root: Path, server: StdioServer):
    """Python keeps what it imported; a server that lives on must not."""
    assert envelope(call(server, "discern_accept"))["ok"] is True
    assert envelope(call(server, "discern_check"))["ok"] is True
    source = (root / "shop.py").read_text(encoding="utf-8")
    (root / "shop.py").write_text(source.replace("Count what is in stock.", "Count things."), encoding="utf-8")
    findings = envelope(call(server, "discern_check"))["diagnostics"]
    assert [finding["rule"] for finding in findings] == ["schemas.stale"]
    assert envelope(call(server, "discern_accept"))["steps"][0]["target"] == "schemas/count.json"
    assert envelope(call(server, "discern_check"))["ok"] is True


@pytest.mark.parametrize(
    ("source", "said"),
    [("import os\nos._exit(7)\n", "ended with 7"), ("import os\nos.kill(os.getpid(), 9)\n", "ended with -9")],
    ids=["exits", "is killed"],
)
def test_a_source_that_takes_its_process_down_does_not_take_the_server_down(
    root: Path, server: StdioServer, source: str, said: str
):
    (root / "shop.py").write_text(source, encoding="utf-8")
    (finding,) = envelope(call(server, "discern_check"))["diagnostics"]
    assert said in finding["message"]
    assert names(server) == ALL


def test_nothing_but_messages_is_on_standard_output(server: StdioServer):
    for name in ("discern_check", "discern_accept", "discern_status"):
        call(server, name)
    assert server.noise == []


def test_a_project_outside_the_root_is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = make_shop(tmp_path_factory.mktemp("outside"))
    inside = root / "inside"
    inside.mkdir()
    make_shop(inside)
    (root / "link").symlink_to(outside)
    with served("mcp", "--root", root, cwd=outside) as server:
        for project in ("..", str(outside), "link", f"inside/../../{outside.name}", "\0"):
            for name in ("discern_map", "discern_check", "discern_accept", "discern_era"):
                answer = call(server, name, project=project)
                assert (answer["result"]["isError"], envelope(answer)["error"]) == (True, "outside_root"), project
        assert envelope(call(server, "discern_accept", project="inside"))["ok"] is True
    assert (inside / "schemas" / "count.json").exists()
    assert not (outside / "schemas").exists()
    assert not (root / "schemas").exists()


def test_a_root_that_is_no_project_does_not_reach_for_the_one_above(root: Path):
    below = root / "below"
    below.mkdir()
    with served("mcp", "--root", below, cwd=root) as server:
        assert envelope(call(server, "discern_status"))["error"] == "not_initialized"


def test_the_tool_of_era_reads_the_revision_off_the_wire(root: Path, server: StdioServer):
    call(server, "discern_accept")
    answer = envelope(call(server, "discern_era", require="2026-07-28", forbid_legacy=True))
    assert (answer["ok"], answer["data"]["verdict"]) == (True, "modern-only")
    assert envelope(call(server, "discern_era", require="2025-11-25"))["error"] == "unexpected_era"


def test_mcp_takes_no_json_and_an_unknown_policy_is_told(tmp_path: Path):
    assert discern("mcp", "--json", cwd=tmp_path).code == 2
    answer = discern("mcp", cwd=tmp_path, env=environment(DISCERN_LEGACY="maybe"))
    assert (answer.code, answer.out) == (2, "")
    assert "DISCERN_LEGACY is 'maybe'" in answer.err


def test_serving_the_verbs_loads_no_schema_generator_and_no_source_it_does_not_use(root: Path):
    program = (
        "import sys; from pathlib import Path; from discern_server.verbs.mcp import verbs_factory;"
        "verbs_factory(Path(sys.argv[1]));"
        "print([name for name in sys.modules if name.startswith(('discern_server.sources.json_schema',"
        " 'discern_server.sources.openapi', 'discern_server.sources.folder'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)], capture_output=True, text=True, timeout=180, check=True
    )
    assert done.stdout == "[]\n"
