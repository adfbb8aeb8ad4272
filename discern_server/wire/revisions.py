"""The protocol's literals, each with its source: the probe trusts no SDK's constant.

Pages are those of https://modelcontextprotocol.io/specification/2026-07-28/ unless said otherwise.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

Era: TypeAlias = Literal["modern", "legacy"]

MODERN: Final = "2026-07-28"
"""The revision of per-request ``_meta`` (basic/versioning): no handshake, no session."""

LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions opened by ``initialize``, newest first (their own pages, basic/lifecycle)."""

UNKNOWN: Final = "2099-01-01"
"""A well-formed version that no server can serve; asking for it shows what refusal looks like."""

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

# Keys of the request envelope (basic/index, "_meta").
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

# Error codes: JSON-RPC 2.0 section 5.1, then basic/index, "Error codes".
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

# Request headers of Streamable HTTP (basic/transports/streamable-http); names in any case, values exact.
VERSION_HEADER: Final = "MCP-Protocol-Version"
METHOD_HEADER: Final = "Mcp-Method"
NAME_HEADER: Final = "Mcp-Name"
SESSION_HEADER: Final = "Mcp-Session-Id"


def is_revision(value: Any) -> bool:
    """Whether `value` has the form of a revision: a date as text."""
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def era_of(revision: str) -> Era:
    """The era of a revision, known or not: dates compare as text."""
    return "modern" if revision >= MODERN else "legacy"
