"""The sources of a project, opened, and the handlers they give: what `discern serve` needs of them, and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from discern_server.handler import Handler
from discern_server.project import (
    FILE_NAME,
    OpenApiSource,
    Project,
    PythonSource,
    SchemasSource,
    SourceConfig,
)
from discern_server.result import Diagnostic, DiscernError
from discern_server.sources import Source, open_source

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, kw_only=True)
class OpenSource:
    """A source of a project, opened on first use.

    Attributes:
        config: What the project file says of it.
        root: The project's folder.
    """

    config: SourceConfig
    root: Path

    @cached_property
    def source(self) -> Source:
        """The source itself."""
        return open_source(self.config, self.root)

    @property
    def origin(self) -> str:
        """What it reads, as a person would name it."""
        match self.config:
            case PythonSource():
                return self.config.module
            case SchemasSource():
                return self.config.directory.relative_to(self.root).as_posix()
            case OpenApiSource():
                return self.config.document


def open_sources(project: Project) -> list[OpenSource]:
    """The sources of `project`, in the order of its file."""
    return [OpenSource(config=config, root=project.root) for config in project.sources]


def handlers_of(
    sources: Sequence[OpenSource],
) -> tuple[dict[str, tuple[OpenSource, Handler]], tuple[Diagnostic, ...]]:
    """The handlers of `sources` by tool name, each with its source; and why some cannot be had."""
    handlers: dict[str, tuple[OpenSource, Handler]] = {}
    faults: list[Diagnostic] = []
    for opened in sources:
        found, wrong = ask(opened, lambda source: source.handlers())
        faults += wrong
        for name, handler in (found or {}).items():
            owner = handlers.setdefault(name, (opened, handler))[0]
            if owner is not opened:
                faults.append(name_taken(name, owner.origin, opened.origin))
    return handlers, tuple(faults)


def ask(opened: OpenSource, question: Callable[[Source], AnswerT]) -> tuple[AnswerT | None, tuple[Diagnostic, ...]]:
    """A source's answer, or its faults."""
    try:
        return question(opened.source), ()
    except DiscernError as error:
        return None, error.diagnostics


def name_taken(name: str, first: str, second: str) -> Diagnostic:
    """The fault that two definitions have the same name; told by what each was read from."""
    where = f"{second} defines it twice" if first == second else f"{first} and {second} both define it"
    return Diagnostic(
        rule="sources.unique-names",
        message=f"the tool name {name} is taken: {where}",
        path=FILE_NAME,
        fix="give one of the two another name",
    )
