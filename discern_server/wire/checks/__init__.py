"""The checks: one table, in the order in which they are shown."""

from __future__ import annotations

from typing import Final

from discern_server.wire.checks.check import Check, Finding, Outcome
from discern_server.wire.checks.eras import ERA_CHECKS
from discern_server.wire.checks.http import HTTP_CHECKS
from discern_server.wire.checks.results import RESULT_CHECKS
from discern_server.wire.checks.stdio import STDIO_CHECKS
from discern_server.wire.checks.tools import TOOL_CHECKS
from discern_server.wire.evidence import Evidence
from discern_server.wire.verdict import Verdict

CHECKS: Final = (*ERA_CHECKS, *RESULT_CHECKS, *TOOL_CHECKS, *STDIO_CHECKS, *HTTP_CHECKS)

__all__ = ["CHECKS", "Check", "Finding", "Outcome", "run_checks"]


def run_checks(evidence: Evidence, verdict: Verdict) -> tuple[tuple[Check, Finding], ...]:
    """Every check with what it found, in the table's order. Pure."""
    return tuple((check, check.run(evidence, verdict)) for check in CHECKS)
