"""The era assertion for pytest: what a server speaks, asserted on the wire.

    from discern_server.pytest_plugin import assert_era

    def test_our_server_is_modern():
        assert_era(["python", "-m", "billing"], "2026-07-28", legacy="reject")

Installed with the package, the plugin adds two fixtures and does nothing until one is used; importing it loads
neither the probe nor an HTTP library. Works with pytest 7.4 and later.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from discern_server.wire.examine import Target
    from discern_server.wire.expectation import LegacyExpectation
    from discern_server.wire.report import Report


def assert_era(
    target: Target,
    revision: str | None = "2026-07-28",
    *,
    legacy: LegacyExpectation = "any",
    strict: bool = False,
    cwd: str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    answer_s: float = 15.0,
) -> Report:
    """Assert which revision a server serves, and what it does with legacy clients.

    The server is started, and stopped, about six times; a URL is asked about eighteen times.

    Args:
        target: A command, as an argument list or as one text, or a URL.
        revision: The revision it has to serve, or None for any.
        legacy: ``reject``: clients that open with ``initialize`` have to be refused; ``serve``: they have
            to be served; ``any``: either will do.
        strict: Whether every check of the specification has to pass too.
        cwd: Where the command is run.
        headers: Sent with each HTTP request, such as ``Authorization``.
        answer_s: Seconds to wait for one answer.

    Returns:
        The whole report, for further assertions.

    Raises:
        AssertionError: It does not hold; the message shows the exchange that decided.
    """
    __tracebackhide__ = True
    report = _examine(target, revision, legacy, strict=strict, cwd=cwd, headers=headers, answer_s=answer_s)
    if not report.ok:
        raise AssertionError(_explain(report))
    return report


@pytest.fixture(scope="session")
def discern_probe() -> Callable[..., Report]:
    """``discern_probe(target, **options)``: the report on a server, probed once per session and options.

    The options are those of `assert_era`; nothing is asserted.
    """
    reports: dict[Any, Report] = {}

    def probe(target: Target, revision: str | None = None, **options: Any) -> Report:
        key = (str(target), revision, repr(sorted(options.items())))
        if key not in reports:
            reports[key] = _examine(target, revision, options.pop("legacy", "any"), **options)
        return reports[key]

    return probe


@pytest.fixture
def discern_assert_era() -> Callable[..., Report]:
    """`assert_era`, without an import."""
    return assert_era


def _examine(
    target: Target,
    revision: str | None,
    legacy: LegacyExpectation,
    *,
    strict: bool = False,
    cwd: str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    answer_s: float = 15.0,
) -> Report:
    from discern_server.wire.examine import examine, is_url
    from discern_server.wire.expectation import Expectation
    from discern_server.wire.limits import Limits

    if isinstance(target, str) and not is_url(target):
        target = shlex.split(target)
    expectation = Expectation(revision=revision, legacy=legacy, strict=strict)
    return examine(target, expectation, cwd=cwd, headers=headers, limits=Limits(answer_s=answer_s))


def _explain(report: Report) -> str:
    """The failure message: what is not met, the verdict, and the exchanges behind both."""
    from discern_server.result import Severity

    lines = [f"{report.evidence.target} is {report.verdict.kind}"]
    for finding in report.diagnostics:
        if finding.severity is Severity.ERROR:
            lines.append(f"  {finding.rule}: {finding.message}")
            if finding.fix:
                lines.append(f"    {finding.fix}")
    return "\n".join([*lines, "", *report.deciding_exchange()])
