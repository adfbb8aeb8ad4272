"""Stand-ins for what a module imports and may never use: for our own launcher (docs/adr/0014)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


class StandIn:
    """Stands for a name of a module that is not imported."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def real(self) -> Any:
        """What it stands for; imports the module."""
        return getattr(importlib.import_module(self._module), self._name)


@contextmanager
def standing_in(modules: Iterable[str], stand_in: type[StandIn] = StandIn) -> Iterator[None]:
    """Meanwhile, those of `modules` that are not imported are not: whatever is asked of them is a `stand_in`."""
    absent = [name for name in modules if name not in sys.modules]
    sys.modules.update({name: _Module(name, stand_in) for name in absent})
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


class _Module(ModuleType):
    """Has a stand-in for every name."""

    def __init__(self, name: str, stand_in: type[StandIn]) -> None:
        super().__init__(name)
        self._stand_in = stand_in

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._stand_in(self.__name__, name)
