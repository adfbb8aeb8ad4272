"""Bounds: generous ones on what has to come, and one on what must end by itself. Also for what runs without pytest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from discern_server.wire.limits import Limits

T = TypeVar("T")
PATIENCE_S = 120
"""How long anything may take on a busy machine; it costs nothing where it comes sooner."""
PATIENT = Limits(answer_s=PATIENCE_S, exit_s=PATIENCE_S)


def within(seconds: float, act: Callable[[], T]) -> T:
    """What `act` returns; the test fails where it has not ended after `seconds`, instead of hanging."""
    outcome: list[T] = []
    thread = threading.Thread(target=lambda: outcome.append(act()), daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise AssertionError(f"it had not ended after {seconds} s, or it failed")
    return outcome[0]
