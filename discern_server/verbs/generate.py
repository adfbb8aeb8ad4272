"""Ask a project's sources for their definitions.

`generate` does so in this process. A process that lives on (``discern mcp``) must not: Python keeps modules
it has imported, so that a later answer would be about an earlier state of the files, and a project's
code could print, crash or leave things behind. It uses `generate_apart`, which has a new process do it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from discern_server.catalog import ToolDefinition, thaw
from discern_server.console import claim_stdout
from discern_server.handler import Handler
from discern_server.project import (
    FILE_NAME,
    OpenApiSource,
    Project,
    ProjectError,
    PythonSource,
    SchemasSource,
    SourceConfig,
)
from discern_server.result import Diagnostic, DiscernError, Severity, serialize_diagnostic
from discern_server.sources import Source, open_source
from discern_server.verbs.program import GENERATE_DEFINITIONS, this_program

AnswerT = TypeVar("AnswerT")


_CHILD_TIMEOUT_S: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """One source and what it gave.

    Attributes:
        kind: Its kind.
        origin: What it reads: a module, a folder, a document.
        tools: How many definitions it gave; None where it could not.
    """

    kind: str
    origin: str
    tools: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """What the sources of a project give.

    Attributes:
        definitions: By tool name, in the order of the names.
        sources: A report for each source, in the order of the project file.
        faults: Why something could not be had. Where there are any, `definitions` is not all there is.
        handler_faults: Why a definition could not be served.
        findings: What is worth knowing and keeps nothing from being served.
    """

    definitions: Mapping[str, ToolDefinition]
    sources: tuple[SourceReport, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    handler_faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


Generate: TypeAlias = Callable[[Project], Generated]


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


def generate(project: Project) -> Generated:
    """What the sources of `project` give, asked with its folder as the working directory.

    Nothing is written meanwhile, Python's cache of the modules that are imported included.
    """
    with chdir(project.root), _no_bytecode():
        return generate_from(open_sources(project))


@contextmanager
def _no_bytecode() -> Iterator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def generate_from(sources: Sequence[OpenSource]) -> Generated:
    """What `sources` give. One that fails, or a name that two of them use, is a fault, not an end."""
    definitions: dict[str, ToolDefinition] = {}
    owners: dict[str, str] = {}
    reports: list[SourceReport] = []
    faults: list[Diagnostic] = []
    handler_faults: list[Diagnostic] = []
    findings: list[Diagnostic] = []
    for opened in sources:
        found, wrong = _ask(opened, lambda source: source.definitions())
        reports.append(
            SourceReport(kind=opened.config.kind, origin=opened.origin, tools=None if found is None else len(found))
        )
        faults += wrong
        for definition in found or ():
            owner = owners.setdefault(definition.name, opened.origin)
            if definitions.setdefault(definition.name, definition) is not definition:
                faults.append(_name_taken(definition.name, owner, opened.origin))
        if found is not None:
            handler_faults += _ask(opened, lambda source: source.handlers())[1]
            findings += _ask(opened, lambda source: source.findings())[0] or ()
    return Generated(
        definitions=dict(sorted(definitions.items())),
        sources=tuple(reports),
        faults=tuple(faults),
        handler_faults=tuple(handler_faults),
        findings=tuple(findings),
    )


def handlers_of(
    sources: Sequence[OpenSource],
) -> tuple[dict[str, tuple[OpenSource, Handler]], tuple[Diagnostic, ...]]:
    """The handlers of `sources` by tool name, each with its source; and why some cannot be had."""
    handlers: dict[str, tuple[OpenSource, Handler]] = {}
    faults: list[Diagnostic] = []
    for opened in sources:
        found, wrong = _ask(opened, lambda source: source.handlers())
        faults += wrong
        for name, handler in (found or {}).items():
            owner = handlers.setdefault(name, (opened, handler))[0]
            if owner is not opened:
                faults.append(_name_taken(name, owner.origin, opened.origin))
    return handlers, tuple(faults)


def _ask(opened: OpenSource, question: Callable[[Source], AnswerT]) -> tuple[AnswerT | None, tuple[Diagnostic, ...]]:
    """A source's answer, or its faults."""
    try:
        return question(opened.source), ()
    except DiscernError as error:
        return None, error.diagnostics


def _name_taken(name: str, first: str, second: str) -> Diagnostic:
    where = f"{second} defines it twice" if first == second else f"{first} and {second} both define it"
    return Diagnostic(
        rule="sources.unique-names",
        message=f"the tool name {name} is taken: {where}",
        path=FILE_NAME,
        fix="give one of the two another name",
    )


# --- in a process of its own --------------------------------------------------------------------------


def generate_apart(project: Project) -> Generated:
    """As `generate`, in a new process that knows nothing of earlier calls."""
    command = [*this_program(), GENERATE_DEFINITIONS, str(project.root)]
    try:
        done = subprocess.run(command, input=b"", stdout=subprocess.PIPE, timeout=_CHILD_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return _child_failed(f"generating the definitions took longer than {_CHILD_TIMEOUT_S} s and was ended")
    except OSError as error:
        return _child_failed(f"no process could be started to generate the definitions: {error.strerror or error}")
    with suppress(ValueError, KeyError, TypeError, DiscernError):
        return _from_json(json.loads(done.stdout))
    return _child_failed(f"the process that generates the definitions ended with {done.returncode} and no answer")


def run_child(root: Path) -> int:
    """What `generate_apart` runs: write what the sources of the project in `root` give to standard output.

    Whatever else writes to standard output meanwhile is sent to standard error.
    """
    answer = claim_stdout()
    try:
        generated = generate(Project.load(root))
    except ProjectError as error:
        generated = Generated(definitions={}, faults=error.diagnostics)
    with os.fdopen(answer, "w", encoding="utf-8") as stream:
        json.dump(_to_json(generated), stream)
    return 0


def _child_failed(message: str) -> Generated:
    fault = Diagnostic(rule="sources.process", message=message, fix="discern check in a terminal shows what happens")
    return Generated(definitions={}, faults=(fault,))


def _to_json(generated: Generated) -> dict[str, Any]:
    return {
        "definitions": [thaw(definition.wire) for definition in generated.definitions.values()],
        "sources": [[report.kind, report.origin, report.tools] for report in generated.sources],
        "faults": [serialize_diagnostic(fault) for fault in generated.faults],
        "handler_faults": [serialize_diagnostic(fault) for fault in generated.handler_faults],
        "findings": [serialize_diagnostic(finding) for finding in generated.findings],
    }


def _from_json(answer: Mapping[str, Any]) -> Generated:
    definitions = (ToolDefinition.from_wire(wire) for wire in answer["definitions"])
    return Generated(
        definitions={definition.name: definition for definition in definitions},
        sources=tuple(SourceReport(kind=kind, origin=origin, tools=tools) for kind, origin, tools in answer["sources"]),
        faults=_diagnostics(answer["faults"]),
        handler_faults=_diagnostics(answer["handler_faults"]),
        findings=_diagnostics(answer["findings"]),
    )


def _diagnostics(serialized: Sequence[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(**{**fault, "severity": Severity(fault["severity"])}) for fault in serialized)
