"""A bound on what must end by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T")


def within(seconds: float, act: Callable[[], T]) -> T:
    """What `act` returns; the test fails where it has not ended after `seconds`, instead of hanging."""
    outcome: list[T] = []
    thread = threading.Thread(target=lambda: outcome.append(act()), daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        pytest.fail(f"it had not ended after {seconds} s, or it failed")
    return outcome[0]
