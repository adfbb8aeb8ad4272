"""What the README shows is what happens."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_library_example_is_short_and_serves_its_tool(tmp_path):
    (example,) = blocks("python")
    assert len(example.splitlines()) < 20
    (tmp_path / "billing.py").write_text(example, encoding="utf-8")
    with StdioServer([sys.executable, str(tmp_path / "billing.py")], limits=PATIENT) as server:
        good = server.ask(modern_request("tools/call", {"name": "refund", "arguments": {"amount": 5}}))
        assert good["result"]["structuredContent"] == {"refunded": 5}
        bad = server.ask(modern_request("tools/call", {"name": "refund", "arguments": {"amount": -5}}, id=2))
        assert bad["result"]["isError"] is True


def test_the_two_commands_are_what_the_checks_run():
    run = ROOT / ".ci" / "run"
    if not run.exists():
        pytest.skip("the source distribution has no .ci")
    script = run.read_text(encoding="utf-8")
    for command in blocks("sh")[:2]:
        assert command.strip() in script


def test_every_page_that_the_readme_links_to_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
