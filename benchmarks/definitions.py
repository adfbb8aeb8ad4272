"""The tools that every server in the comparison shows, and the requests for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

REVISION: Final = "2026-07-28"

_ENVELOPE: Final[Mapping[str, Any]] = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tools(count: int) -> list[dict[str, Any]]:
    """`count` small tool definitions: each takes a string and an integer, and gives both back."""
    return [
        {
            "name": _name(number),
            "description": "Gives back what it is given, a text and a number, as they are.",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        }
        for number in range(count)
    ]


def _name(number: int) -> str:
    return f"t{number:05}"


def write_tools(directory: Path, count: int) -> Path:
    """Write `count` definitions as one JSON array for the servers to read; return the file."""
    file = directory / f"tools-{count}.json"
    file.write_text(json.dumps(tools(count)), encoding="utf-8")
    return file


def request(request_id: int, method: str, **params: Any) -> bytes:
    """One request as a line."""
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": dict(_ENVELOPE), **params}}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def call(number: int) -> bytes:
    """The call with this number: its arguments are its own, so that an answer cannot be taken for another's."""
    return request(number, "tools/call", name=_name(0), arguments=_arguments(number))


def _arguments(number: int) -> dict[str, Any]:
    return {"a": f"text {number}", "b": number}


class WrongAnswerError(Exception):
    """A server answered something else than it should have."""


def check_calls(numbers: Sequence[int], answers: Sequence[bytes]) -> None:
    """Check the answers to the calls with these numbers, in any order.

    Raises:
        WrongAnswerError: An answer is missing, is an error, or gives back something else than it was given.
    """
    found = [json.loads(answer) for answer in answers]
    if sorted(answer["id"] for answer in found) != sorted(numbers):
        raise WrongAnswerError(f"{len(numbers)} calls, {len(answers)} answers")
    for answer in found:
        result = answer.get("result", {})
        expected = _arguments(answer["id"])
        text = result.get("content", [{}])[0].get("text", "null")
        if result.get("isError") or result.get("structuredContent") != expected or json.loads(text) != expected:
            raise WrongAnswerError(f"not the answer to call {answer['id']}: {json.dumps(answer)[:400]}")


def listed_names(answer: bytes) -> tuple[list[str], str | None]:
    """The names in one page of ``tools/list``, and its cursor."""
    result = json.loads(answer).get("result")
    if result is None:
        raise WrongAnswerError(f"not a list: {answer[:400]!r}")
    return [tool["name"] for tool in result["tools"]], result.get("nextCursor")


def check_names(names: Sequence[str], count: int) -> None:
    """Check that `names` are those of the first `count` tools."""
    if sorted(names) != [_name(number) for number in range(count)]:
        raise WrongAnswerError(f"{count} tools, {len(names)} listed")
