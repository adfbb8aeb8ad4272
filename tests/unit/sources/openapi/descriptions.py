"""Small descriptions for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discern_server.sources.openapi.definitions import Tool, ToolMaker, Toolset
from discern_server.sources.openapi.description import Api, Operation
from discern_server.sources.openapi.documents import Documents, memory_opener
from discern_server.sources.openapi.read import read
from discern_server.sources.openapi.servers import ServerChoice

ROOT = "file:///api/openapi.json"


def describe(paths: Mapping[str, Any], *, version: str = "3.1.0", **top: Any) -> dict[str, Any]:
    """An OpenAPI 3 document."""
    return {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": paths, **top}


def swagger(paths: Mapping[str, Any], **top: Any) -> dict[str, Any]:
    """A Swagger 2.0 document."""
    return {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": paths, **top}


def documents_of(document: Any, files: Mapping[str, Any] | None = None, root: str = ROOT) -> Documents:
    """The documents of a description held in memory."""
    held = {root: document} | {f"file:///api/{name}": value for name, value in (files or {}).items()}
    return Documents(root, memory_opener({uri: json.dumps(value).encode() for uri, value in held.items()}))


def api_of(document: Any, files: Mapping[str, Any] | None = None, **choice: Any) -> Api:
    """The API of a description."""
    return read(documents_of(document, files), ServerChoice(**choice))


def operation_of(operation: Mapping[str, Any], **top: Any) -> Operation:
    """The one operation of a description, ``POST /x``."""
    (found,) = api_of(describe({"/x": {"post": operation}}, **top)).operations
    return found


def toolset_of(document: Any, files: Mapping[str, Any] | None = None, **options: Any) -> Toolset:
    """All tools of a description."""
    documents = documents_of(document, files)
    api = read(documents)
    return ToolMaker(documents, api, **options).make(api.operations)


def tool_of(operation: Mapping[str, Any], *, method: str = "post", path: str = "/x", **top: Any) -> Tool:
    """The tool of one operation."""
    (tool,) = toolset_of(describe({path: {method: operation}}, **top)).tools
    return tool
