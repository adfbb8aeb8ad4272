"""The headers beside a message: mirrored for a modern one, absent for a legacy one."""

from __future__ import annotations

import pytest

from discern_server.wire.http import HttpAnswer, header_value, standard_headers
from discern_server.wire.messages import initialize, modern_request, notification, request


def test_a_modern_request_mirrors_version_method_and_name():
    assert standard_headers(modern_request("tools/call", {"name": "echo"})) == {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "echo",
    }


def test_a_resource_is_named_by_its_uri_and_other_methods_have_no_name():
    assert standard_headers(modern_request("resources/read", {"uri": "a:b", "name": "x"}))["Mcp-Name"] == "a:b"
    assert "Mcp-Name" not in standard_headers(modern_request("tools/list", {"name": "x"}))


@pytest.mark.parametrize("message", [initialize(), request("tools/list"), notification("a", {"_meta": {}})])
def test_a_legacy_message_has_none_of_them(message: dict[str, object]):
    assert set(standard_headers(message)) == {"Content-Type", "Accept"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("us-west1", "us-west1"),
        ("two words", "two words"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_values_are_encoded_as_the_specification_shows(text: str, value: str):
    """basic/transports/streamable-http, "Value Encoding"."""
    assert header_value(text) == value


def test_an_answer_knows_an_event_stream_by_its_type_alone():
    assert HttpAnswer(headers=(("content-type", "Text/Event-Stream; charset=utf-8"),)).is_event_stream
    assert not HttpAnswer(headers=(("content-type", "application/json"),)).is_event_stream
    assert HttpAnswer(headers=(("allow", "POST"),)).header("Allow") == "POST"
