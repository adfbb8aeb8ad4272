"""Docstrings in Google style: the description, what is said of each parameter or attribute, and of the result."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_SECTION: Final = re.compile(r"(Args|Arguments|Parameters|Attributes|Returns|Yields|Raises)\s*:\s*")
_PARAMETER: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_ARGUMENTS: Final = frozenset({"Args", "Arguments", "Parameters", "Attributes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says.

    Attributes:
        description: Everything outside the sections, paragraphs kept; None where there is nothing.
        parameters: What ``Args:`` says of each parameter, or ``Attributes:`` of each attribute, lines joined.
        returns: What ``Returns:`` says, lines joined; None where there is nothing.
    """

    description: str | None
    parameters: Mapping[str, str]
    returns: str | None


def parse(text: str | None) -> Docstring:
    """Read a docstring. ``Raises:`` and ``Yields:`` are for callers in Python and are left out."""
    outside: list[str] = []
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in inspect.cleandoc(text or "").splitlines():
        heading = _SECTION.fullmatch(line)
        if heading:
            name = "Args" if heading[1] in _ARGUMENTS else heading[1]
            current = sections.setdefault(name, [])
        elif current is not None and (not line or line[0].isspace()):
            current.append(line)
        else:
            current = None
            outside.append(line)
    return Docstring(
        description=re.sub(r"\n{3,}", "\n\n", "\n".join(outside)).strip() or None,
        parameters=_parameters(sections.get("Args", [])),
        returns=_joined(sections.get("Returns", [])) or None,
    )


def _parameters(lines: list[str]) -> Mapping[str, str]:
    """``name: text`` or ``name (type): text`` per parameter; deeper lines go on with the one before."""
    told: dict[str, list[str]] = {}
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    name = None
    for line in lines:
        entry = _PARAMETER.fullmatch(line.strip()) if line.strip() and _indent(line) == indent else None
        if entry:
            name = entry[1]
            told[name] = [entry[2]]
        elif name is not None:
            told[name].append(line)
    return {name: _joined(text) for name, text in told.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
