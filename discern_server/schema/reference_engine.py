"""The reference engine: `jsonschema`, for platforms that `jsonschema-rs` has no wheel for.

It is corrected where its verdicts would differ (docs/guide/validation.md holds the table): patterns are
ECMA-262 and bounded in time, ``multipleOf`` is exact, ``dependencies`` is heeded. Nothing is fetched:
its registry knows the meta-schemas and has no retriever. As it remembers nothing, a check takes
`STEP_LIMIT` keywords at most; a value that asks for more is refused.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

import jsonschema
import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY

from discern_server.schema.ecma import python_pattern
from discern_server.schema.engines import CannotCompileError
from discern_server.schema.failure import BY_COST, Failure
from discern_server.schema.frozen import thaw
from discern_server.schema.local_references import LocalReferences
from discern_server.schema.pointer import parse, resolve

PATTERN_SECONDS: Final = 0.05
"""How long one match of one pattern may take."""

STEP_LIMIT: Final = 100_000
"""How many keywords, and matches of patterns, one check may look at: a few seconds' worth."""


class ReferenceEngine:
    """A schema compiled by `jsonschema`."""

    def __init__(self, schema: Any) -> None:
        try:
            Draft202012Validator.check_schema(schema, format_checker=None)  # type: ignore[arg-type]  # its stub forgets that None is allowed
        except jsonschema.SchemaError as error:
            raise CannotCompileError(error.message, tuple(error.absolute_path)) from error
        _check_patterns(schema)
        self._validator = _Corrected(schema, registry=REGISTRY)

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance` satisfies the schema; False where that takes too many steps to say."""
        try:
            _steps.left = STEP_LIMIT
            return bool(self._validator.is_valid(thaw(instance)))
        except (_TooCostlyError, RecursionError):
            return False

    def failures(self, instance: Any) -> Iterator[Failure]:
        """Every failure; one of the keyword `BY_COST` where the check was given up."""
        try:
            _steps.left = STEP_LIMIT
            for error in self._validator.iter_errors(instance):
                yield _failure(error, instance, self._validator)
        except _TooCostlyError as error:
            yield _given_up(instance, str(error))
        except RecursionError:
            yield _given_up(instance, "it nests too deeply")


def _given_up(instance: Any, note: str) -> Failure:
    return Failure(keyword=BY_COST, evaluation_path=(), instance_path=(), instance=instance, note=note)


def _check_patterns(schema: Any) -> None:
    """Look at what the engine would only meet while it validates."""
    schemas = LocalReferences(schema).schemas
    # For this keyword the engine itself reads the names in `patternProperties`, as Python does.
    python_too = any("unevaluatedProperties" in part for part in schemas.values())
    for place, part in schemas.items():
        named = list(part.get("patternProperties", ()))
        try:
            for pattern in [part["pattern"], *named] if "pattern" in part else named:
                _compiled(pattern)
            for pattern in named if python_too else ():
                re.compile(pattern)
        except (ValueError, regex.error, re.error) as error:
            reason = f"{pattern!r} is no pattern: {error}"
            raise CannotCompileError(reason, parse(place), rule="schema.pattern") from None


# --- corrected keywords ---------------------------------------------------------------------------------

_Errors: TypeAlias = Iterator[ValidationError]
_Keyword: TypeAlias = Callable[[Any, Any, Any, Mapping[str, Any]], Iterable[ValidationError] | None]


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    return regex.compile(python_pattern(pattern))


def _matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`.

    Raises:
        _TooCostlyError: that cannot be said within `PATTERN_SECONDS`. Not a mere mismatch, which ``not`` would accept.
    """
    _count_step()
    try:
        return _compiled(pattern).search(text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise _TooCostlyError("a pattern takes too many steps on a text in it") from None


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> _Errors:
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError("does not match")


def _properties(validator: Any, properties: Mapping[str, Any], instance: Any, _schema: Any) -> _Errors:
    if validator.is_type(instance, "object"):
        for name, schema in properties.items():
            if name in instance:
                yield from _descend(validator, instance[name], schema, name, name)


def _pattern_properties(validator: Any, properties: Mapping[str, Any], instance: Any, _schema: Any) -> _Errors:
    if validator.is_type(instance, "object"):
        for pattern, schema in properties.items():
            for name in instance:
                if _matches(pattern, name):
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
    patterns = parent.get("patternProperties", {})
    return [name for name in instance if name not in known and not any(_matches(each, name) for each in patterns)]


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
    """A check is given up; the message says why, as the end of a sentence about the value."""


class _Steps(threading.local):
    """What the check that runs on this thread may still look at."""

    left = 0


_steps: Final = _Steps()


def _count_step() -> None:
    _steps.left -= 1
    if _steps.left < 0:
        raise _TooCostlyError("it asks for too many steps")


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Iterable[ValidationError] | None:
        _count_step()
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


def _failure(error: ValidationError, root: Any, validator: Any) -> Failure:
    instance_path = tuple(error.absolute_path)
    keyword = str(error.validator or "false")
    parent = error.schema if isinstance(error.schema, Mapping) and keyword != "false" else None
    if keyword == "contains" and parent and "minContains" in parent:
        keyword = "minContains"
    return Failure(
        keyword=keyword,
        evaluation_path=tuple(error.absolute_schema_path),
        instance_path=instance_path,
        instance=error.instance,
        parent=parent,
        value=parent.get(keyword) if parent else error.validator_value,
        names=tuple(_names(error)),
        of_name=isinstance(error.instance, str) and isinstance(resolve(root, instance_path), Mapping),
        branches=_branches(error, root, validator) if keyword in ("anyOf", "oneOf") else (),
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


def _branches(error: Any, root: Any, validator: Any) -> tuple[tuple[Failure, ...], ...]:
    """Why each alternative failed. Of a `oneOf` that several satisfy, the engine does not say which."""
    branches: list[list[Failure]] = [[] for _ in error.validator_value]
    for cause in error.context:
        if cause.schema_path:
            branches[cause.schema_path[0]].append(_failure(cause, root, validator))
    for index, schema in enumerate(error.validator_value):
        if not branches[index] and not validator.evolve(schema=schema).is_valid(error.instance):
            branches[index].append(_unsaid(error, index))
    return tuple(map(tuple, branches))


def _unsaid(error: Any, index: int) -> Failure:
    """The failure of an alternative that the engine tells nothing of, such as the schema that is false."""
    place, way = tuple(error.absolute_path), (*error.absolute_schema_path, index)
    return Failure(keyword="false", evaluation_path=way, instance_path=place, instance=error.instance)
