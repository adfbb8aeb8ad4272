"""Importing the SDK for a stdio server that someone is waiting for: for our own launcher alone (docs/adr/0014).

`import_sdk` imports the same modules as any import of `discern_server.protocol.stdio`, less what a stdio server has no
use for, and builds the SDK's models when they are first used. What is done to that end is undone when it returns,
save that the packages ``mcp`` and ``mcp.server`` run their ``__init__`` only once a name is asked for that it defines,
that the SDK's server gets what it serves HTTP with only once it is to do so (`http_later`), and that the models of the
handshake revisions are defined once a client speaks one (`handshakes_later`).
``DISCERN_PLAIN_IMPORTS=1`` turns all of it off.

A library must not do this to the process of its host, so nothing but the command line calls it.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from discern_server.protocol.handshakes_later import import_without_handshakes
from discern_server.protocol.http_later import import_without_http
from discern_server.protocol.models_on_use import models_built_on_use

PLAIN_IMPORTS_VARIABLE: Final = "DISCERN_PLAIN_IMPORTS"

_LAZY: Final = ("mcp", "mcp.server")
"""Packages whose ``__init__`` imports the SDK's client and its high-level server."""


def import_sdk(environment: Mapping[str, str] = os.environ) -> None:
    """Import what serves over stdio, sooner than an import statement would.

    Does nothing where the SDK is imported already, or where `environment` has ``DISCERN_PLAIN_IMPORTS``.
    """
    if environment.get(PLAIN_IMPORTS_VARIABLE) or "mcp" in sys.modules:
        return
    for name in _LAZY:
        _install_lazily(name)
    with models_built_on_use():
        import_without_handshakes()
        import_without_http()
        importlib.import_module("discern_server.protocol.stdio")


@contextmanager
def collector_paused(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Without garbage collection: importing makes a million objects and no garbage, and every pass looks at all.

    What was made meanwhile is set aside at the end (`gc.freeze`), or the next pass, moments later, would look at all
    of it. Does nothing where `environment` has ``DISCERN_PLAIN_IMPORTS``.
    """
    if environment.get(PLAIN_IMPORTS_VARIABLE) or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class _LazyPackage(ModuleType):
    """A package whose ``__init__`` has not run: it does once a name is asked for that is not there."""

    def __getattr__(self, name: str) -> Any:
        with _running:
            if self.__dict__.pop("_waits", False):
                try:
                    self.__spec__.loader.exec_module(self)  # type: ignore[union-attr] # set by _install_lazily
                except BaseException:
                    self._waits = True
                    raise
        if name in self.__dict__:
            return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


_running: Final = threading.RLock()


def _install_lazily(name: str) -> None:
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
