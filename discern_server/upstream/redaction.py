"""Masking of secrets: the one place where text that leaves the process is cleaned of credentials.

A secret is found as it is, percent-encoded, as a form encodes it and as JSON escapes it. One of fewer than
`_LONG` characters is masked only where it stands alone, so that an API key of ``id`` does not
tear words apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

MASK: Final = "***"

_LONG: Final = 8


class Redactor:
    """Masks a set of secrets in text and in JSON values."""

    __slots__ = ("_pattern",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets if secret for spelling in _spellings(secret)}
        alternatives = [_alternative(spelling) for spelling in sorted(spellings, key=len, reverse=True)]
        self._pattern = re.compile("|".join(alternatives), re.IGNORECASE) if alternatives else None

    def text(self, text: str) -> str:
        """`text` with each secret masked."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def value(self, value: Any) -> Any:
        """A JSON value with each secret in its strings and keys masked; itself where there are none to mask."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(member) for key, member in value.items()}
        return [self.value(item) for item in value] if isinstance(value, list | tuple) else value


def _spellings(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}


def _alternative(spelling: str) -> str:
    pattern = re.escape(spelling)
    return pattern if len(spelling) >= _LONG else rf"(?<!\w){pattern}(?!\w)"
