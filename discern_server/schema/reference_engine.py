"""The reference engine: `jsonschema`, for platforms that `jsonschema-rs` has no wheel for.

It is corrected where its verdicts would differ (docs/guide/validation.md holds the table): patterns are
ECMA-262 and bounded in time, ``multipleOf`` is exact, ``dependencies`` is heeded. Nothing is fetched:
its registry knows the meta-schemas and has no retriever. As it remembers nothing, a check takes
`STEP_LIMIT` keywords at most; a value that asks for more is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

import jsonschema
import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from discern_server.schema.ecma import python_pattern
from discern_server.schema.engines import BY_COST, CannotCompileError, Failure
from discern_server.schema.pointer import resolve

PATTERN_SECONDS: Final = 0.05
"""How long one match of one pattern may take."""

STEP_LIMIT: Final = 500_000
"""How many keywords one check may look at."""


class ReferenceEngine:
    """A schema compiled by `jsonschema`."""

    def __init__(self, schema: Any) -> None:
        try:
            Draft202012Validator.check_schema(schema, format_checker=None)  # type: ignore[arg-type]  # its stub forgets that None is allowed
        except jsonschema.SchemaError as error:
            raise CannotCompileError(error.message, tuple(error.absolute_path)) from error
        _check_references_and_patterns(schema)
        self._validator = _Corrected(schema, registry=REGISTRY)

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance` satisfies the schema; False where that takes too many steps to say."""
        try:
            with _counting_steps():
                return bool(self._validator.is_valid(instance))
        except (_TooCostlyError, RecursionError):
            return False

    def failures(self, instance: Any) -> Iterator[Failure]:
        """Every failure; one of the keyword `BY_COST` where the check was given up."""
        try:
            with _counting_steps():
                for error in self._validator.iter_errors(instance):
                    yield _failure(error, instance)
        except (_TooCostlyError, RecursionError):
            note = "it nests too deeply, or in too many ways, to be checked"
            yield Failure(keyword=BY_COST, evaluation_path=(), instance_path=(), instance=instance, note=note)


def _check_references_and_patterns(schema: Any) -> None:
    """Look at what the engine would only meet while it validates."""
    root = DRAFT202012.create_resource(schema)
    waiting = [(REGISTRY.resolver_with_root(root), root)]
    while waiting:
        resolver, resource = waiting.pop()
        contents = resource.contents
        if not isinstance(contents, Mapping):
            continue
        _check_patterns(contents)
        for keyword in ("$ref", "$dynamicRef"):
            reference = contents.get(keyword)
            if isinstance(reference, str):
                try:
                    resolver.lookup(reference)
                except Unresolvable:
                    raise CannotCompileError(f"{keyword} {reference} leads nowhere in this document") from None
        waiting += [(resolver.in_subresource(part), part) for part in resource.subresources()]


def _check_patterns(schema: Mapping[str, Any]) -> None:
    for pattern in [schema.get("pattern"), *schema.get("patternProperties", ())]:
        if isinstance(pattern, str):
            try:
                _compiled(pattern)
            except (ValueError, regex.error) as error:
                raise CannotCompileError(f"{pattern!r} is no pattern: {error}") from None


# --- corrected keywords ---------------------------------------------------------------------------------

_Errors: TypeAlias = Iterator[ValidationError]
_Keyword: TypeAlias = Callable[[Any, Any, Any, Mapping[str, Any]], Iterable[ValidationError] | None]


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    return regex.compile(python_pattern(pattern))


def _matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`.

    Raises:
        TimeoutError: that cannot be said within `PATTERN_SECONDS`.
    """
    return _compiled(pattern).search(text, timeout=PATTERN_SECONDS) is not None


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> _Errors:
    try:
        if validator.is_type(instance, "string") and not _matches(pattern, instance):
            yield ValidationError("does not match")
    except TimeoutError as error:
        yield ValidationError("takes too long", cause=error)


def _properties(validator: Any, properties: Mapping[str, Any], instance: Any, _schema: Any) -> _Errors:
    if validator.is_type(instance, "object"):
        for name, schema in properties.items():
            if name in instance:
                yield from _descend(validator, instance[name], schema, name, name)


def _pattern_properties(validator: Any, properties: Mapping[str, Any], instance: Any, _schema: Any) -> _Errors:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in properties.items():
        for name in instance:
            try:
                matches = _matches(pattern, name)
            except TimeoutError as error:
                yield ValidationError("takes too long", cause=error)
                continue
            if matches:
                yield from _descend(validator, instance[name], schema, name, pattern)


def _additional_properties(validator: Any, schema: Any, instance: Any, parent: Mapping[str, Any]) -> _Errors:
    if not validator.is_type(instance, "object"):
        return
    extra = _additional(instance, parent)
    if schema is False and extra:
        yield ValidationError("not allowed")
    elif schema is not False:
        for name in extra:
            yield from validator.descend(instance[name], schema, path=name)


def _additional(instance: Mapping[str, Any], parent: Mapping[str, Any]) -> list[str]:
    known = parent.get("properties", {})
    return [name for name in instance if name not in known and not _is_patterned(name, parent)]


def _is_patterned(name: str, parent: Mapping[str, Any]) -> bool:
    try:
        return any(_matches(pattern, name) for pattern in parent.get("patternProperties", ()))
    except TimeoutError:
        return True  # `patternProperties` itself tells of it


def _prefix_items(validator: Any, schemas: list[Any], instance: Any, _schema: Any) -> _Errors:
    if validator.is_type(instance, "array"):
        for index, (item, schema) in enumerate(zip(instance, schemas, strict=False)):
            yield from _descend(validator, item, schema, index, index)


def _descend(validator: Any, instance: Any, schema: Any, place: str | int, way: str | int) -> _Errors:
    """As the engine's own, which forgets the place where the schema is false."""
    if schema is False:
        yield ValidationError("not allowed", validator="false", path=[place], schema_path=[way], instance=instance)
    else:
        yield from validator.descend(instance, schema, path=place, schema_path=way)


def _multiple_of(validator: Any, divisor: Any, instance: Any, _schema: Any) -> _Errors:
    # The decimal numbers that JSON text holds, not the doubles nearest to them: 0.3 is a multiple of 0.1.
    if validator.is_type(instance, "number") and _exact(instance) % _exact(divisor):
        yield ValidationError("no multiple")


def _exact(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _dependencies(validator: Any, dependencies: Mapping[str, Any], instance: Any, _schema: Any) -> _Errors:
    # No keyword of 2020-12, whose meta-schema still describes it; `jsonschema-rs` heeds it.
    if not validator.is_type(instance, "object"):
        return
    for name, needed in dependencies.items():
        if name not in instance:
            continue
        if isinstance(needed, list):
            for other in needed:
                if other not in instance:
                    yield ValidationError(f"{other!r} is missing", validator="dependentRequired")
        else:
            yield from validator.descend(instance, needed, schema_path=name)


class _TooCostlyError(Exception):
    """A check has looked at `STEP_LIMIT` keywords."""


class _Steps(threading.local):
    left = 0


_steps: Final = _Steps()


@contextmanager
def _counting_steps() -> Iterator[None]:
    _steps.left = STEP_LIMIT
    yield


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Iterable[ValidationError] | None:
        _steps.left -= 1
        if _steps.left < 0:
            raise _TooCostlyError
        return keyword(validator, value, instance, schema)

    return check


_Corrected: Final = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        name: _counted(keyword)
        for name, keyword in {
            **Draft202012Validator.VALIDATORS,
            "additionalProperties": _additional_properties,
            "dependencies": _dependencies,
            "multipleOf": _multiple_of,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "prefixItems": _prefix_items,
            "properties": _properties,
        }.items()
    },
)

# --- failures -------------------------------------------------------------------------------------------


def _failure(error: ValidationError, root: Any) -> Failure:
    instance_path = tuple(error.absolute_path)
    return Failure(
        keyword=str(error.validator or "false"),
        evaluation_path=tuple(error.absolute_schema_path),
        instance_path=instance_path,
        instance=error.instance,
        parent=error.schema if isinstance(error.schema, Mapping) and error.validator != "false" else None,
        value=error.validator_value,
        names=tuple(_names(error)),
        of_name=isinstance(error.instance, str) and isinstance(resolve(root, instance_path), Mapping),
        branches=_branches(error, root),
        note="the pattern takes too many steps on this value" if error.cause else "",
    )


def _names(error: Any) -> Iterable[str]:
    """The property names at fault: the engine tells them in its message alone."""
    match error.validator:
        case "required":
            return _quoted_in(error.message, error.validator_value)
        case "dependentRequired":
            return _quoted_in(error.message, (name for needed in error.validator_value.values() for name in needed))
        case "additionalProperties":
            return _additional(error.instance, error.schema)
        case "unevaluatedProperties":
            return [name for name in error.instance if repr(name) in error.message]
        case _:
            return ()


def _quoted_in(message: str, names: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(name for name in names if message.startswith(f"{name!r} is "))


def _branches(error: Any, root: Any) -> tuple[tuple[Failure, ...], ...]:
    if error.validator not in ("anyOf", "oneOf"):
        return ()
    branches: list[list[Failure]] = [[_false(error)] if schema is False else [] for schema in error.validator_value]
    for cause in error.context:
        if cause.schema_path:
            branches[cause.schema_path[0]].append(_failure(cause, root))
    return tuple(map(tuple, branches))


def _false(error: Any) -> Failure:
    place, way = tuple(error.absolute_path), tuple(error.absolute_schema_path)
    return Failure(keyword="false", evaluation_path=way, instance_path=place, instance=error.instance)
