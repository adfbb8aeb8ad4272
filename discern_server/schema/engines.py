"""The two validation engines behind one door, each turning its errors into `Failure` values.

`jsonschema-rs` is the fast one and is used wherever it has a wheel; `jsonschema`, the reference, takes
over elsewhere (docs/adr/0005-validation-engine.md). Neither ever fetches a reference: the first is
compiled with ``offline``, the second gets a registry without a retriever.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeAlias

from discern_server.schema.pointer import Token, resolve

EngineName: TypeAlias = Literal["jsonschema-rs", "jsonschema"]

BACKTRACK_LIMIT: Final = 100_000
"""Steps that one match of one pattern may take where it needs backtracking; about four milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One keyword that one place of an instance does not satisfy.

    Attributes:
        keyword: The keyword, such as ``required``; ``false`` for the schema that allows nothing.
        evaluation_path: The way from the root schema to the keyword, through each ``$ref`` taken.
        instance_path: The way from the root of the instance to the place.
        instance: The value at that place.
        parent: The schema object that holds the keyword; None where it is not in the document.
        value: What the keyword says, such as ``10`` for ``maximum``.
        names: The property names at fault: missing, or not allowed.
        of_name: True where `instance` is the name of a property, judged by ``propertyNames``.
        branches: For ``anyOf`` and ``oneOf``, why each alternative failed; empty for one that did not.
        note: What the engine itself has to say where the above cannot tell it.
    """

    keyword: str
    evaluation_path: tuple[Token, ...]
    instance_path: tuple[Token, ...]
    instance: Any
    parent: Mapping[str, Any] | None = None
    value: Any = None
    names: tuple[str, ...] = ()
    of_name: bool = False
    branches: tuple[tuple[Failure, ...], ...] = ()
    note: str = ""


class Engine(Protocol):
    """A compiled schema. Safe to share between threads."""

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance`, plain JSON, satisfies the schema."""

    def failures(self, instance: Any) -> Iterator[Failure]:
        """Every failure of `instance`, in the engine's own order."""


class CannotCompileError(Exception):
    """An engine refuses a schema: `reason` says why, `path` where, as far as the engine tells."""

    def __init__(self, reason: str, path: tuple[Token, ...] = ()) -> None:
        self.reason = reason
        self.path = path
        super().__init__(reason)


def fast_engine_is_here() -> bool:
    """Whether `jsonschema-rs` is installed."""
    return importlib.util.find_spec("jsonschema_rs") is not None


def compile_fast(schema: Any) -> Engine:
    """Compile with `jsonschema-rs`.

    Raises:
        CannotCompileError: the schema is no schema of its dialect, or holds a reference or a pattern that is of no use.
    """
    return _FastEngine(schema)


def compile_reference(schema: Any) -> Engine:
    """Compile with `jsonschema`.

    Raises:
        CannotCompileError: as `compile_fast`.
    """
    return _ReferenceEngine(schema)


# --- jsonschema-rs ------------------------------------------------------------------------------------


class _FastEngine:
    def __init__(self, schema: Any) -> None:
        import jsonschema_rs

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
        return map(self._failure, self._validator.iter_errors(instance))

    def _failure(self, error: Any) -> Failure:
        from jsonschema_rs import ValidationErrorKind as Kind

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
        parent = None if refuses_all else _mapping_at(self._schema, error.schema_path[:-1])
        too_costly = isinstance(kind, Kind.BacktrackLimitExceeded | Kind.RegexEngineFailure)
        return Failure(
            keyword=keyword,
            evaluation_path=tuple(error.evaluation_path),
            instance_path=tuple(error.instance_path),
            instance=error.instance,
            parent=parent,
            value=parent.get(keyword) if parent else kind.value,
            names=_fast_names(kind),
            branches=tuple(tuple(map(self._failure, branch)) for branch in getattr(kind, "context", ())),
            note="the pattern takes too many steps on this value" if too_costly else "",
        )


def _fast_names(kind: Any) -> tuple[str, ...]:
    missing = getattr(kind, "property", None)
    if missing is not None:
        return (str(missing),)
    return tuple(map(str, getattr(kind, "unexpected", ())))


def _mapping_at(schema: Any, path: Iterable[Token]) -> Mapping[str, Any] | None:
    try:
        parent = resolve(schema, path)
    except LookupError:
        return None
    return parent if isinstance(parent, Mapping) else None


# --- jsonschema ---------------------------------------------------------------------------------------


class _ReferenceEngine:
    def __init__(self, schema: Any) -> None:
        import jsonschema
        from jsonschema_specifications import REGISTRY

        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise CannotCompileError(error.message, tuple(error.absolute_path)) from error
        self._validator = jsonschema.Draft202012Validator(schema, registry=REGISTRY)
        self.is_valid = self._validator.is_valid

    def failures(self, instance: Any) -> Iterator[Failure]:
        return (_reference_failure(error, instance) for error in self._validator.iter_errors(instance))


def _reference_failure(error: Any, root: Any) -> Failure:
    parent = error.schema if isinstance(error.schema, Mapping) else None
    instance_path = tuple(error.absolute_path)
    return Failure(
        keyword=str(error.validator or "false"),
        evaluation_path=tuple(error.absolute_schema_path),
        instance_path=instance_path,
        instance=error.instance,
        parent=parent,
        value=error.validator_value,
        names=_reference_names(error),
        of_name=isinstance(error.instance, str) and isinstance(resolve(root, instance_path), Mapping),
        branches=_reference_branches(error, root),
    )


def _reference_names(error: Any) -> tuple[str, ...]:
    """The quoted names at the start of the engine's message: it tells them nowhere else."""
    if error.validator in ("required", "dependentRequired"):
        return tuple(name for name in _required_names(error) if error.message.startswith(f"{name!r} "))
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        return tuple(
            name
            for name in error.instance
            if name not in known and not any(re.search(pattern, name) for pattern in patterns)
        )
    return ()


def _required_names(error: Any) -> Iterable[str]:
    value = error.validator_value
    return value if error.validator == "required" else [name for names in value.values() for name in names]


def _reference_branches(error: Any, root: Any) -> tuple[tuple[Failure, ...], ...]:
    if error.validator not in ("anyOf", "oneOf"):
        return ()
    branches: list[list[Failure]] = [[] for _ in error.validator_value]
    for cause in error.context:
        branches[cause.schema_path[0]].append(_reference_failure(cause, root))
    return tuple(map(tuple, branches))
