"""MCP servers of the modern era from JSON Schema tool definitions, proven on the wire.

The public names are imported on first use: ``import discern_server`` loads neither the SDK nor
pydantic nor an HTTP library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from discern_server.catalog import Catalog, CatalogError, ToolDefinition
    from discern_server.definition import DefinitionError
    from discern_server.handler import Answer, Handler, RequestContext, RequestScope, ToolOutput
    from discern_server.prompts import Prompt, PromptDefinition
    from discern_server.protocol.events import Subscriptions
    from discern_server.protocol.factory import ServerFactory
    from discern_server.protocol.http import HttpApp, http_app
    from discern_server.protocol.http_auth import AccessToken, BearerAuth, TokenVerifier
    from discern_server.protocol.http_serve import serve_http
    from discern_server.protocol.pages import CacheHint
    from discern_server.protocol.scopes import RequiredScopes
    from discern_server.protocol.stdio import serve_stdio, serve_stdio_async
    from discern_server.protocol.surface import Surface
    from discern_server.resources import (
        Content,
        Resource,
        ResourceDefinition,
        ResourceTemplate,
        ResourceTemplateDefinition,
    )
    from discern_server.result import Diagnostic, DiscernError, DiscernResult, Severity, Step, StepStatus
    from discern_server.sources.tool import tool

__version__: Final = "0.1.0"

__all__ = [
    "AccessToken",
    "Answer",
    "BearerAuth",
    "CacheHint",
    "Catalog",
    "CatalogError",
    "Content",
    "DefinitionError",
    "Diagnostic",
    "DiscernError",
    "DiscernResult",
    "Handler",
    "HttpApp",
    "Prompt",
    "PromptDefinition",
    "RequestContext",
    "RequestScope",
    "RequiredScopes",
    "Resource",
    "ResourceDefinition",
    "ResourceTemplate",
    "ResourceTemplateDefinition",
    "ServerFactory",
    "Severity",
    "Step",
    "StepStatus",
    "Subscriptions",
    "Surface",
    "TokenVerifier",
    "ToolDefinition",
    "ToolOutput",
    "http_app",
    "serve_http",
    "serve_stdio",
    "serve_stdio_async",
    "tool",
]

# A new line here is new public API.
_HOME_OF: Final = {
    "AccessToken": "discern_server.protocol.http_auth",
    "BearerAuth": "discern_server.protocol.http_auth",
    "Answer": "discern_server.handler",
    "CacheHint": "discern_server.protocol.pages",
    "Catalog": "discern_server.catalog",
    "CatalogError": "discern_server.catalog",
    "Content": "discern_server.resources",
    "DefinitionError": "discern_server.definition",
    "Diagnostic": "discern_server.result",
    "DiscernError": "discern_server.result",
    "DiscernResult": "discern_server.result",
    "Handler": "discern_server.handler",
    "HttpApp": "discern_server.protocol.http",
    "Prompt": "discern_server.prompts",
    "PromptDefinition": "discern_server.prompts",
    "RequestContext": "discern_server.handler",
    "RequestScope": "discern_server.handler",
    "RequiredScopes": "discern_server.protocol.scopes",
    "Resource": "discern_server.resources",
    "ResourceDefinition": "discern_server.resources",
    "ResourceTemplate": "discern_server.resources",
    "ResourceTemplateDefinition": "discern_server.resources",
    "ServerFactory": "discern_server.protocol.factory",
    "Severity": "discern_server.result",
    "Step": "discern_server.result",
    "StepStatus": "discern_server.result",
    "Subscriptions": "discern_server.protocol.events",
    "Surface": "discern_server.protocol.surface",
    "TokenVerifier": "discern_server.protocol.http_auth",
    "ToolDefinition": "discern_server.catalog",
    "ToolOutput": "discern_server.handler",
    "http_app": "discern_server.protocol.http",
    "serve_http": "discern_server.protocol.http_serve",
    "serve_stdio": "discern_server.protocol.stdio",
    "serve_stdio_async": "discern_server.protocol.stdio",
    "tool": "discern_server.sources.tool",
}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
