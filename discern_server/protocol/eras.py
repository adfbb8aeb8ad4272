"""Which era a request belongs to, and what a server says to one that it does not serve.

The specification's rule is applied to each request by itself (basic/versioning): a request that carries a
protocol version in its ``_meta`` is modern; anything else, and ``initialize`` whatever it carries, is
legacy. Nothing that a client sent before decides.

==========================  ==============================  =================================================
request                     ``legacy="reject"``             ``legacy="serve"``
==========================  ==============================  =================================================
whole modern envelope       served                          served
``initialize``              -32022 with ``supported``       the handshake
version not served          -32022 with ``supported``       -32022 with ``supported``
envelope half there         -32602 with ``supported``       -32602 with ``supported``
no envelope                 -32602 with ``supported``       served in the revision of the handshake
==========================  ==============================  =================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundLadderRejection, InboundModernRoute, classify_inbound_request
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, PROTOCOL_VERSION_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

LegacyPolicy: TypeAlias = Literal["reject", "serve"]
"""Whether the handshake revisions (2025-11-25 and earlier) are refused, as by default, or served too."""

SUPPORTED: Final = tuple(MODERN_PROTOCOL_VERSIONS)

_HANDSHAKE_REFUSED: Final = (
    f"This server speaks MCP {', '.join(SUPPORTED)}, where every request carries its own version and there is no "
    "initialize handshake. To let older clients in, start the server with --legacy serve (or DISCERN_LEGACY=serve, or "
    'legacy="serve" in code).'
)


def checked(legacy: LegacyPolicy) -> LegacyPolicy:
    """`legacy`; raises ValueError where it is no policy."""
    if legacy not in ("reject", "serve"):
        raise ValueError(f'legacy must be "reject" or "serve", got {legacy!r}')
    return legacy


def is_modern(method: str, params: Mapping[str, Any] | None) -> bool:
    """Whether a request claims the modern era."""
    return method != "initialize" and has_envelope(params)


def has_envelope(params: Mapping[str, Any] | None) -> bool:
    """Whether params carry a protocol version of their own, as every modern request does."""
    meta = None if params is None else params.get("_meta")
    return isinstance(meta, Mapping) and PROTOCOL_VERSION_META_KEY in meta


def route(
    method: str, params: Mapping[str, Any] | None, headers: Mapping[str, str] | None = None
) -> InboundModernRoute:
    """Where a modern request leads: its version, client and capabilities.

    Args:
        method: The JSON-RPC method.
        params: Its params.
        headers: The HTTP headers by lower-case name, which must repeat what the body says; None elsewhere.

    Raises:
        MCPError: -32602 where the envelope is missing or not whole, -32022 where its version is not served
            and for ``initialize``, -32020 where the headers do not repeat it; ``data.supported`` of the first
            two names the revisions that are served.
    """
    if method == "initialize":
        raise MCPError(
            code=UNSUPPORTED_PROTOCOL_VERSION, message=_HANDSHAKE_REFUSED, data=_versions(_offered_version(params))
        )
    found = classify_inbound_request({"method": method, "params": params}, headers=headers)
    if isinstance(found, InboundLadderRejection):
        data = _versions(None) if found.code == INVALID_PARAMS else found.data
        raise MCPError(code=found.code, message=found.message, data=data)
    return found


def unsupported(version: str | None) -> MCPError:
    """What a message is told that names `version`, which is not served, or none, outside an envelope."""
    return MCPError(code=UNSUPPORTED_PROTOCOL_VERSION, message="Unsupported protocol version", data=_versions(version))


def no_handshake() -> MCPError:
    """What a modern request for ``initialize`` is told over HTTP: there is no such method (streamable-http)."""
    return MCPError(code=METHOD_NOT_FOUND, message=_HANDSHAKE_REFUSED, data=_versions(None))


def _offered_version(params: Mapping[str, Any] | None) -> str | None:
    offered = None if params is None else params.get("protocolVersion")
    return offered if isinstance(offered, str) else None


def _versions(requested: str | None) -> dict[str, Any]:
    data: dict[str, Any] = {"supported": list(SUPPORTED)}
    if requested is not None:
        data["requested"] = requested
    return data
