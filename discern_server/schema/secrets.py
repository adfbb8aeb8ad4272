"""Which values of an instance a schema wants out of sight: those it marks ``writeOnly`` or ``format: password``.

The answer errs on the side of hiding: a property that is secret in one place of the schema is hidden
wherever its name is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from discern_server.schema.local_references import LocalReferences
from discern_server.schema.pointer import Token, parse, resolve

_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_WITHIN: Final = ("if", "then", "else", "not", "items", "contains", "additionalProperties", "unevaluatedProperties")


class Secrets:
    """What must not be shown of the instances of one schema."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._references = LocalReferences(schema)
        self._names = frozenset(self._secret_names())

    def hide(self, evaluation_path: Iterable[Token], instance_path: Iterable[Token]) -> bool:
        """Whether the value at `instance_path`, judged by the keyword at `evaluation_path`, is a secret."""
        return any(token in self._names for token in instance_path) or any(
            map(_is_marked, self._schemas_along(evaluation_path))
        )

    def _schemas_along(self, evaluation_path: Iterable[Token]) -> Iterator[Any]:
        """The values on the way from the root to the keyword, through local references."""
        value = self._schema
        for token in evaluation_path:
            yield value
            if token in ("$ref", "$dynamicRef"):
                value = self._target(value)
                continue
            if isinstance(value, Mapping) and token not in value:
                value = self._target(value)
                yield value
            try:
                value = resolve(value, [token])
            except LookupError:
                return

    def _secret_names(self) -> Iterator[str]:
        """The names of all properties, anywhere in the schema, whose schema is marked."""
        for schema in self._references.schemas.values():
            properties = schema.get("properties")
            if isinstance(properties, Mapping):
                yield from (name for name, inner in properties.items() if self._is_secret(inner))

    def _is_secret(self, schema: Any) -> bool:
        """Whether `schema`, or a schema it stands for or holds without a name, is marked."""
        waiting = [schema]
        seen: set[int] = set()
        while waiting:
            part = waiting.pop()
            if not isinstance(part, Mapping) or id(part) in seen:
                continue
            seen.add(id(part))
            if _is_marked(part):
                return True
            waiting += [part.get(keyword) for keyword in _WITHIN]
            waiting += [item for keyword in _IN_PLACE if isinstance(part.get(keyword), list) for item in part[keyword]]
            waiting.append(self._target(part))
        return False

    def _target(self, schema: Any) -> Any:
        """What the reference of `schema` leads to; None where there is none to follow."""
        target = self._references.target(schema) if isinstance(schema, Mapping) else None
        return None if target is None else resolve(self._schema, parse(target))


def _is_marked(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (schema.get("writeOnly") is True or schema.get("format") == "password")
