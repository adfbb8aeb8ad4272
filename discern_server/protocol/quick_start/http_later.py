"""The SDK's server without what it serves HTTP with, until that is asked for: for our own launcher (docs/adr/0014).

``mcp.server.lowlevel.server`` imports Starlette, the SDK's authorization and its streamable HTTP for one method,
``Server.streamable_http_app``. `import_without_http` imports it with stand-ins for the names of those modules; the
method, when it is called, first puts the real ones in their place. Everyone else finds the modules as they are.
"""

from __future__ import annotations

import importlib
import sys
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any, Final

from discern_server.protocol.quick_start.stand_ins import StandIn, standing_in

_SERVER: Final = "mcp.server.lowlevel.server"
_METHOD: Final = "streamable_http_app"
_FOR_HTTP: Final = (
    "mcp.server.auth.middleware.auth_context",
    "mcp.server.auth.middleware.bearer_auth",
    "mcp.server.auth.provider",
    "mcp.server.auth.routes",
    "mcp.server.auth.settings",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
    "starlette.applications",
    "starlette.middleware",
    "starlette.middleware.authentication",
    "starlette.routing",
)


def import_without_http() -> None:
    """Import the SDK's lowlevel server with stand-ins for what it has for HTTP; nothing where it is there already.

    Its packages must not run their ``__init__`` meanwhile: those bring modules that use HTTP at once.
    """
    if _SERVER in sys.modules:
        return
    with standing_in(_FOR_HTTP):
        server = importlib.import_module(_SERVER)
    _fill_in_when_called(server)


def _fill_in_when_called(server: ModuleType) -> None:
    method: FunctionType = getattr(server.Server, _METHOD)

    @wraps(method)
    def filled_in(*args: Any, **options: Any) -> Any:
        _fill_in(vars(server))
        _fill_in(method.__kwdefaults__ or {})
        setattr(server.Server, _METHOD, method)
        return method(*args, **options)

    setattr(server.Server, _METHOD, filled_in)


def _fill_in(names: dict[str, Any]) -> None:
    names.update({name: value.real() for name, value in names.items() if isinstance(value, StandIn)})
