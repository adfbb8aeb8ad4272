"""The envelope: one object that text, ``--json`` and an MCP tool result are renderings of.

Every verb's core, and any handler that wishes to, returns a `DiscernResult`. `serialize` alone
decides its wire shape; `render_text` alone decides how a person sees it. A change is described by
`Step` values first (the plan) and carried out by `apply`, which is handed the function that acts.
Nothing here reads, writes or prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias


class Severity(StrEnum):
    """How much a diagnostic weighs: only an error makes a result not ``ok``."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding, written for the person who must act.

    Attributes:
        rule: The stable id of the rule that found it, such as ``definition.name``.
        message: What is wrong, in one sentence, with the offending value shortened.
        severity: How much it weighs.
        path: Where: a JSON Pointer (RFC 6901) into the value at hand, or a file, or both as
            ``file#/pointer``. Empty for the whole value.
        line: The line in that file, counted from 1, where it is known.
        schema_path: Where a JSON Schema says what is broken: a JSON Pointer to the keyword, through each ``$ref``.
        fix: The mend: what to do about it.
    """

    rule: str
    message: str
    severity: Severity = Severity.ERROR
    path: str | None = None
    line: int | None = None
    schema_path: str | None = None
    fix: str | None = None

    def within(self, file: str) -> Diagnostic:
        """This finding about a value as one about the `file` that holds it."""
        return replace(self, path=f"{file}#{self.path}" if self.path else file)


class DiscernError(Exception):
    """Base of the errors that report findings: all of them at once, in the order of what was looked at."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(map(_one_line, self.diagnostics)))


def _one_line(diagnostic: Diagnostic) -> str:
    line = f" (line {diagnostic.line})" if diagnostic.line is not None else ""
    place = f"{diagnostic.path}{line}: " if diagnostic.path else ""
    fix = f" ({diagnostic.fix})" if diagnostic.fix else ""
    return f"{place}{diagnostic.message} [{diagnostic.rule}]{fix}"


class StepStatus(StrEnum):
    """What became of a step."""

    PLANNED = "planned"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change to one thing: a line of a plan, and after `apply` a line of what was done.

    Attributes:
        action: What is done: ``create``, ``update``, ``delete``.
        target: What it is done to, such as a path relative to the project.
        status: What became of it.
        detail: Why the step is there or, once it failed, why it failed.
    """

    action: str
    target: str
    status: StepStatus = StepStatus.PLANNED
    detail: str | None = None


def apply(plan: Sequence[Step], perform: Callable[[Step], None]) -> tuple[Step, ...]:
    """Carry out `plan` in order and return its steps with what became of each.

    The first step whose `perform` raises `OSError` is marked failed with the reason, and the ones
    after it are skipped: a half-applied plan is reported as exactly that. Other exceptions are bugs
    and pass through.
    """
    steps: list[Step] = []
    broken = False
    for step in plan:
        if broken:
            steps.append(replace(step, status=StepStatus.SKIPPED))
            continue
        try:
            perform(step)
        except OSError as error:
            broken = True
            steps.append(replace(step, status=StepStatus.FAILED, detail=error.strerror or str(error)))
        else:
            steps.append(replace(step, status=StepStatus.DONE))
    return tuple(steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscernResult:
    """What a verb, or a tool, has to say.

    Attributes:
        ok: Whether it did what was asked.
        verb: Who is speaking: ``check``, ``accept``, or the tool's name.
        message: One sentence for a person.
        data: The answer itself: any JSON value.
        diagnostics: Findings, in the order of what was looked at.
        dry_run: True where a plan was asked for and nothing was changed.
        plan: The steps that would be taken; present with `dry_run`.
        steps: The steps that were taken.
        hints: What to do next, as commands or sentences.
        error: A stable word for why `ok` is false, such as ``not_initialized``.
    """

    ok: bool
    verb: str
    message: str | None = None
    data: Any = None
    diagnostics: tuple[Diagnostic, ...] = ()
    dry_run: bool | None = None
    plan: tuple[Step, ...] | None = None
    steps: tuple[Step, ...] | None = None
    hints: tuple[str, ...] = field(default=())
    error: str | None = None


def failure(
    verb: str, error: str, message: str, *, hints: tuple[str, ...] = (), diagnostics: tuple[Diagnostic, ...] = ()
) -> DiscernResult:
    """A result that says no: `error` is the stable word, `message` the sentence, `hints` the way out."""
    return DiscernResult(ok=False, verb=verb, error=error, message=message, hints=hints, diagnostics=diagnostics)


# --- the wire shape ---------------------------------------------------------------------------------


def serialize(result: DiscernResult) -> dict[str, Any]:
    """The result as one JSON object: the only definition of its wire shape.

    ``ok`` and ``verb`` are always there; a field that has nothing to say is left out, except that an
    empty plan or an empty list of steps is said ("nothing to do" is an answer).
    """
    fields = {
        "ok": result.ok,
        "verb": result.verb,
        "dry_run": result.dry_run,
        "plan": _steps(result.plan),
        "steps": _steps(result.steps),
        "diagnostics": [serialize_diagnostic(diagnostic) for diagnostic in result.diagnostics] or None,
        "data": result.data,
        "hints": list(result.hints) or None,
        "error": result.error,
        "message": result.message,
    }
    return _without_undefined(fields)


def serialize_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as a JSON object, undefined fields dropped."""
    return _without_undefined(
        {
            "rule": diagnostic.rule,
            "severity": diagnostic.severity.value,
            "message": diagnostic.message,
            "path": diagnostic.path,
            "line": diagnostic.line,
            "schema_path": diagnostic.schema_path,
            "fix": diagnostic.fix,
        }
    )


def _steps(steps: tuple[Step, ...] | None) -> list[dict[str, Any]] | None:
    if steps is None:
        return None
    return [
        _without_undefined(
            {"action": step.action, "target": step.target, "status": step.status.value, "detail": step.detail}
        )
        for step in steps
    ]


def _without_undefined(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


# --- text -------------------------------------------------------------------------------------------

_STYLES: Final[Mapping[str, str]] = {
    "error": "31",
    "failed": "31",
    "warning": "33",
    "skipped": "33",
    "info": "36",
    "planned": "36",
    "done": "32",
    "ok": "32",
    "dim": "2",
}
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_INDENT: Final = "  "


def render_text(result: DiscernResult, *, color: bool = False) -> str:
    """The result for a person: the message, findings, steps, data, then what to do next.

    Text of others (a definition's description, a server's answer) may hold terminal escapes; control
    characters other than tab and newline are shown escaped, so that only `color` colours.
    """
    paint = _paint if color else _plain
    headline = result.message or ("ok" if result.ok else result.error or "failed")
    blocks = [[paint(f"{result.verb}: ", "dim") + paint(_clean(headline), "ok" if result.ok else "error")]]
    if result.diagnostics:
        blocks.append([line for diagnostic in result.diagnostics for line in _diagnostic_lines(diagnostic, paint)])
    steps = result.plan if result.plan is not None else result.steps
    if steps:
        blocks.append([_step_line(step, paint) for step in steps])
    if result.data is not None:
        blocks.append(_value_lines(result.data))
    if result.hints:
        blocks.append([paint("next: ", "dim") + _clean(hint) for hint in result.hints])
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks)


_Paint: TypeAlias = Callable[[str, str], str]


def _paint(text: str, style: str) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style in _STYLES else text


def _plain(text: str, style: str) -> str:  # noqa: ARG001 - the shape of `_paint`, which it stands in for
    return text


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _diagnostic_lines(diagnostic: Diagnostic, paint: _Paint) -> list[str]:
    place = _clean(diagnostic.path or "")
    if diagnostic.line is not None:
        place += f" (line {diagnostic.line})"
    head = f"{paint(diagnostic.severity.value, diagnostic.severity.value)} {diagnostic.rule}"
    lines = [f"{head}  {place}", *_indented(_clean(diagnostic.message).splitlines())]
    if diagnostic.fix:
        lines += _indented([f"fix: {_clean(diagnostic.fix)}"])
    return lines


def _step_line(step: Step, paint: _Paint) -> str:
    detail = f"  ({_clean(step.detail)})" if step.detail else ""
    return f"{paint(f'{step.status.value:<8}', step.status.value)}{step.action:<7} {_clean(step.target)}{detail}"


def _value_lines(value: Any) -> list[str]:
    """Lines for any JSON value: an object as ``key: value``, a list of flat objects as a table."""
    if isinstance(value, Mapping):
        return [line for key, item in value.items() for line in _member_lines(_clean(str(key)), item)]
    if isinstance(value, list | tuple):
        if value and all(_is_row(item) for item in value):
            return _table(value)
        return [line for item in value for line in _item_lines(item)]
    return _clean(_scalar(value)).splitlines() or [""]


def _member_lines(key: str, value: Any) -> list[str]:
    if isinstance(value, str) and "\n" in value:
        return [f"{key}:", *_indented(_clean(value).splitlines())]
    if isinstance(value, Mapping | list | tuple):
        return [f"{key}:", *_indented(_value_lines(value))] if value else [f"{key}: none"]
    return [f"{key}: {_clean(_scalar(value))}"]


def _item_lines(value: Any) -> list[str]:
    first, *rest = _value_lines(value) or ["none"]
    return [f"- {first}", *_indented(rest)]


def _is_row(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and not any(isinstance(item, Mapping | list | tuple) or "\n" in str(item) for item in value.values())
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_clean(_scalar(row[c])) if c in row else "" for c in columns] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    return [_INDENT.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]


def _scalar(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _indented(lines: Sequence[str]) -> list[str]:
    return [_INDENT + line for line in lines]
