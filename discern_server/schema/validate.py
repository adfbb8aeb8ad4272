"""Validation: a schema compiled once, shared by all threads, whose errors are diagnostics.

A schema of another dialect, or one with identifiers of its own, is normalised to 2020-12 first; nothing is
ever fetched. A value that is no JSON at all (see `json_value`) is invalid and never reaches an engine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from discern_server.result import Diagnostic
from discern_server.schema.dialects import DRAFT_2020_12
from discern_server.schema.engines import CannotCompileError, Engine, EngineName, compile_schema, default_engine
from discern_server.schema.errors import SchemaError
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.pointer import pointer

if TYPE_CHECKING:
    from discern_server.schema.diagnosis import Diagnosis


def compile_validator(schema: Mapping[str, Any] | bool, *, engine: EngineName | None = None) -> Validator:
    """A validator for `schema`, frozen or plain. It compiles on first use; `Validator.compile` does it at once.

    Args:
        schema: A JSON Schema; 2020-12 unless its ``$schema`` says otherwise.
        engine: ``jsonschema-rs`` or ``jsonschema``; by default the first where it is installed.
    """
    return Validator(schema, engine or default_engine())


class Validator:
    """A schema ready to judge. Thread-safe; made by `compile_validator`."""

    __slots__ = ("_accepts", "_compiled", "_lock", "_schema", "engine_name")

    def __init__(self, schema: Mapping[str, Any] | bool, engine_name: EngineName) -> None:
        self.engine_name: Final = engine_name
        self._schema: Final = schema
        self._lock: Final = threading.Lock()
        self._compiled: _Compiled | None = None
        # The engine's own verdict, once compiled: the way of every good value, kept short.
        self._accepts: Callable[[Any], bool] = self._compile_and_accept

    def compile(self) -> None:
        """Compile unless that is done.

        Raises:
            SchemaError: the schema is not valid, or a reference in it leads nowhere or away.
        """
        self._ready()

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance` is JSON and satisfies the schema.

        Raises:
            SchemaError: as `compile`.
        """
        try:
            return is_json(instance) and self._accepts(instance)
        except ValueError:
            # Subclasses of str are JSON to Python, and unknown to the fast engine.
            return self._accepts(_plain(instance))

    def diagnose(self, instance: Any, *, limit: int = 20) -> tuple[Diagnostic, ...]:
        """What is wrong with `instance`, `limit` findings at most; empty where nothing is.

        ``rule`` is the keyword, ``path`` the pointer into the instance, ``schema_path`` the one into the
        (normalised) schema. A value that is no JSON is told by rules that start with ``json.``.

        Raises:
            SchemaError: as `compile`.
        """
        if self.is_valid(instance):
            return ()
        if not is_json(instance):
            return tuple(fault.diagnostic() for fault in islice(json_faults(instance), limit))
        return self._ready().diagnosis.of(_plain(instance), limit)

    def _compile_and_accept(self, instance: Any) -> bool:
        return self._ready().engine.is_valid(instance)

    def _ready(self) -> _Compiled:
        with self._lock:
            if self._compiled is None:
                self._compiled = _compile(thaw(self._schema), self.engine_name)
                self._accepts = self._compiled.engine.is_valid
            return self._compiled


class _Compiled:
    """A normalised schema and the engine that knows it."""

    def __init__(self, schema: Any, engine: Engine) -> None:
        self._schema = schema
        self.engine = engine

    @cached_property
    def diagnosis(self) -> Diagnosis:
        # A server that is only ever sent good values never needs it.
        from discern_server.schema.diagnosis import Diagnosis

        return Diagnosis(self._schema, self.engine)


def _plain(instance: Any) -> Any:
    return json.loads(json.dumps(instance))


_IDENTIFYING: Final = frozenset(
    {"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref", "$vocabulary"}
    | {"dependencies"}
)


def is_plain(schema: Any) -> bool:
    """Whether `schema` is 2020-12 without a reference or an identifier, so that normalising would change nothing.

    Looks at keys alone, whatever they stand in: a property named ``$ref`` costs time, and nothing else.
    """
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if not _IDENTIFYING.isdisjoint(value) or value.get("$schema", DRAFT_2020_12.uri) != DRAFT_2020_12.uri:
                return False
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return isinstance(schema, dict)


def _compile(schema: Any, engine_name: EngineName) -> _Compiled:
    normalized = schema if is_plain(schema) else _normalize(schema)
    try:
        return _Compiled(normalized, compile_schema(normalized, engine_name))
    except CannotCompileError as error:
        fault = Diagnostic(rule=error.rule, message=error.reason, path=pointer(error.path))
        raise SchemaError([fault]) from error


def _normalize(schema: Any) -> Any:
    # Half of this package, which plain schemas do without.
    from discern_server.schema.normalize import normalize

    return normalize(schema)
