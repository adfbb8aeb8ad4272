"""Loads real API descriptions: ``python -m tests.suites.openapi_corpus DIR [--json FILE] [NAME ...]``.

Every document of a folder (as its ``MANIFEST.csv`` lists them, else every file that is an API description) is read and
made into tools. What has to hold: it loads or is refused; every operation is a tool or refused by name with a
reason; every definition keeps the project's rules and the meta-schema; names and definitions are the same when
the paths stand in another order. Prints a line for each document, every refusal, and the totals.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from discern_server.catalog import thaw
from discern_server.result import Severity
from discern_server.rules import check_definition
from discern_server.sources.openapi.definitions import Tool, ToolMaker, Toolset
from discern_server.sources.openapi.description import Api
from discern_server.sources.openapi.documents import (
    DescriptionError,
    DocumentError,
    Documents,
    Opener,
    file_opener,
    parse,
)
from discern_server.sources.openapi.read import read


@dataclass
class Outcome:
    """What became of one document.

    Attributes:
        file: Its name in the folder.
        version: The version of the specification, or None where it was not read.
        refused: Why it was not read, or None.
        listed: How many operations the manifest says it has, or None.
        operations: How many it has.
        tools: How many tools they gave.
        refusals: The operations that gave none, each with its reason and place.
        without_output: How many tools are without ``outputSchema`` for a reason that was told.
        warnings: What rules warn of, by rule.
        faults: What does not hold.
        seconds: How long reading and making took.
    """

    file: str
    version: str | None = None
    refused: str | None = None
    listed: int | None = None
    operations: int = 0
    tools: int = 0
    refusals: list[str] = field(default_factory=list)
    without_output: int = 0
    warnings: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


def examine(folder: Path, name: str, listed: int | None) -> Outcome:
    """Load one document and look at all that came of it."""
    outcome = Outcome(file=name, listed=listed)
    path = folder / name
    root = folder / name.split("/", maxsplit=1)[0] if "/" in name else folder
    started = time.perf_counter()
    try:
        api, toolset = _make(path, file_opener(root))
    except (DocumentError, DescriptionError) as error:
        outcome.refused = str(error)
        return outcome
    outcome.seconds = time.perf_counter() - started
    refusals = (*api.refusals, *toolset.refusals)
    outcome.version = api.version
    outcome.operations = len(toolset.tools) + len(refusals)
    outcome.tools = len(toolset.tools)
    outcome.refusals = [f"{one.key}: {one.findings[0].message} ({one.findings[0].path})" for one in refusals]
    outcome.without_output = sum(found.rule == "openapi.no-output-schema" for found in toolset.findings)
    warnings: Counter[str] = Counter()
    outcome.faults = [*_faults(toolset, outcome, warnings), *_unstable(path, root, toolset)]
    outcome.warnings = dict(warnings)
    return outcome


def _make(path: Path, opener: Opener) -> tuple[Api, Toolset]:
    documents = Documents(path.as_uri(), opener)
    api = read(documents)
    return api, ToolMaker(documents, api).make(api.operations)


def _faults(toolset: Toolset, outcome: Outcome, warnings: Counter[str]) -> Iterator[str]:
    if outcome.listed is not None and outcome.operations != outcome.listed:
        yield f"{outcome.operations} operations, and the manifest lists {outcome.listed}"
    if any(": " not in refusal for refusal in outcome.refusals):
        yield "an operation is refused without a reason"
    names = Counter(tool.definition.name.lower() for tool in toolset.tools)
    yield from (f"the name {name} is there {count} times" for name, count in names.items() if count > 1)
    for tool in toolset.tools:
        yield from (f"{tool.definition.name}: {fault}" for fault in _definition_faults(tool, warnings))


def _definition_faults(tool: Tool, warnings: Counter[str]) -> Iterator[str]:
    wire = thaw(tool.definition.wire)
    json.dumps(wire, allow_nan=False)
    for finding in check_definition(wire):
        if finding.severity is Severity.ERROR:
            yield f"{finding.rule}: {finding.message} ({finding.path})"
        else:
            warnings[finding.rule] += 1
    for key in ("inputSchema", "outputSchema"):
        if key in wire:
            yield from (f"{key}: {error.message}" for error in _META.iter_errors(wire[key]))


_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)


def _unstable(path: Path, root: Path, toolset: Toolset) -> Iterator[str]:
    """What differs when the paths of the document stand in reverse order."""
    uri, opener = path.as_uri(), file_opener(root)
    document, _ = parse(path.read_bytes(), path.name)
    if not isinstance(document.get("paths"), dict):
        return
    reordered = {**document, "paths": dict(reversed(document["paths"].items()))}
    text = json.dumps(reordered).encode()
    _, again = _make(path, lambda asked: text if asked == uri else opener(asked))
    found = {tool.operation.key: thaw(tool.definition.wire) for tool in again.tools}
    for tool in toolset.tools:
        other = found.pop(tool.operation.key, None)
        if other is None or other["name"] != tool.definition.name:
            yield f"{tool.operation.key} has another name when paths are reordered"
        elif json.dumps(other) != json.dumps(thaw(tool.definition.wire)):
            yield f"{tool.definition.name} has another definition when paths are reordered"
    yield from (f"{key} is a tool only when paths are reordered" for key in found)


# --- the folder -------------------------------------------------------------------------------------


def documents_in(folder: Path) -> Iterator[tuple[str, int | None]]:
    """The documents of a folder, each with how many operations it is said to have."""
    manifest = folder / "MANIFEST.csv"
    if manifest.is_file():
        with manifest.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                yield row["file"], int(row["operations"])
        return
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".yaml", ".yml") and _is_description(path):
            yield path.relative_to(folder).as_posix(), None


def _is_description(path: Path) -> bool:
    try:
        value: Any = parse(path.read_bytes(), path.name)[0]
    except DocumentError:
        return True
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def _print(outcome: Outcome) -> None:
    if outcome.refused is not None:
        print(f"{outcome.file}: refused: {outcome.refused}")
        return
    print(
        f"{outcome.file}: {outcome.version}, {outcome.operations} operations, {outcome.tools} tools,"
        f" {len(outcome.refusals)} refused, {outcome.seconds:.2f} s"
    )
    for refusal in outcome.refusals:
        print(f"  refused {refusal}")
    for fault in outcome.faults:
        print(f"  FAULT {fault}")


def main(arguments: list[str]) -> int:
    """Examine the documents of a folder; the exit code is 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.suites.openapi_corpus")
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only documents whose name holds one of these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of each document")
    options = parser.parse_args(arguments)
    outcomes = []
    for name, listed in documents_in(options.directory.resolve()):
        if not options.names or any(part in name for part in options.names):
            outcomes.append(examine(options.directory.resolve(), name, listed))
            _print(outcomes[-1])
    if options.json is not None:
        text = json.dumps([asdict(outcome) for outcome in outcomes], indent=2, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    return _totals(outcomes)


def _totals(outcomes: list[Outcome]) -> int:
    loaded = [outcome for outcome in outcomes if outcome.refused is None]
    operations, tools = sum(one.operations for one in loaded), sum(one.tools for one in loaded)
    faulty = [outcome for outcome in outcomes if outcome.faults]
    print(
        f"{len(loaded)} of {len(outcomes)} documents loaded; {operations} operations, {tools} tools,"
        f" {operations - tools} refused with a reason; {sum(len(one.faults) for one in faulty)} faults"
    )
    passed = sum(not one.faults and one.refused is None for one in outcomes)
    refused = len(outcomes) - len(loaded)
    print(f"{passed} passed, {len(faulty)} failed, {refused} skipped")
    return 1 if faulty or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
