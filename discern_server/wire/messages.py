"""JSON-RPC messages as plain dictionaries: made, encoded, decoded, told apart. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from discern_server.wire.revisions import CAPABILITIES_KEY, CLIENT_KEY, LEGACY, MODERN, VERSION_KEY

Message: TypeAlias = dict[str, Any]
RequestId: TypeAlias = str | int

CLIENT: Final = {"name": "discern-era", "version": "1"}
"""What the probe calls itself. A server may decide nothing by it (basic/index)."""


def envelope(revision: str = MODERN) -> dict[str, Any]:
    """The ``_meta`` that every modern request carries (basic/index)."""
    return {VERSION_KEY: revision, CLIENT_KEY: dict(CLIENT), CAPABILITIES_KEY: {}}


def request(method: str, params: Mapping[str, Any] | None = None, *, id: RequestId = 1) -> Message:  # noqa: A002
    """A request exactly as given: without an envelope, and without ``params`` where there are none."""
    message: Message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = dict(params)
    return message


def modern_request(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: RequestId = 1,  # noqa: A002 - JSON-RPC's word
    revision: str = MODERN,
) -> Message:
    """A request that carries the envelope; members of a ``_meta`` in `params` are added to it."""
    params = dict(params or {})
    params["_meta"] = {**envelope(revision), **params.get("_meta", {})}
    return request(method, params, id=id)


def initialize(revision: str = LEGACY[0], *, id: RequestId = 1) -> Message:  # noqa: A002
    """The legacy era's opening request (2025-11-25, basic/lifecycle)."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": dict(CLIENT)}
    return request("initialize", params, id=id)


def notification(method: str, params: Mapping[str, Any] | None = None) -> Message:
    """A notification: a message that is never answered."""
    message = request(method, params)
    del message["id"]
    return message


def encode(message: Any) -> bytes:
    """One message as compact UTF-8 JSON, without the newline that ends it on stdio.

    What UTF-8 cannot carry is escaped: half of a surrogate pair, in a cursor say, goes back as the server sent it.
    """
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode()


def decode(line: bytes) -> Message | None:
    """The JSON object in `line`, or None where it holds something else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def answers(message: Mapping[str, Any], id: RequestId) -> bool:  # noqa: A002
    """Whether `message` is the response to the request `id`: ``1``, ``"1"`` and ``1.0`` differ."""
    if "method" in message or "id" not in message:
        return False
    return type(message["id"]) is type(id) and message["id"] == id
