"""``discern serve``: a project's own tools over stdio."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.messages import initialize, modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.cli import SHOP_PROJECT, discern, environment, make_shop, served


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_shop(tmp_path)
    assert discern("accept", cwd=tmp_path).code == 0
    return tmp_path


def call(server: StdioServer, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = server.ask(modern_request("tools/call", {"name": name, "arguments": arguments}))["result"]
    return result


def test_the_files_are_served_by_the_functions_with_what_their_lifespan_opened(root: Path):
    with served("serve", cwd=root) as server:
        discovered = server.ask(modern_request("server/discover"))["result"]
        assert discovered["instructions"] == "Count first."
        assert [tool["name"] for tool in server.ask(modern_request("tools/list"))["result"]["tools"]] == [
            "count",
            "deliver",
        ]
        assert call(server, "count", what="apples")["structuredContent"] == 3
        assert call(server, "deliver", on="2026-07-28")["structuredContent"] == "28.07.2026"
        refused = call(server, "deliver", on="someday")
        assert refused["isError"] is True
        assert refused["structuredContent"]["diagnostics"][0]["path"] == "/on"
        failed = call(server, "count", what="pears")
        assert failed["structuredContent"]["error"] == "tool_failed"
        assert server.noise == []
    assert "the shop is imported" in server.stderr


@pytest.mark.parametrize(
    ("change", "error", "rule"),
    [
        (lambda root: (root / "schemas/count.json").unlink(), "stale", "schemas.missing"),
        (lambda root: (root / "schemas/count.json").write_text("{}"), "invalid_definitions", "definition.name"),
        (lambda root: (root / "shop.py").write_text("import nothing_there"), "invalid_sources", "python.import"),
        (
            lambda root: (root / "discern.toml").write_text(SHOP_PROJECT.replace("shop:stock", "shop:stocks")),
            "invalid_sources",
            "python.import",
        ),
        (lambda root: (root / "discern.toml").write_text("[server]"), "invalid_project", "toml.required"),
        (lambda root: (root / "discern.toml").unlink(), "not_initialized", None),
        (
            lambda root: (root / "schemas/more.json").write_text('{"name": "more", "inputSchema": {"type": "object"}}'),
            "no_handler",
            "serve.handler",
        ),
    ],
    ids=["missing", "faulty file", "faulty source", "no lifespan", "faulty project", "no project", "no handler"],
)
def test_what_cannot_be_served_is_told_on_standard_error_before_anything_is(root: Path, change, error, rule):
    change(root)
    answer = discern("serve", cwd=root)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.splitlines()[-1].startswith("next:") or rule in answer.err
    assert rule is None or rule in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("verb", ["serve", "mcp"])
def test_keys_that_cannot_seal_are_told_before_anything_is_served_and_not_repeated(root: Path, verb: str):
    answer = discern(verb, cwd=root, env=environment(DISCERN_STATE_KEYS="unspoken"))
    assert (answer.code, answer.out) == (2, "")
    assert f"discern {verb}: DISCERN_STATE_KEYS: key 1 has 8 bytes" in answer.err
    assert "unspoken" not in answer.err
    assert "Traceback" not in answer.err


def test_the_files_are_served_as_they_stand_although_the_sources_would_generate_others(root: Path):
    """Whether they are current is for `discern check`: an update of a generator must not stop a server."""
    definition = json.loads((root / "schemas/count.json").read_text(encoding="utf-8"))
    definition["description"] = "As it was accepted."
    (root / "schemas/count.json").write_text(json.dumps(definition), encoding="utf-8")
    assert discern("check", cwd=root).code == 1
    with served("serve", cwd=root) as server:
        (count, _) = server.ask(modern_request("tools/list"))["result"]["tools"]
        assert count["description"] == "As it was accepted."


def test_the_project_says_whether_legacy_clients_are_served_and_the_command_line_has_the_last_word(root: Path):
    text = SHOP_PROJECT.replace('version = "1.0"', 'version = "1.0"\nlegacy = "serve"')
    (root / "discern.toml").write_text(text, encoding="utf-8")
    with served("serve", cwd=root) as server:
        assert server.ask(initialize())["result"]["protocolVersion"] == "2025-11-25"
    with served("serve", "--legacy", "reject", cwd=root) as server:
        assert server.ask(initialize())["error"]["code"] == -32022
    with served("serve", cwd=root, DISCERN_LEGACY="reject") as server:
        assert server.ask(initialize())["error"]["code"] == -32022


def test_handlers_run_in_the_projects_folder_wherever_it_was_started(root: Path):
    source = "import os\nfrom discern_server import tool\n@tool\ndef where() -> str:\n    return os.getcwd()\n"
    (root / "shop.py").write_text(source, encoding="utf-8")
    (root / "discern.toml").write_text(SHOP_PROJECT.replace('lifespan = "shop:stock"', ""), encoding="utf-8")
    assert discern("accept", cwd=root).code == 0
    with served("serve", "--root", root, cwd=root.parent) as server:
        assert call(server, "where")["structuredContent"] == str(root)


def test_each_source_has_the_state_of_its_own_lifespan(root: Path):
    (root / "other.py").write_text(
        "from contextlib import asynccontextmanager\n"
        "@asynccontextmanager\nasync def opened():\n    yield 'other'\n"
        "async def state(args, ctx):\n    return [ctx.state, ctx.request_id, ctx.scope.era]\n",
        encoding="utf-8",
    )
    (root / "definitions").mkdir()
    (root / "definitions" / "state.json").write_text('{"type": "object"}', encoding="utf-8")
    source = '[[sources]]\nkind = "schemas"\ndirectory = "definitions"\nhandlers = "other"\nlifespan = "other:opened"\n'
    (root / "discern.toml").write_text(SHOP_PROJECT + source, encoding="utf-8")
    assert discern("accept", cwd=root).code == 0
    with served("serve", cwd=root) as server:
        assert call(server, "state")["structuredContent"] == ["other", 1, "modern"]
        assert call(server, "count", what="apples")["structuredContent"] == 3
