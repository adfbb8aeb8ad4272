"""What becomes of one POST to the MCP endpoint, decided from its bytes and headers alone.

`admit` says whether a request is served, and under which `RequestScope` its server is built, or what it is
answered instead. Nothing is read from a socket here and nothing is built. The rungs, first failure wins:

1. the body is JSON, and one request or notification                      else 400, -32700 or -32600
2. a notification is acknowledged and dropped (no notification of this revision means anything over HTTP)
3. legacy requests are served where the policy says so
4. `initialize` behind an envelope is a method that does not exist         404, -32601
5. a version that is only in the header is one that is served             else 400, -32022
6. the envelope is whole, its version served, and the headers repeat it   else 400, -32602, -32022, -32020

The SDK looks at rungs 1 and 6 once more when it serves the request; here they come first because a server
is built only for a request that is served, from what its envelope says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, MCP_PROTOCOL_VERSION_HEADER
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INVALID_REQUEST, LOG_LEVEL_META_KEY, PARSE_ERROR, ErrorData
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from discern_server.handler import RequestScope
from discern_server.protocol import eras
from discern_server.protocol.parsing import JsonRpcId, decode, id_in, readable_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request that is served.

    Attributes:
        id: Its JSON-RPC id.
        scope: What its server is built from.
        wants_stream: Whether it asked for messages that only a stream of events can carry.
    """

    id: JsonRpcId
    scope: RequestScope
    wants_stream: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer without a server.

    Attributes:
        status: The HTTP status.
        body: A JSON-RPC error response, or nothing.
    """

    status: int
    body: bytes = b""


def admit(
    body: bytes, headers: Mapping[str, str], *, legacy: eras.LegacyPolicy = "reject", token: Any = None
) -> Admitted | Answer:
    """Decide about one POST.

    Args:
        body: The whole body.
        headers: By lower-case name, the first one where a name is repeated.
        legacy: Whether the handshake revisions are served.
        token: The verified access token, for the scope.
    """
    try:
        message = _decode(body)
    except ValueError:
        request_id = id_in(body.decode("utf-8", "surrogateescape"))
        return refusal(request_id, ErrorData(code=PARSE_ERROR, message=_NO_JSON))
    if not _is_message(message):
        return refusal(readable_id(message), ErrorData(code=INVALID_REQUEST, message=_NO_MESSAGE))
    is_legacy = legacy == "serve" and _claims_no_modern_version(message, headers)
    if "id" not in message:
        return _acknowledge(headers, is_legacy=is_legacy)
    if is_legacy:
        return _admit_legacy(message, headers, token)
    try:
        return _admit_modern(message, headers, token)
    except MCPError as error:
        return refusal(message["id"], error.error)


def refusal(request_id: JsonRpcId, error: ErrorData) -> Answer:
    """`error` as the answer to the request, with the status that belongs to its code."""
    told = error.model_dump(mode="json", by_alias=True, exclude_none=True)
    body = {"jsonrpc": "2.0", "id": request_id, "error": told}
    return Answer(ERROR_CODE_HTTP_STATUS.get(error.code, 200), json.dumps(body, separators=(",", ":")).encode())


# --- the message ------------------------------------------------------------------------------------

_NO_JSON: Final = "Parse error: the body is not valid JSON in UTF-8, or nests too deeply"
_NO_MESSAGE: Final = "Invalid request: the body of a POST is one JSON-RPC 2.0 request or notification, an object"


def _decode(body: bytes) -> Any:
    return decode(body.decode("utf-8"))


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and ("id" not in message or readable_id(message) is not None)
        and isinstance(message.get("params"), dict | None)
    )


# --- the eras ---------------------------------------------------------------------------------------


def _claims_no_modern_version(message: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS) and not eras.is_modern(
        message["method"], message.get("params")
    )


def _acknowledge(headers: Mapping[str, str], *, is_legacy: bool) -> Answer:
    """202 for a notification of a version that is served (streamable-http, "Sending Messages", item 5)."""
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if is_legacy or version in eras.SUPPORTED:
        return Answer(202)
    return refusal(None, eras.unsupported(version).error)


def _admit_modern(message: Mapping[str, Any], headers: Mapping[str, str], token: Any) -> Admitted:
    method, params = message["method"], message.get("params")
    has_envelope = eras.has_envelope(params)
    if method == "initialize" and has_envelope:
        raise eras.no_handshake()
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if method != "initialize" and not has_envelope and version is not None and version not in eras.SUPPORTED:
        raise eras.unsupported(version)
    route = eras.route(method, params, headers)
    meta = message["params"]["_meta"]
    scope = RequestScope(
        era="modern",
        revision=route.protocol_version,
        transport="http",
        method=method,
        client=route.client_info,
        capabilities=route.client_capabilities,
        headers=headers,
        token=token,
    )
    wants_stream = "progressToken" in meta or LOG_LEVEL_META_KEY in meta
    return Admitted(id=message["id"], scope=scope, wants_stream=wants_stream)


def _admit_legacy(message: Mapping[str, Any], headers: Mapping[str, str], token: Any) -> Admitted:
    method, params = message["method"], message.get("params") or {}
    opens = method == "initialize"
    meta = params.get("_meta")
    scope = RequestScope(
        era="legacy",
        revision=_handshake_revision(params if opens else {}, headers),
        transport="http",
        method=method,
        client=params.get("clientInfo") if opens else None,
        capabilities=params.get("capabilities", {}) if opens else {},
        headers=headers,
        token=token,
    )
    return Admitted(id=message["id"], scope=scope, wants_stream=isinstance(meta, dict) and "progressToken" in meta)


def _handshake_revision(offer: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """The revision of a legacy request: from its offer, which is answered with the newest where it is not known."""
    if "protocolVersion" not in offer:
        return headers.get(MCP_PROTOCOL_VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
    offered = offer["protocolVersion"]
    return offered if offered in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[-1]
