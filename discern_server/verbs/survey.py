"""Look at a project once: what it says, what its sources generate, how its files stand to that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from discern_server.project import Project
from discern_server.result import DiscernResult, failure
from discern_server.verbs.drift import FOLDER_NAME, FileComparison, FileState, compare, read_lock
from discern_server.verbs.generate import Generate, Generated
from discern_server.verbs.projects import project_with_schemas


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found.

    Attributes:
        project: The project.
        generated: What its sources give.
        files: How each file of ``schemas/`` stands. Where the sources have faults, only those they still generate.
    """

    project: Project
    generated: Generated
    files: tuple[FileComparison, ...]

    def count(self, *states: FileState) -> int:
        """How many files stand in one of `states`."""
        counts = Counter(entry.state for entry in self.files)
        return sum(counts[state] for state in states)


def survey(verb: str, root: Path, generate: Generate) -> Survey | DiscernResult:
    """Look at the project in the folder `root`; else what `verb` answers where that cannot be done."""
    project = project_with_schemas(verb, root)
    if isinstance(project, DiscernResult):
        return project
    generated = generate(project)
    try:
        files = compare(generated.definitions, project.schemas, read_lock(project.root))
    except OSError as error:
        return failure(verb, "unreadable", f"{FOLDER_NAME} cannot be read: {error.strerror or error}")
    if generated.faults:
        files = [entry for entry in files if entry.wanted is not None]
    return Survey(project=project, generated=generated, files=tuple(files))
