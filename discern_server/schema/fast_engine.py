"""The fast engine: `jsonschema-rs`.

Nothing is fetched (``offline``), ``format`` is an annotation (2020-12 Validation, 7.2.1), and a pattern
may take `BACKTRACK_LIMIT` steps on one value. Its verdicts take time linear in the instance, also for
recursive schemas, since it remembers what it has judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from discern_server.schema.engines import CannotCompileError, Failure
from discern_server.schema.pointer import resolve

BACKTRACK_LIMIT: Final = 100_000
"""Steps that one match of one pattern may take where it needs backtracking; about four milliseconds."""


class FastEngine:
    """A schema compiled by `jsonschema-rs`."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        try:
            self._validator = jsonschema_rs.Draft202012Validator(
                schema,
                validate_formats=False,
                offline=True,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
            )
        except jsonschema_rs.ValidationError as error:
            raise CannotCompileError(error.message, tuple(error.instance_path)) from error
        except ValueError as error:
            raise CannotCompileError(str(error)) from error
        self.is_valid = self._validator.is_valid

    def failures(self, instance: Any) -> Iterator[Failure]:
        """Every failure, all found before the first is given."""
        return map(self._failure, self._validator.iter_errors(instance))

    def _failure(self, error: Any) -> Failure:
        kind = error.kind
        if isinstance(kind, Kind.PropertyNames):
            return replace(
                self._failure(kind.error),
                evaluation_path=tuple(error.evaluation_path),
                instance_path=tuple(error.instance_path),
                of_name=True,
            )
        refuses_all = isinstance(kind, Kind.FalseSchema)
        keyword = "false" if refuses_all else str(error.schema_path[-1])
        parent = None if refuses_all else self._parent(error, keyword)
        too_costly = isinstance(kind, Kind.BacktrackLimitExceeded | Kind.RegexEngineFailure)
        return Failure(
            keyword=keyword,
            evaluation_path=tuple(error.evaluation_path),
            instance_path=tuple(error.instance_path),
            instance=error.instance,
            parent=parent,
            value=parent[keyword] if parent else kind.value,
            names=_names(kind),
            branches=tuple(tuple(map(self._failure, branch)) for branch in getattr(kind, "context", ())),
            note="the pattern takes too many steps on this value" if too_costly else "",
        )

    def _parent(self, error: Any, keyword: str) -> Mapping[str, Any] | None:
        """The schema that holds the keyword, unless it stands in a part with an ``$id`` of its own.

        There the engine counts the path from that part.
        """
        base = (error.absolute_keyword_location or "").partition("#")[0]
        if base and base != str(self._schema.get("$id", "")).partition("#")[0]:
            return None
        try:
            parent = resolve(self._schema, error.schema_path[:-1])
        except LookupError:
            return None
        return parent if isinstance(parent, Mapping) and keyword in parent else None


def _names(kind: Any) -> tuple[str, ...]:
    missing = getattr(kind, "property", None)
    if missing is not None:
        return (str(missing),)
    return tuple(map(str, getattr(kind, "unexpected", ())))
