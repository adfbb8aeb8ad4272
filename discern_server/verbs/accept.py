"""``discern accept``: write to ``schemas/`` what the sources generate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from discern_server.result import DiscernResult, Severity, Step, StepStatus, apply, failure
from discern_server.verbs.drift import LOCK_NAME, FileState, findings, lock_content
from discern_server.verbs.files import performer
from discern_server.verbs.generate import Generate
from discern_server.verbs.survey import Survey, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptData:
    """How many definitions the sources generate, and how many files of them change."""

    definitions: int
    changes: int


def accept(root: Path, generate: Generate, *, dry_run: bool = False, overwrite: bool = False) -> DiscernResult:
    """Make ``schemas/`` of the project in the folder `root` what its sources generate.

    Only what differs is written, each file in one move; ``discern.lock`` last. What no source generates any
    more is deleted where it was written by ``accept`` and nobody changed it since; other files stay.
    Where the sources have a fault, or a file that would be written over was written or changed by hand, nothing
    is written at all.

    Args:
        root: The project's folder.
        generate: How its sources are asked.
        dry_run: Show the plan and change nothing.
        overwrite: Write over files that were written or changed by hand.
    """
    found = survey("accept", root, generate)
    if isinstance(found, DiscernResult):
        return found
    refusal = _refusal(found, overwrite=overwrite)
    if refusal is not None:
        return refusal
    lock = lock_content(found.files)
    plan = (*_definition_steps(found), *_lock_steps(root, lock))
    changes = sum(step.target != LOCK_NAME for step in plan)
    data = asdict(AcceptData(definitions=len(found.generated.definitions), changes=changes))
    warnings = tuple(entry for entry in findings(found.files) if entry.severity is Severity.WARNING)
    if dry_run:
        message = f"{_changes(changes)} would be made" if plan else "nothing to do"
        return DiscernResult(
            ok=True, verb="accept", message=message, data=data, dry_run=True, plan=plan, diagnostics=warnings
        )
    contents = {entry.path: entry.wanted for entry in found.files if entry.wanted is not None}
    steps = apply(plan, performer(root, {**contents, LOCK_NAME: lock}))
    failed = next((step for step in steps if step.status is StepStatus.FAILED), None)
    return DiscernResult(
        ok=failed is None,
        verb="accept",
        message=f"{failed.target} could not be written: {failed.detail}" if failed else _done(plan, changes),
        data=data,
        steps=steps,
        diagnostics=warnings,
        error="write_failed" if failed else None,
        hints=("discern accept goes on where this one stopped",) if failed else (),
    )


def _refusal(found: Survey, *, overwrite: bool) -> DiscernResult | None:
    if found.generated.faults:
        message = "the sources have faults; nothing was written"
        return failure("accept", "invalid_sources", message, diagnostics=found.generated.faults)
    edited = [entry for entry in found.files if entry.state is FileState.EDITED]
    if edited and not overwrite:
        count = f"{len(edited)} file was" if len(edited) == 1 else f"{len(edited)} files were"
        return failure(
            "accept",
            "edited",
            f"{count} written or changed by hand; nothing was written",
            diagnostics=tuple(findings(edited)),
            hints=("discern accept --overwrite writes over them",),
        )
    return None


_STEPS: Final = {
    FileState.MISSING: ("create", None),
    FileState.STALE: ("update", None),
    FileState.EDITED: ("update", "written or changed by hand"),
    FileState.OBSOLETE: ("delete", "no source generates it any more"),
}


def _definition_steps(found: Survey) -> Iterator[Step]:
    for entry in found.files:
        if entry.state in _STEPS:
            action, detail = _STEPS[entry.state]
            yield Step(action=action, target=entry.path, detail=detail)


def _lock_steps(root: Path, content: bytes) -> Iterator[Step]:
    try:
        there = (root / LOCK_NAME).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        yield Step(action="create", target=LOCK_NAME)
        return
    if there != content:
        yield Step(action="update", target=LOCK_NAME)


def _changes(count: int) -> str:
    return "1 change" if count == 1 else f"{count} changes"


def _done(plan: tuple[Step, ...], changes: int) -> str:
    return f"{_changes(changes)} made" if plan else "nothing to do"
