"""Compare what the sources generate with the files in ``schemas/``.

`discern accept` keeps a list, ``discern.lock``, of the files it wrote with a digest of each, beside the
project file and checked in with it. By it a file that it wrote and nobody touched since, which it may
overwrite or delete, is told from one that a person wrote or changed, which it may not unless told to.
The list is read leniently: what a merge left in it, two digests of one file or a line that is
none, does no harm, and the next ``discern accept`` writes it anew.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from discern_server.catalog import ToolDefinition, thaw
from discern_server.result import Diagnostic, Severity

LOCK_NAME: Final = "discern.lock"
FOLDER_NAME: Final = "schemas"

Lock: TypeAlias = frozenset[tuple[str, str]]
"""File names, each with the digest of what was written to it."""

_LOCK_HEADING: Final = "# What discern accept wrote to schemas/, to tell its files from yours. Check this file in.\n"
_LOCK_LINE: Final = re.compile(r"([0-9a-f]{64})  (\S+)")


class FileState(StrEnum):
    """How a file in ``schemas/`` stands to what the sources generate."""

    CURRENT = "current"
    """It is what they generate."""
    MISSING = "missing"
    """They generate it, and it is not there."""
    STALE = "stale"
    """It is what they generated once."""
    EDITED = "edited"
    """They generate it, and it differs from what was ever written: a person wrote or changed it."""
    OBSOLETE = "obsolete"
    """They generated it once, and no longer do."""
    UNKNOWN = "unknown"
    """They do not generate it, and it was not written by us: a person's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileComparison:
    """One file of ``schemas/``, compared.

    Attributes:
        file: Its name.
        state: How it stands.
        wanted: What the sources generate for it; None where they do not.
        found: What it holds; None where it is not there.
    """

    file: str
    state: FileState
    wanted: bytes | None
    found: bytes | None

    @property
    def path(self) -> str:
        """Its path from the project's folder."""
        return f"{FOLDER_NAME}/{self.file}"


def compare(definitions: Mapping[str, ToolDefinition], folder: Path, lock: Lock) -> list[FileComparison]:
    """Compare every file that is there or should be, in the order of their names.

    Raises:
        OSError: The folder or a file cannot be read; a folder that is not there is empty.
    """
    wanted = {f"{name}.json": file_content(definition) for name, definition in definitions.items()}
    found = _found(folder)
    return [_compared(file, wanted.get(file), found.get(file), lock) for file in sorted({*wanted, *found})]


def file_content(definition: ToolDefinition) -> bytes:
    """What a definition's file holds: its JSON with two spaces of indent and a final newline."""
    return (json.dumps(thaw(definition.wire), indent=2, ensure_ascii=False) + "\n").encode()


def read_lock(root: Path) -> Lock:
    """The list of written files in the folder `root`; empty where there is none.

    Raises:
        OSError: It cannot be read.
    """
    try:
        text = (root / LOCK_NAME).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return frozenset()
    return frozenset((match[2], match[1]) for line in text.splitlines() if (match := _LOCK_LINE.fullmatch(line)))


def lock_content(comparisons: Sequence[FileComparison]) -> bytes:
    """The list of written files once ``schemas/`` is what the sources generate."""
    lines = (f"{_digest(entry.wanted)}  {entry.file}\n" for entry in comparisons if entry.wanted is not None)
    return (_LOCK_HEADING + "".join(lines)).encode()


def findings(comparisons: Sequence[FileComparison]) -> Iterator[Diagnostic]:
    """A finding for each file that is not current."""
    for entry in comparisons:
        if entry.state is not FileState.CURRENT:
            message, fix = _SAID[entry.state]
            severity = Severity.WARNING if entry.state is FileState.UNKNOWN else Severity.ERROR
            yield Diagnostic(
                rule=f"schemas.{entry.state.value}", severity=severity, message=message, path=entry.path, fix=fix
            )


_SAID: Final[Mapping[FileState, tuple[str, str]]] = {
    FileState.MISSING: ("a source generates it, and it is not there", "run discern accept"),
    FileState.STALE: ("its source has changed since it was written", "run discern accept"),
    FileState.EDITED: (
        "it was written or changed by hand, and its source says otherwise",
        "make the change in its source, then run discern accept --overwrite",
    ),
    FileState.OBSOLETE: ("no source generates it any more", "run discern accept"),
    FileState.UNKNOWN: (
        "no source generates it, and discern accept did not write it",
        "keep it in a folder that a source of kind schemas names, or delete it",
    ),
}


def _found(folder: Path) -> dict[str, bytes]:
    try:
        files = [file for file in folder.iterdir() if file.suffix == ".json" and file.is_file()]
    except FileNotFoundError:
        return {}
    # A checkout may have turned line ends into CRLF, which is no change.
    return {file.name: file.read_bytes().replace(b"\r\n", b"\n") for file in files}


def _compared(file: str, wanted: bytes | None, found: bytes | None, lock: Lock) -> FileComparison:
    return FileComparison(file=file, state=_state(file, wanted, found, lock), wanted=wanted, found=found)


def _state(file: str, wanted: bytes | None, found: bytes | None, lock: Lock) -> FileState:
    if found is None:
        return FileState.MISSING
    if found == wanted:
        return FileState.CURRENT
    is_ours = (file, _digest(found)) in lock
    if wanted is None:
        return FileState.OBSOLETE if is_ours else FileState.UNKNOWN
    return FileState.STALE if is_ours else FileState.EDITED


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
