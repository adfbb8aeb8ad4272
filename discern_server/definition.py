"""Definitions of prompts and resources: checked where they are made, and read from the folders beside the tools'."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from discern_server.definition_files import definition_files, read_definition
from discern_server.result import Diagnostic, DiscernError
from discern_server.rules.offers import OFFERS, Offer

_T = TypeVar("_T")


class DefinitionError(DiscernError):
    """Definitions of prompts or resources that cannot be served; `diagnostics` tells every fault."""


def check_wire(offer: Offer, definition: Any, origin: str | None) -> None:
    """Nothing where `definition` has the shape of the `offer`.

    Raises:
        DefinitionError: it has not; each finding is placed within `origin`, or within the kind of offer.
    """
    findings = [*offer.findings(definition)]
    if findings:
        raise DefinitionError(finding.within(origin or offer.folder) for finding in findings)


def load_folder(
    offer: Offer,
    directory: str | Path | Traversable,
    make: Callable[[Mapping[str, Any], str], _T],
    *,
    shown: str | None = None,
) -> tuple[_T, ...]:
    """What `make` makes of each ``*.json`` of a folder, in the order of the file names.

    Args:
        offer: What they define.
        directory: The folder.
        make: Takes a definition and the file it came from.
        shown: How the folder is called in findings; its path unless given.

    Raises:
        DefinitionError: The folder or a file cannot be read, or a file does not have the shape: every finding of
            every file, with its line.
    """
    folder = Path(directory) if isinstance(directory, str) else directory
    made: list[_T] = []
    faults: list[Diagnostic] = []
    for file in definition_files(folder, DefinitionError):
        origin = str(file) if shown is None else f"{shown}/{file.name}"
        value, findings = read_definition(file, origin, offer.findings)
        faults += findings
        if not findings:
            made.append(make(value, origin))
    if faults:
        raise DefinitionError(faults)
    return tuple(made)


def folder_findings(schemas: Path) -> Iterator[Diagnostic]:
    """What is wrong with the definitions of prompts and resources in the folders inside `schemas`, if there are any.

    Files are named relative to the folder that holds `schemas`.
    """
    for offer in OFFERS:
        folder = schemas / offer.folder
        for file in definition_files(folder, DefinitionError) if folder.is_dir() else ():
            yield from read_definition(file, f"{schemas.name}/{offer.folder}/{file.name}", offer.findings)[1]
