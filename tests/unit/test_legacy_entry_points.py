"""The lint rule that bans the SDK's legacy entry points."""

from __future__ import annotations

from tools.legacy_entry_points import find

IMPORT = "from mcp.server.lowlevel import Server\n"


def test_running_a_server_the_legacy_way_is_found():
    source = IMPORT + "async def f(s, r, w):\n    await s.run(r, w, s.create_initialization_options())\n"
    assert {line for line, _ in find(source)} == {3}
    assert len(list(find(source))) == 2


def test_other_runs_are_not():
    assert list(find(IMPORT + "anyio.run(main)\nsubprocess.run(['x'], check=True)\n")) == []
    assert list(find("app.run(a, b, c)\n")) == []


def test_a_line_that_says_why_is_let_through():
    source = IMPORT + "async def f(s, r, w, o):\n    await s.run(r, w, o)  # legacy entry point: the peer\n"
    assert list(find(source)) == []
