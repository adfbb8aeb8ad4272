"""``discern status``: where am I?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from discern_server.project import FILE_NAME
from discern_server.result import DiscernResult
from discern_server.verbs.drift import FileState
from discern_server.verbs.generate import Generate
from discern_server.verbs.survey import Survey, survey


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """The project's own server."""

    name: str
    version: str
    legacy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """One source: what it reads and how many tools it gave, null where it could not be read."""

    kind: str
    origin: str
    tools: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionStatus:
    """How many files of ``schemas/`` stand how to what the sources generate."""

    current: int
    missing: int
    stale: int
    edited: int
    obsolete: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusData:
    """Where a project stands."""

    root: str
    config: str
    server: ServerStatus
    features: dict[str, bool]
    sources: list[SourceStatus]
    definitions: DefinitionStatus


def status(root: Path, generate: Generate) -> DiscernResult:
    """What the project in the folder `root` is made of, and how many of its definitions are current.

    Definitions that are not current are told, not judged: that is ``check``'s work. A source
    that cannot be read makes the answer not ``ok``.
    """
    found = survey("status", root, generate)
    if isinstance(found, DiscernResult):
        return found
    faults = found.generated.faults
    return DiscernResult(
        ok=not faults,
        verb="status",
        message=_message(found),
        data=asdict(_data(found)),
        diagnostics=faults,
        hints=_hints(found),
        error="invalid_sources" if faults else None,
    )


def _data(found: Survey) -> StatusData:
    server = found.project.server
    return StatusData(
        root=str(found.project.root),
        config=FILE_NAME,
        server=ServerStatus(name=server.name, version=server.version, legacy=server.legacy),
        features=asdict(found.project.features),
        sources=[
            SourceStatus(kind=report.kind, origin=report.origin, tools=report.tools)
            for report in found.generated.sources
        ],
        definitions=DefinitionStatus(**{state.value: found.count(state) for state in FileState}),
    )


def _message(found: Survey) -> str:
    total = len(found.generated.definitions)
    current = found.count(FileState.CURRENT)
    server = found.project.server
    return f"{server.name} {server.version}: {current} of {total} definitions are current"


def _hints(found: Survey) -> tuple[str, ...]:
    if found.generated.faults:
        return ("discern check tells all there is to mend",)
    if not found.generated.sources:
        return ("discern help sources shows how to name one in discern.toml",)
    if found.count(FileState.EDITED):
        return ("discern check tells which definitions were changed by hand",)
    if found.count(FileState.MISSING, FileState.STALE, FileState.OBSOLETE):
        return ("discern accept writes the definitions",)
    return ("discern serve serves them",)
