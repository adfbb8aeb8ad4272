"""A server is built for one request and is gone with it."""

from __future__ import annotations

import gc
import weakref

import pytest

from discern_server.handler import RequestScope
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.surface import Surface


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_a_server_is_freed_at_once_without_the_cyclic_collector(method):
    factory = ServerFactory(Surface("s", "1"))
    scope = RequestScope(era="modern", revision="2026-07-28", transport="memory", method=method)
    factory.build(scope)
    gc.disable()
    try:
        server = weakref.ref(factory.build(scope))
        assert server() is None
    finally:
        gc.enable()
