"""What a rule is: its stable id, what it demands and why, the mend, and examples that hold it to its word."""

from __future__ import annotations

from dataclasses import dataclass

from discern_server.result import Diagnostic, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. docs/guide/rules.md is made from these.

    Attributes:
        id: The stable id that findings carry. It never changes its meaning.
        demand: What has to be, in one sentence.
        reason: Why, with the source of the demand.
        fix: The mend, where a finding has none of its own.
        bad: A definition, or the text of a file, that breaks this rule; empty where no text can show it.
        good: The same, mended.
        severity: What a finding weighs. Only what is no error can be switched off.
        is_on: Whether it is looked at unless a project says otherwise.
    """

    id: str
    demand: str
    reason: str
    fix: str
    bad: str = ""
    good: str = ""
    severity: Severity = Severity.ERROR
    is_on: bool = True

    @property
    def is_error(self) -> bool:
        """Whether a definition that breaks it is refused."""
        return self.severity is Severity.ERROR

    def at(self, path: str, message: str, fix: str | None = None) -> Diagnostic:
        """A finding of this rule at the pointer `path`."""
        return Diagnostic(rule=self.id, message=message, severity=self.severity, path=path, fix=fix or self.fix)
