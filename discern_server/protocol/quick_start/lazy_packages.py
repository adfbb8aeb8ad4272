"""Packages whose ``__init__`` runs when a name is asked for that it defines (docs/adr/0014)."""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

_running: Final = threading.RLock()


class _LazyPackage(ModuleType):
    """A package whose ``__init__`` has not run: it does once a name is asked for that is not there."""

    def __getattr__(self, name: str) -> Any:
        with _running:
            if self.__dict__.pop("_waits", False):
                try:
                    self.__spec__.loader.exec_module(self)  # type: ignore[union-attr] # set by install_lazily
                except BaseException:
                    self._waits = True
                    raise
        if name in self.__dict__:
            return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def install_lazily(name: str) -> None:
    """Put the package `name` into ``sys.modules`` without running its ``__init__``.

    Raises:
        ImportError: There is no such package, or it is none that consists of a folder with an ``__init__``.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None or spec.submodule_search_locations is None:
        raise ImportError(f"{name} is not an installed package", name=name)
    package = _LazyPackage(name)
    package.__spec__ = spec
    package.__loader__ = spec.loader
    package.__package__ = name
    package.__file__ = spec.origin
    package.__path__ = list(spec.submodule_search_locations)
    package.__dict__["_waits"] = True
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)
