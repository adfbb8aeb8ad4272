"""What is wrong with the invalid instances of one schema: apart from judging them, which most instances only need."""

from __future__ import annotations

from itertools import islice
from typing import Any

from discern_server.result import Diagnostic
from discern_server.schema.engines import Engine
from discern_server.schema.explain import explain
from discern_server.schema.failure import Failure
from discern_server.schema.narrowing import MOST_FAILURES
from discern_server.schema.secrets import Secrets


class Diagnosis:
    """Explains what `engine` finds wrong with instances of the `schema` that it has compiled."""

    def __init__(self, schema: Any, engine: Engine) -> None:
        self._engine = engine
        self._secrets = Secrets(schema)

    def of(self, instance: Any, limit: int) -> tuple[Diagnostic, ...]:
        """What is wrong with `instance`, plain JSON: `limit` findings at most."""
        failures = sorted(islice(self._engine.failures(instance), MOST_FAILURES), key=_reading_order)
        return tuple(islice(explain(failures, self._secrets), limit))


def _reading_order(failure: Failure) -> tuple[Any, ...]:
    return failure.instance_path, failure.keyword
