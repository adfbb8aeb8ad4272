"""References into files: a resolver that reads inside one folder and nowhere else."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from discern_server.schema.errors import UnresolvableError

Parse = Callable[[str], Any]
"""From the text of a document to its value; raises `ValueError` for text that is none."""

MAX_BYTES: Final = 32 * 1024 * 1024

# A pipe is opened without waiting for a writer, and then refused; a terminal does not become ours.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NOFOLLOW", 0)


def parsed(content: bytes, parse: Parse, name: str) -> Any:
    """The value of a document in UTF-8.

    Raises:
        UnresolvableError: It is no text, or `parse` makes nothing of it; `name` says which document it is.
    """
    try:
        return parse(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnresolvableError(f"leads to what cannot be understood: {name}: {error}") from error


class FolderResolver:
    """Supplies documents from the files inside `root`.

    It takes ``file:`` URIs and relative references, which are relative to `root`. A path that leaves the
    folder, through ``..`` or through a symbolic link, is refused.

    Args:
        root: The folder.
        parse: Reads the text of a file, which is UTF-8; JSON unless told otherwise.
        max_bytes: How large a file may be.

    Raises:
        OSError: `root` does not exist.
    """

    def __init__(self, root: Path, *, parse: Parse = json.loads, max_bytes: int = MAX_BYTES) -> None:
        self._root = root.resolve(strict=True)
        self._parse = parse
        self._max_bytes = max_bytes

    def __call__(self, uri: str) -> Any:
        """The document in the file that `uri` names.

        Raises:
            UnresolvableError: It is not there, not inside the folder, too large, or not readable as a document.
        """
        path = self._path_of(uri)
        try:
            content = self._read(path)
        except OSError as error:
            raise UnresolvableError(f"cannot be read: {path}: {error.strerror or error}") from error
        return parsed(content, self._parse, str(path))

    def _path_of(self, uri: str) -> Path:
        parts = urlsplit(uri)
        if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost") or parts.query:
            raise UnresolvableError(
                f"is not in a file: {uri}", f"Only files in {self._root} are read; put a copy there and refer to that."
            )
        try:
            path = (self._root / url2pathname(parts.path)).resolve(strict=True)
        except FileNotFoundError:
            raise UnresolvableError(f"leads to a file that is not there: {uri}") from None
        except (OSError, ValueError) as error:
            raise UnresolvableError(f"leads to no file: {uri}: {error}") from error
        if not path.is_relative_to(self._root):
            raise UnresolvableError(
                f"leaves the folder {self._root}: {path}", "Put the file inside it, or allow a folder that holds both."
            )
        return path

    def _read(self, path: Path) -> bytes:
        with open(os.open(path, _FLAGS), "rb") as file:  # noqa: PTH123 - the descriptor is what was checked
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnresolvableError(f"leads to what is no file: {path}")
            content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise UnresolvableError(f"leads to a file of more than {self._max_bytes} bytes: {path}")
        return content
