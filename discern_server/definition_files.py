"""Reading a folder of definitions: which files it has, and what each holds, with every fault in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from discern_server.jsontext import JsonTextError, read_json
from discern_server.result import Diagnostic, DiscernError
from discern_server.rules.folders import FILE, FOLDER


def definition_files(folder: Path | Traversable, error: type[DiscernError]) -> list[Path | Traversable]:
    """The ``*.json`` of a folder, in the order of their names; other files and folders inside are left alone.

    Raises:
        DiscernError: Of the class `error`: the folder cannot be read.
    """
    try:
        files = [entry for entry in folder.iterdir() if entry.name.endswith(".json") and not entry.is_dir()]
    except OSError as fault:
        raise error([FOLDER.at(str(folder), f"cannot read the folder: {fault.strerror or fault}")]) from None
    return sorted(files, key=lambda file: file.name)


def read_definition(
    file: Path | Traversable, origin: str, check: Callable[[Any], Iterable[Diagnostic]]
) -> tuple[Any, list[Diagnostic]]:
    """What a file holds, and all that is wrong with it: it cannot be read, is no strict JSON, or `check` found faults.

    Findings are placed within `origin`, those of `check` with their line.
    """
    try:
        document = read_json(file.read_bytes())
    except OSError as fault:
        return None, [FILE.at(origin, f"cannot read the file: {fault.strerror or fault}")]
    except JsonTextError as error:
        return None, [fault.within(origin) for fault in error.diagnostics]
    return document.value, [*document.placed(check(document.value), origin)]
