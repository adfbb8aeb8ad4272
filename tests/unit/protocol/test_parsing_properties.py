"""Whatever a client writes on a line: a message, or an answer that can be written and keeps the id."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_types import JSONRPCRequest

from discern_server.protocol.parsing import parse, unreadable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
MEMBERS = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}, "result": {}, "error": {"code": 1, "message": "m"}}
MESSAGES = st.fixed_dictionaries({}, optional={name: st.just(good) | VALUES for name, good in MEMBERS.items()})


def answered(line: str) -> tuple[bool, Any]:
    """Whether `line` is a message; and it, or what it is answered."""
    try:
        return True, parse(line)
    except ValueError as error:
        told = unreadable(error, 1000).model_dump()
    json.dumps(told, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert told["error"]["code"] in (-32700, -32600)
    return False, told["id"]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=80))
@example(b"\xff")
@example(b"\x00overlong")
def test_any_bytes_are_answered_or_are_a_message(data: bytes):
    answered(data.decode("utf-8", "surrogateescape"))


@settings(max_examples=400, deadline=None)
@given(MESSAGES, st.booleans())
def test_a_request_is_read_or_answered_under_its_id(message: dict[str, Any], ascii: bool):
    is_message, told = answered(json.dumps(message, ensure_ascii=ascii))
    request_id = message.get("id")
    is_id = isinstance(request_id, int | str) and not isinstance(request_id, bool)
    if isinstance(told, JSONRPCRequest):
        assert (type(told.id), told.id) == (type(request_id), request_id)
    elif not is_message and "method" in message and is_id and str(request_id).isprintable():
        assert (type(told), told) == (type(request_id), request_id)
