"""Findings as a SARIF 2.1.0 log, for code hosts that show them beside the lines they are about.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0 (the section of each object is named
below). Pure: the caller writes the log, as UTF-8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any, Final, Protocol
from urllib.parse import quote

from discern_server.result import Diagnostic, Severity

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


class RuleText(Protocol):
    """What a log says of a rule; `discern_server.rules.Rule` is one."""

    @property
    def id(self) -> str:
        """The id that findings carry."""

    @property
    def demand(self) -> str:
        """What has to be."""

    @property
    def reason(self) -> str:
        """Why."""

    @property
    def fix(self) -> str:
        """The mend."""

    @property
    def severity(self) -> Severity:
        """What a finding weighs."""


def to_sarif(diagnostics: Iterable[Diagnostic], *, tool_version: str, rules: Iterable[RuleText]) -> dict[str, Any]:
    """One run with a result for each finding, in their order.

    Args:
        diagnostics: The findings; a path that is a file, or starts with one, is relative to the project's root.
        tool_version: The version of discern.
        rules: The rules that the log describes; a finding of another rule gets an entry with its id alone.
    """
    findings = tuple(diagnostics)
    descriptors = {rule.id: _descriptor(rule) for rule in rules}
    for finding in findings:
        descriptors.setdefault(finding.rule, {"id": finding.rule})
    indexes = {rule: index for index, rule in enumerate(descriptors)}
    driver = {"name": "discern", "semanticVersion": tool_version, "rules": list(descriptors.values())}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the project."}}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, indexes[finding.rule]) for finding in findings],
            }
        ],
    }


def _descriptor(rule: RuleText) -> dict[str, Any]:
    """A reportingDescriptor (3.49)."""
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.demand},
        "fullDescription": {"text": rule.reason},
        "help": {"text": f"{rule.reason}\nMend: {rule.fix}."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Diagnostic, rule_index: int) -> dict[str, Any]:
    """A result (3.27). Where the mend goes in the file is not known, so that it is part of the message."""
    mend = f"\nMend: {finding.fix}" if finding.fix else ""
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _clean(finding.message + mend)},
        "partialFingerprints": {"findingHash/v1": _fingerprint(finding)},
    }
    location = _location(finding)
    if location:
        result["locations"] = [location]
    return result


def _location(finding: Diagnostic) -> dict[str, Any]:
    """A location (3.28): the file and its line, and the pointer as the name of what is there."""
    file, pointer = _parts(finding.path or "")
    location: dict[str, Any] = {}
    if file:
        physical: dict[str, Any] = {"artifactLocation": _artifact(file)}
        if finding.line is not None:
            physical["region"] = {"startLine": finding.line}
        location["physicalLocation"] = physical
    if pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": _clean(pointer), "kind": "value"}]
    return location


def _parts(path: str) -> tuple[str, str]:
    """The file and the pointer of a finding's path: a pointer, a file, or both as ``file#/pointer``."""
    file, mark, pointer = path.partition("#/")
    if mark:
        return file, "/" + pointer
    return ("", path) if path.startswith("/") else (path, "")


def _artifact(file: str) -> dict[str, str]:
    """An artifactLocation (3.4), whose URI is relative to the root where the file's path is."""
    path = PurePath(file)
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix(), errors="replace"), "uriBaseId": _ROOT}


def _fingerprint(finding: Diagnostic) -> str:
    """What stays the same of a finding when lines move."""
    parts = (finding.rule, finding.path or "", finding.message)
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]


def _clean(text: str) -> str:
    """`text` without half characters, which no UTF-8 file can hold."""
    return text.encode(errors="replace").decode()
