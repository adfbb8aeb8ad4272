"""Which dialect a ``$schema`` means: a published one, or what a meta-schema of one's own makes of a published one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from discern_server.schema.dialects import DIALECTS, FORMAT_ASSERTION, VOCABULARIES, Dialect, find_dialect
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.references import split

Resolve = Callable[[str], Any]
"""From an absolute URI without fragment to the parsed document; raises `UnresolvableError` to refuse."""

_KNOWN: Final = ", ".join(dialect.name for dialect in DIALECTS)


def published(uri: str) -> Any:
    """A published meta-schema, from the copies that are installed with `jsonschema`; None for any other URI."""
    if "json-schema.org/" not in uri:
        return None
    from jsonschema_specifications import REGISTRY

    resource = REGISTRY.get(uri) or REGISTRY.get(uri + "#")
    return None if resource is None else resource.contents


class Dialects:
    """Finds dialects; meta-schemas that are not published come from `resolve`."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._own: dict[str, Dialect] = {}

    def find(self, name_or_uri: str) -> Dialect:
        """The dialect of that name or ``$schema``.

        Raises:
            UnresolvableError: It is not known, or demands what cannot be given.
        """
        chain = [name_or_uri]
        while (dialect := find_dialect(chain[-1]) or self._own.get(chain[-1])) is None:
            declared = self._metaschema(chain[-1]).get("$schema")
            if not isinstance(declared, str) or declared in chain:
                raise _unknown()
            chain.append(declared)
        for uri in reversed(chain[:-1]):
            dialect = self._own[uri] = _with_vocabulary(dialect, uri, self._metaschema(uri))
        return dialect

    def _metaschema(self, name_or_uri: str) -> dict[str, Any]:
        try:
            contents = self._resolve(split(name_or_uri)[0])
        except LookupError:
            raise _unknown() from None
        return contents if isinstance(contents, dict) else {}


def _unknown() -> UnresolvableError:
    return UnresolvableError(
        "is not known",
        f"Name one of {_KNOWN}; for a dialect of your own, hand over a resolver that has its meta-schema.",
    )


def _with_vocabulary(dialect: Dialect, uri: str, metaschema: dict[str, Any]) -> Dialect:
    """`dialect` as a meta-schema with ``$vocabulary`` makes it (2020-12 Core, 8.1.2)."""
    vocabulary = metaschema.get("$vocabulary")
    if not isinstance(vocabulary, dict):
        return dialect
    for name, required in vocabulary.items():
        if required and name not in VOCABULARIES:
            raise UnresolvableError(f"requires the vocabulary {name!r}, which is not known")
    keywords = frozenset[str]().union(*(VOCABULARIES.get(name, ()) for name in vocabulary))
    return dialect.limited_to(
        keywords & dialect.keywords, name=uri, asserts_format=vocabulary.get(FORMAT_ASSERTION) is True
    )
