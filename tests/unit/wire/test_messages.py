"""Messages: what the probe says, and how it tells answers apart."""

from __future__ import annotations

import pytest

from discern_server.wire.messages import (
    Message,
    RequestId,
    answers,
    decode,
    encode,
    initialize,
    modern_request,
    notification,
    request,
)


def test_a_modern_request_carries_version_client_and_capabilities():
    assert modern_request("tools/list", {"cursor": ""}, id="a") == {
        "jsonrpc": "2.0",
        "id": "a",
        "method": "tools/list",
        "params": {
            "cursor": "",
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "discern-era", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }


def test_what_a_caller_puts_in_meta_wins():
    message = modern_request("x", {"_meta": {"progressToken": 1, "io.modelcontextprotocol/clientCapabilities": None}})
    assert message["params"]["_meta"]["progressToken"] == 1
    assert message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] is None


def test_a_bare_request_has_nothing_added():
    assert request("tools/list") == {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert notification("a/b", {}) == {"jsonrpc": "2.0", "method": "a/b", "params": {}}


def test_initialize_asks_for_the_newest_legacy_revision_unless_told():
    assert initialize()["params"]["protocolVersion"] == "2025-11-25"
    assert initialize("2024-11-05")["params"]["protocolVersion"] == "2024-11-05"


@pytest.mark.parametrize("line", [b"", b"hello", b"[]", b"1", b"{", b'{"a":1}{', b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_json_object_is_told(line: bytes):
    assert decode(line) is None


def test_what_is_encoded_can_be_decoded():
    assert decode(encode({"ü": "\u2028"})) == {"ü": "\u2028"}
    assert b"\n" not in encode({"a": "b\nc"})


@pytest.mark.parametrize(
    ("message", "asked", "expected"),
    [
        ({"id": 1, "result": {}}, 1, True),
        ({"id": "1", "error": {}}, "1", True),
        ({"id": "1", "result": {}}, 1, False),
        ({"id": 1.0, "result": {}}, 1, False),
        ({"id": True, "result": {}}, 1, False),
        ({"id": None, "error": {}}, 1, False),
        ({"error": {}}, 1, False),
        ({"id": 1, "method": "ping"}, 1, False),
    ],
)
def test_a_response_belongs_to_the_id_of_exactly_its_type(message: Message, asked: RequestId, expected: bool):
    assert answers(message, asked) is expected
