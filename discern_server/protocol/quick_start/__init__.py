"""Importing the SDK for a stdio server that someone is waiting for: for our own launcher alone (docs/adr/0014).

`import_sdk` imports the same modules as any import of `discern_server.protocol.stdio`, less what a stdio server has no
use for, and builds the SDK's models when they are first used (`models_on_use`). What is done to that end is undone when
it returns, save that

- the packages ``mcp`` and ``mcp.server`` run their ``__init__`` once a name of theirs is asked for (`lazy_packages`);
- the SDK's server gets what it serves HTTP with once it is to do so (`http_later`);
- the models of the handshake revisions are defined once a client speaks one (`handshakes_later`).

``DISCERN_PLAIN_IMPORTS=1`` turns all of it off.

A library must not do this to the process of its host, so nothing but the command line calls it.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from discern_server.protocol.quick_start.handshakes_later import import_without_handshakes
from discern_server.protocol.quick_start.http_later import import_without_http
from discern_server.protocol.quick_start.lazy_packages import install_lazily
from discern_server.protocol.quick_start.models_on_use import models_built_on_use

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
        install_lazily(name)
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
