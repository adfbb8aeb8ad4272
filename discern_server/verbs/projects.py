"""Find and load the project that a verb is about, or say why there is none."""

from __future__ import annotations

from pathlib import Path

from discern_server.project import FILE_NAME, Project, ProjectError
from discern_server.result import Diagnostic, DiscernResult, failure


def load_project(verb: str, root: Path) -> Project | DiscernResult:
    """The project in the folder `root`; else what `verb` answers where there is none, or a faulty one."""
    try:
        return Project.load(root)
    except FileNotFoundError:
        message = f"there is no {FILE_NAME} in {root}"
        return failure(verb, "not_initialized", message, hints=("discern init writes one",))
    except ProjectError as error:
        count = len(error.diagnostics)
        message = f"{FILE_NAME} has {count} {'fault' if count == 1 else 'faults'}"
        return failure(
            verb,
            "invalid_project",
            message,
            diagnostics=error.diagnostics,
            hints=("discern help configuration lists every key",),
        )


def project_with_schemas(verb: str, root: Path) -> Project | DiscernResult:
    """The project in the folder `root`, its ``schemas/`` its own; else what `verb` answers where it is not so."""
    project = load_project(verb, root)
    if isinstance(project, DiscernResult):
        return project
    if not project.schemas.resolve().is_relative_to(project.root):
        folder = project.schemas.name
        fault = Diagnostic(
            rule="project.path",
            message=f"{folder} leads out of the project",
            path=folder,
            fix=f"make {folder} a folder of the project's own",
        )
        return failure(verb, "invalid_project", fault.message, diagnostics=(fault,))
    return project
