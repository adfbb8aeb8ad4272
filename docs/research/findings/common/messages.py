"""Raw JSON-RPC messages, and how an answer is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

ENVELOPE: Final[Mapping[str, Any]] = {
    VERSION_KEY: MODERN,
    CLIENT_KEY: {"name": "research", "version": "1"},
    CAPABILITIES_KEY: {},
}


def request(request_id: str | int, method: str, **params: Any) -> dict[str, Any]:
    """A request of the modern era."""
    params = {"_meta": dict(ENVELOPE), **params}
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def call(request_id: str | int, tool: str, **arguments: Any) -> dict[str, Any]:
    """A ``tools/call`` of the modern era."""
    return request(request_id, "tools/call", name=tool, arguments=arguments)


def legacy_request(request_id: str | int, method: str, **params: Any) -> dict[str, Any]:
    """A request without the modern envelope."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def initialize(request_id: str | int) -> dict[str, Any]:
    """The handshake's first request."""
    return legacy_request(
        request_id,
        "initialize",
        protocolVersion=LEGACY,
        capabilities={},
        clientInfo={"name": "research", "version": "1"},
    )


def notification(method: str, **params: Any) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def outcome(answer: Mapping[str, Any]) -> str:
    """``result``, or the error's code and message."""
    error = answer.get("error")
    return "result" if error is None else f"error {error['code']}: {error['message']}"


def compact(value: Any) -> str:
    """`value` as compact JSON, keys in the order they have."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
