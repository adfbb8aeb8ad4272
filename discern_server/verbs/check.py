"""``discern check``: every rule over every definition, and whether ``schemas/`` is what the sources generate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from discern_server.catalog import check_file_name
from discern_server.definition import folder_findings
from discern_server.jsontext import JsonTextError, read_json
from discern_server.result import Diagnostic, DiscernResult, Severity
from discern_server.rules import check_definition
from discern_server.verbs.drift import FOLDER_NAME, FileComparison, FileState, findings
from discern_server.verbs.generate import Generate
from discern_server.verbs.survey import Survey, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckData:
    """How much was looked at, and what was found."""

    definitions: int
    errors: int
    warnings: int


def check(root: Path, generate: Generate) -> DiscernResult:
    """Check the project in the folder `root`: its sources, its files, and that the one is what the other generates.

    A finding that is an error makes the answer not ``ok``; a warning does not.
    """
    found = survey("check", root, generate)
    if isinstance(found, DiscernResult):
        return found
    rule_findings = chain.from_iterable(_rule_findings(entry, found.project.rules) for entry in found.files)
    generated = found.generated
    said = (*generated.faults, *generated.handler_faults, *generated.findings, *folder_findings(root / FOLDER_NAME))
    diagnostics = (*said, *findings(found.files), *rule_findings)
    counts = Counter(finding.severity for finding in diagnostics)
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    looked_at = len(found.files)
    return DiscernResult(
        ok=errors == 0,
        verb="check",
        message=f"{_count(looked_at, 'definition')}, {_count(errors, 'error')}, {_count(warnings, 'warning')}",
        data=asdict(CheckData(definitions=looked_at, errors=errors, warnings=warnings)),
        diagnostics=diagnostics,
        hints=_hints(found),
        error="findings" if errors else None,
    )


def _rule_findings(entry: FileComparison, switches: Mapping[str, bool]) -> Iterator[Diagnostic]:
    """What the rules find in what the file should hold; in what it does hold where no source generates it."""
    content = entry.found if entry.wanted is None else entry.wanted
    try:
        document = read_json(content or b"")
    except JsonTextError as error:
        return (fault.within(entry.path) for fault in error.diagnostics)
    found = (*check_definition(document.value, switches), *check_file_name(document.value, entry.file))
    return document.placed(found, entry.path)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _hints(found: Survey) -> tuple[str, ...]:
    if found.count(FileState.MISSING, FileState.STALE, FileState.OBSOLETE) and not found.generated.faults:
        return (f"discern accept writes {FOLDER_NAME}/ anew; discern accept --dry-run shows what it would do",)
    return ()
