"""Names for definitions: readable, and the same for the same input."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from discern_server.schema.documents import Place
from discern_server.schema.pointer import parse

_HOLDERS_OF_NAMES: Final = frozenset({"$defs", "definitions", "properties", "schemas", "patternProperties"})
_UNCLEAN: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_LENGTH: Final = 60


class Names:
    """Hands out each name once; a second claim to one is settled by a short hash of what claims it."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, wanted: str, identity: str) -> str:
        """`wanted`, or `wanted` with a hash of `identity` where it is taken."""
        name, digits = wanted, 6
        while name in self._taken:
            name = f"{wanted}_{sha256(identity.encode('utf-8', 'replace')).hexdigest()[:digits]}"
            digits += 2
        self._taken.add(name)
        return name


def name_for(place: Place) -> str:
    """What a person would call the schema at that place.

    The key under which it is defined; else its title; else the last of its pointer; else the file that it is in.
    Only ASCII letters, digits and ``_.-`` are used, so that a pointer to the name needs no escapes.
    """
    tokens = parse(place.pointer)
    if len(tokens) > 1 and tokens[-2] in _HOLDERS_OF_NAMES:
        wanted = tokens[-1]
    elif isinstance(place.value, dict) and isinstance(place.value.get("title"), str):
        wanted = place.value["title"]
    elif tokens:
        wanted = "_".join(tokens[-2:])
    else:
        path = urlsplit(place.resource.uri).path.rstrip("/")
        wanted = path.rpartition("/")[2].rpartition(":")[2].removesuffix(".json")
    return cleaned(wanted)


def cleaned(text: str) -> str:
    """`text` in the characters that names are made of."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _UNCLEAN.sub("_", plain).strip("_")[:_MAX_LENGTH] or "schema"
