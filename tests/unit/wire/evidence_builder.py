"""Evidence made by hand, for what judges it."""

from __future__ import annotations

from typing import Any

from discern_server.wire.evidence import Answer, Conversation, Evidence, Question, Transport
from discern_server.wire.messages import request

MODERN = "2026-07-28"
HINTS = {"ttlMs": 0, "cacheScope": "private"}
TOOL = {"name": "now", "inputSchema": {"type": "object"}}


def answer(question: Question, received: dict[str, Any] | None = None, **members: Any) -> Answer:
    message = {"jsonrpc": "2.0", "id": 1, **received} if received is not None else None
    return Answer(question=question, sent=request("asked"), received=message, **members)


def result(**members: Any) -> dict[str, Any]:
    return {"result": members}


def error(code: int, message: str = "", **data: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **({"data": data} if data else {})}}


def discovered(*versions: str, **members: Any) -> dict[str, Any]:
    listed = list(versions or (MODERN,))
    return result(resultType="complete", supportedVersions=listed, capabilities={"tools": {}}, **{**HINTS, **members})


def listed(*tools: Any, **members: Any) -> dict[str, Any]:
    return result(resultType="complete", tools=list(tools or (TOOL,)), **{**HINTS, **members})


def initialized(version: str = "2025-11-25") -> dict[str, Any]:
    return result(protocolVersion=version, capabilities={}, serverInfo={"name": "old", "version": "1"})


def evidence(*answers: Answer, transport: Transport = "stdio", **members: Any) -> Evidence:
    """One conversation for each answer."""
    conversations = tuple(Conversation(answers=(one,)) for one in answers)
    return Evidence(target="server", transport=transport, conversations=conversations, **members)
