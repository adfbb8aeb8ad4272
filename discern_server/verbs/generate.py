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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from discern_server.catalog import ToolDefinition, thaw
from discern_server.console import claim_stdout
from discern_server.project import Project, ProjectError
from discern_server.result import Diagnostic, DiscernError, Severity, serialize_diagnostic
from discern_server.verbs.offers import offers_of
from discern_server.verbs.program import GENERATE_DEFINITIONS, this_program
from discern_server.verbs.sources import OpenSource, ask, name_taken, open_sources

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
        handler_faults: Why a definition could not be served, of prompts and resources too.
        findings: What is worth knowing and keeps nothing from being served.
    """

    definitions: Mapping[str, ToolDefinition]
    sources: tuple[SourceReport, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    handler_faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


Generate: TypeAlias = Callable[[Project], Generated]


def generate(project: Project) -> Generated:
    """What the sources of `project` give, asked with its folder as the working directory.

    Nothing is written meanwhile, Python's cache of the modules that are imported included.
    """
    with chdir(project.root), _no_bytecode():
        generated = generate_from(open_sources(project))
        return replace(generated, handler_faults=(*generated.handler_faults, *offers_of(project).handler_faults))


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
        found, wrong = ask(opened, lambda source: source.definitions())
        reports.append(
            SourceReport(kind=opened.config.kind, origin=opened.origin, tools=None if found is None else len(found))
        )
        faults += wrong
        for definition in found or ():
            owner = owners.setdefault(definition.name, opened.origin)
            if definitions.setdefault(definition.name, definition) is not definition:
                faults.append(name_taken(definition.name, owner, opened.origin))
        if found is not None:
            handler_faults += ask(opened, lambda source: source.handlers())[1]
            findings += ask(opened, lambda source: source.findings())[0] or ()
    return Generated(
        definitions=dict(sorted(definitions.items())),
        sources=tuple(reports),
        faults=tuple(faults),
        handler_faults=tuple(handler_faults),
        findings=tuple(findings),
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
