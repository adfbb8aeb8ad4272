"""The pytest plugin, run by pytest itself: off until used, and a failure shows the exchange that decided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SERVER = [sys.executable, str(Path(__file__).parent / "hostile" / "server.py")]
HEAD = f"from discern_server.pytest_plugin import assert_era\nSERVER = {SERVER!r}\n"


def run(pytester: pytest.Pytester, program: str) -> pytest.RunResult:
    pytester.makepyfile(HEAD + program)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider")


def test_importing_the_plugin_loads_neither_the_probe_nor_an_http_library():
    program = (
        "import discern_server.pytest_plugin, sys;"
        "print([m for m in sys.modules if m.startswith(('discern_server.wire', 'httpx2', 'mcp', 'anyio'))])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_a_modern_server_satisfies_the_assertion_and_the_report_is_returned(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
def test_it():
    report = assert_era([*SERVER, "Server"], "2026-07-28", legacy="reject", strict=True)
    assert report.tool_count == 2
""",
    )
    result.assert_outcomes(passed=1)


def test_a_failure_shows_what_is_not_met_and_the_exchange_that_decided(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
def test_it():
    assert_era([*SERVER, "Server"], "2025-11-25")
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*Server is modern-only",
            "*era.require: 2025-11-25 is required; revisions seen on the wire: 2026-07-28*",
            "*initialize:",
            '*> {*"method":"initialize"*"protocolVersion":"2025-11-25"*',
            '*< {*-32022*"requested": "2025-11-25"*',
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_strict_failure_shows_the_exchange_of_its_check(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
def test_it():
    assert_era([*SERVER, "AnyVersion"], strict=True)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*version.unknown-later: *", "*unknown version later:", "*2099-01-01*"])


def test_a_command_may_be_one_text(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
import shlex
def test_it():
    assert_era(shlex.join([*SERVER, "Server"]))
""",
    )
    result.assert_outcomes(passed=1)


def test_the_fixtures_probe_once_and_need_no_import(pytester: pytest.Pytester):
    result = run(
        pytester,
        """
def test_report(discern_probe):
    assert discern_probe([*SERVER, "Server"]).verdict.kind == "modern-only"
    assert discern_probe([*SERVER, "Server"]) is discern_probe([*SERVER, "Server"])

def test_assertion(discern_assert_era):
    discern_assert_era([*SERVER, "Server"])
""",
    )
    result.assert_outcomes(passed=2)
