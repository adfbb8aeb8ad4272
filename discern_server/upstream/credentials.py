"""Credentials by reference: a secret is named by an environment variable or a file, and read when it is needed.

Nothing here holds a secret for longer than a call: a rotated file or variable counts from the next call on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol, TypeAlias


class SecretReference(Protocol):
    """Where a secret is to be had: exactly one of the two is set."""

    @property
    def env(self) -> str | None:
        """The name of an environment variable."""

    @property
    def file(self) -> Path | None:
        """A file that holds the secret and nothing else; line breaks at its end do not count."""


Credential: TypeAlias = SecretReference | Mapping[str, SecretReference]
"""One secret (an API key, a token, ``user:password``), or the secrets of its parts: ``username`` and ``password``, or
``client_id`` and ``client_secret``."""

_MOST_BYTES: Final = 65_536
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class SecretError(Exception):
    """A secret that is not there, or is none.

    Attributes:
        reason: Why, without any of the secret.
        fix: What to do about it.
    """

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


def read_secret(reference: SecretReference, environ: Mapping[str, str]) -> str:
    """The secret.

    Raises:
        SecretError: The variable is not set, the file cannot be read, or what is there is empty or holds line breaks.
    """
    if reference.env is not None:
        place, secret = f"the environment variable {reference.env}", environ.get(reference.env, "")
    else:
        place, secret = f"the file {reference.file}", _file_text(reference.file)
    if not secret:
        raise SecretError(f"{place} is not set or empty", "set it where the server is started")
    if _CONTROL.search(secret):
        raise SecretError(f"{place} holds line breaks or control characters", "leave the secret alone in it")
    return secret


def _file_text(file: Path | None) -> str:
    if file is None:
        raise SecretError("no variable and no file is named", 'write { env = "NAME" } or { file = "path" }')
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES)
        return content.decode("utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise SecretError(f"the file {file} cannot be read: {reason}", "check its path and permissions") from error
