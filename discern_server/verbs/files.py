"""Change the files of a project: whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from discern_server.result import Step


def performer(root: Path, contents: Mapping[str, bytes]) -> Callable[[Step], None]:
    """What `discern_server.result.apply` needs to carry out steps in the folder `root`.

    A step's target is a path from `root`; ``delete`` removes it, any other action writes `contents` of it.
    """

    def perform(step: Step) -> None:
        if step.action == "delete":
            (root / step.target).unlink(missing_ok=True)
        else:
            write_file(root / step.target, contents[step.target])

    return perform


def write_file(file: Path, content: bytes) -> None:
    """Replace `file` in one move, so that nobody ever reads half of it; its folder is made where it is missing.

    What was a symbolic link becomes a file; what it pointed to stays as it is.

    Raises:
        OSError: It could not be written; what was there is unharmed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as stream:
            stream.write(content)
        if file.is_file() and not file.is_symlink():
            shutil.copymode(file, draft)
        draft.replace(file)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
