"""Names for tools and for their arguments: cleaned, bounded, unique, and the same whatever stands around them.

A tool's name comes from its operation alone: from ``operationId``, or from method and path where there is none or
it has letters that a name cannot have. It may consist of ``A-Z a-z 0-9 _ -`` and have 64 characters: that is
what clients in wide use take (the protocol allows more). A name that is cut ends in a hash of the whole. A name
that several operations would have is given to none of them: each gets its own hash, of method and path. So no
name depends on the order of a document, and none ever comes to mean another operation.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from discern_server.sources.openapi.description import Operation, Parameter

MAX_NAME: Final = 64
"""The longest tool name and the longest property name that clients in wide use take."""
BODY: Final = "body"
"""The argument that holds the request body."""

_HASH_DIGITS: Final = 8
_NOT_IN_TOOL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_IN_ARGUMENT: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def tool_names(operations: Iterable[Operation], prefix: str = "") -> dict[str, str]:
    """A name for each operation, by `Operation.key`; `prefix` goes before every one."""
    return _settle(_settle({operation.key: _wanted(operation, prefix) for operation in operations}))


def _wanted(operation: Operation, prefix: str) -> str:
    given = operation.operation_id
    if given is not None and _is_plain(given):
        name, whole = prefix + _clean(given, _NOT_IN_TOOL), True
    else:
        name, whole = prefix + _from_path(operation), _is_plain(operation.path) or operation.path == "/"
    return name if whole and len(name) <= MAX_NAME else _hashed(name, given or operation.key)


def _from_path(operation: Operation) -> str:
    return "_".join(filter(None, (operation.method.lower(), _clean(operation.path, _NOT_IN_TOOL))))


def _is_plain(text: str) -> bool:
    """Whether cleaning keeps every letter and digit: something of them is left, and none is outside of ASCII."""
    plain = _without_accents(text)
    return any(char.isalnum() for char in plain) and all(char.isascii() for char in plain if char.isalnum())


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _clean(text: str, unwanted: re.Pattern[str]) -> str:
    return unwanted.sub("_", _without_accents(text)).strip("_.")


def _hashed(name: str, key: str) -> str:
    """`name`, cut where it is too long, with a hash of `key` at its end."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{name[: MAX_NAME - _HASH_DIGITS - 1].rstrip('_-.')}_{digest}".lstrip("_")


def _settle(wanted: Mapping[str, str]) -> dict[str, str]:
    """The wanted names by operation; those that several want end in each operation's own hash.

    Names that differ in case alone count as one, for a definition's file is named after its tool and
    file systems differ in this.
    """
    holders = Counter(name.casefold() for name in wanted.values())
    return {
        key: name if holders[name.casefold()] == 1 else _hashed(name, f"{key} {name}") for key, name in wanted.items()
    }


# --- arguments --------------------------------------------------------------------------------------


def argument_names(parameters: Sequence[Parameter], *, has_body: bool) -> list[str]:
    """A name for each parameter, in their order: its own wherever it can be.

    The rule for clashes: ``body`` is the request body wherever there is one. A name that parameters in several
    places have, or one that would be ``body``, gets its place before it: ``path_id``, ``query_id``, ``query_body``.
    Characters that clients do not take in property names become underscores; where two names then are the
    same, the one that was written so keeps it and the other gets a hash of place and name.
    """
    places = Counter(parameter.name for parameter in parameters)
    wanted: dict[tuple[str, str], str] = {("", BODY): BODY} if has_body else {}
    for parameter in parameters:
        name = _clean(parameter.name, _NOT_IN_ARGUMENT) or parameter.location
        if places[parameter.name] > 1 or (has_body and parameter.name == BODY):
            name = f"{parameter.location}_{name}"
        key = (parameter.location, parameter.name)
        wanted[key] = name if len(name) <= MAX_NAME else _hashed(name, ":".join(key))
    holders = Counter(wanted.values())
    return [
        _hashed(wanted[key], ":".join(key)) if holders[wanted[key]] > 1 and wanted[key] != key[1] else wanted[key]
        for key in ((parameter.location, parameter.name) for parameter in parameters)
    ]
