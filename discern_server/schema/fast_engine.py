"""The fast engine: `jsonschema-rs`.

Nothing is fetched (``offline``), ``format`` is an annotation (2020-12 Validation, 7.2.1), and a pattern
may take `BACKTRACK_LIMIT` steps on one value. Its verdicts take time linear in the instance, also for
recursive schemas, since it remembers what it has judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs

from discern_server.schema.engines import CannotCompileError
from discern_server.schema.words import show

if TYPE_CHECKING:
    from discern_server.schema.failure import Failure
    from discern_server.schema.fast_failures import FastFailures

BACKTRACK_LIMIT: Final = 100_000
"""Steps that one match of one pattern may take where it needs backtracking; about four milliseconds."""


class FastEngine:
    """A schema compiled by `jsonschema-rs`: 2020-12, and self-contained."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._validator = compile_fast(schema)
        self.is_valid = self._validator.is_valid

    def failures(self, instance: Any) -> Iterator[Failure]:
        """The failures; not every one where to find them all would take too long."""
        return self._failures.of(instance)

    @cached_property
    def _failures(self) -> FastFailures:
        # A server that is only ever sent good values never needs it.
        from discern_server.schema.fast_failures import FastFailures

        return FastFailures(self._schema, self._validator)


def meets_its_metaschema(schema: Any) -> bool:
    """Whether the engine's own copy of the meta-schema accepts `schema`."""
    try:
        return jsonschema_rs.meta.is_valid(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return False


def compile_fast(schema: Any, registry: jsonschema_rs.Registry | None = None) -> jsonschema_rs.Draft202012Validator:
    """Compile a schema; with a `registry`, its references may lead into what is there.

    Raises:
        CannotCompileError: As `discern_server.schema.engines.compile_schema`.
    """
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            registry=registry,
            validate_formats=False,
            offline=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACK_LIMIT),
        )
    except jsonschema_rs.ValidationError as error:
        path = tuple(error.instance_path)
        if error.kind.name == "format":
            reason = f"{show(error.instance)} is no pattern of ECMA-262, or too large a one"
            raise CannotCompileError(reason, path, rule="schema.pattern") from error
        raise CannotCompileError(error.message, path) from error
    except ValueError as error:
        raise CannotCompileError(str(error)) from error
