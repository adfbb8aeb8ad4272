"""Every verb from an empty directory, in each of its renderings, in real processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discern_server.schema.validate import compile_validator
from discern_server.wire.messages import modern_request
from tests.e2e.cli import discern, make_shop, served

SCHEMAS = Path(__file__).parents[2] / "schemas"
ENVELOPE = json.loads((SCHEMAS / "discern_help.json").read_text(encoding="utf-8"))["outputSchema"]


def test_from_an_empty_directory_to_a_served_tool(tmp_path: Path):
    wrote = discern("init", "--name", "first", cwd=tmp_path)
    assert (wrote.code, wrote.out.splitlines()[0]) == (0, "init: wrote discern.toml")
    assert discern("status", "--json", cwd=tmp_path).envelope["data"]["definitions"]["missing"] == 1
    assert discern("check", cwd=tmp_path).code == 1
    planned = discern("accept", "--dry-run", "--json", cwd=tmp_path).envelope
    assert [step["target"] for step in planned["plan"]] == ["schemas/add.json", "discern.lock"]
    assert not (tmp_path / "schemas").exists()
    assert discern("accept", cwd=tmp_path).code == 0
    assert discern("check", cwd=tmp_path).code == 0
    assert "add" in discern("map", cwd=tmp_path).out
    era = discern("era", "--json", cwd=tmp_path)
    assert (era.code, era.envelope["data"]["revisions"]) == (0, ["2026-07-28"])
    with served("serve", cwd=tmp_path) as server:
        call = modern_request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2.5}})
        assert server.ask(call)["result"]["structuredContent"] == 3.5


VERBS = [
    (["status"], 0),
    (["map"], 0),
    (["map", "count"], 0),
    (["map", "cuont"], 1),
    (["check"], 0),
    (["accept"], 0),
    (["accept", "--dry-run"], 0),
    (["doctor"], 0),
    (["help"], 0),
    (["help", "start"], 0),
    (["help", "nothing"], 1),
    (["init"], 1),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_shop(tmp_path_factory.mktemp("shop"))
    assert discern("accept", cwd=root).code == 0
    return root


@pytest.mark.parametrize(("words", "code"), VERBS, ids=[" ".join(words) for words, _ in VERBS])
def test_text_and_json_say_the_same_and_nothing_else_is_on_standard_output(shop: Path, words: list[str], code: int):
    text, as_json = discern(*words, cwd=shop), discern(*words, "--json", cwd=shop)
    assert (text.code, as_json.code) == (code, code)
    envelope = as_json.envelope
    assert compile_validator(ENVELOPE).diagnose(envelope) == ()
    assert envelope["ok"] is (code == 0)
    assert text.out.splitlines()[0] == f"{words[0]}: {envelope['message']}"
    assert "the shop is imported" not in text.out + as_json.out
    assert "\x1b" not in text.out


TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("status", {}),
    ("map", {}),
    ("map", {"name": "count"}),
    ("map", {"name": "cuont"}),
    ("check", {}),
    ("accept", {"dry_run": True}),
    ("accept", {}),
    ("doctor", {}),
    ("help", {}),
    ("help", {"topic": "start"}),
]


def test_a_tool_gives_the_envelope_that_the_command_line_gives(shop: Path):
    with served("mcp", cwd=shop) as server:
        for verb, arguments in TOOLS:
            result = server.ask(modern_request("tools/call", {"name": f"discern_{verb}", "arguments": arguments}))[
                "result"
            ]
            words = [str(value) for value in arguments.values() if value is not True]
            flags = [f"--{name.replace('_', '-')}" for name, value in arguments.items() if value is True]
            envelope = discern(verb, *words, *flags, "--json", cwd=shop).envelope
            assert result["structuredContent"] == envelope, verb
            assert json.loads(result["content"][0]["text"]) == envelope
            assert result.get("isError", False) is not envelope["ok"]


def test_a_source_with_faults_is_told_by_every_verb_that_asks_it(tmp_path: Path):
    root = make_shop(tmp_path)
    (root / "shop.py").write_text("from discern_server import tool\n@tool\ndef f(a): ...\n", encoding="utf-8")
    for verb in ("status", "check", "accept"):
        answer = discern(verb, "--json", cwd=root)
        assert answer.code == 1
        (finding,) = answer.envelope["diagnostics"]
        assert (finding["path"], finding["line"], finding["rule"]) == ("shop.py", 2, "python.annotation")
