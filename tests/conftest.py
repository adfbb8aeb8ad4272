"""A bound on each test: one that hangs shows where it stands and ends the run, instead of holding it for ever."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator

import pytest

LONGEST_S = 600.0
_STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the real standard error: while a test runs, pytest has put a file in its place."""
    assert sys.__stderr__ is not None
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give it back."""
    os.close(config.stash[_STDERR])


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process where a test, its fixtures included, takes too long; every thread's stack is shown then."""
    faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=item.config.stash[_STDERR])
    yield
    faulthandler.cancel_dump_traceback_later()
