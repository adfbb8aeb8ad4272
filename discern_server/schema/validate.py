"""Validation: a schema compiled once, shared by all threads, whose errors are diagnostics.

`compile_validator` takes a JSON Schema 2020-12. Nothing is ever fetched. A value that is no JSON at all
(see `json_value`) is invalid and never reaches an engine.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.schema.engines import (
    CannotCompileError,
    Engine,
    EngineName,
    Failure,
    compile_schema,
    default_engine,
)
from discern_server.schema.errors import SchemaError
from discern_server.schema.explain import explain
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.pointer import pointer
from discern_server.schema.secrets import Secrets

_MOST_FAILURES: Final = 200
"""How many failures are looked at: an array of a million wrong items is told by its first ones."""


def compile_validator(schema: Mapping[str, Any] | bool, *, engine: EngineName | None = None) -> Validator:
    """A validator for `schema`, frozen or plain. It compiles on first use; `Validator.compile` does it at once.

    Args:
        schema: A JSON Schema 2020-12 object, or true or false.
        engine: ``jsonschema-rs`` or ``jsonschema``; by default the first where it is installed.
    """
    return Validator(thaw(schema), engine or default_engine())


class Validator:
    """A schema ready to judge. Thread-safe; made by `compile_validator`."""

    __slots__ = ("_engine", "_lock", "_schema", "engine_name")

    def __init__(self, schema: Any, engine_name: EngineName) -> None:
        self.engine_name: Final = engine_name
        self._schema: Final = schema
        self._lock: Final = threading.Lock()
        self._engine: Engine | None = None

    def compile(self) -> Engine:
        """Compile unless that is done.

        Raises:
            SchemaError: the schema is not valid, or a reference in it leads nowhere or away.
        """
        with self._lock:
            if self._engine is None:
                self._engine = _compile(self._schema, self.engine_name)
            return self._engine

    def is_valid(self, instance: Any) -> bool:
        """Whether `instance` is JSON and satisfies the schema.

        Raises:
            SchemaError: as `compile`.
        """
        engine = self._engine or self.compile()
        return is_json(instance) and engine.is_valid(instance)

    def diagnose(self, instance: Any, *, limit: int = 20) -> tuple[Diagnostic, ...]:
        """What is wrong with `instance`, `limit` findings at most; empty where nothing is.

        ``rule`` is the keyword, ``path`` the pointer into the instance. A value that is no JSON is told
        by rules that start with ``json.``.

        Raises:
            SchemaError: as `compile`.
        """
        engine = self._engine or self.compile()
        if not is_json(instance):
            faults = islice(json_faults(instance), limit)
            return tuple(Diagnostic(rule=fault.rule, message=fault.message, path=fault.path) for fault in faults)
        if engine.is_valid(instance):
            return ()
        failures = sorted(islice(engine.failures(instance), _MOST_FAILURES), key=_reading_order)
        return tuple(islice(explain(failures, Secrets(self._schema)), limit))


def _reading_order(failure: Failure) -> tuple[Any, ...]:
    return failure.instance_path, failure.keyword


def _compile(schema: Any, engine_name: EngineName) -> Engine:
    try:
        return compile_schema(schema, engine_name)
    except CannotCompileError as error:
        fault = Diagnostic(rule="schema.invalid", message=error.reason, path=pointer(error.path))
        raise SchemaError([fault]) from error
