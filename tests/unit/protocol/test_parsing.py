"""Lines of text as JSON-RPC messages, and what is said of those that are none."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from mcp_types import JSONRPCNotification, JSONRPCRequest

from discern_server.protocol.parsing import parse, unreadable
from discern_server.protocol.pipes import OVERLONG


def request(**members: str) -> str:
    """A request of these members, each given as JSON text."""
    told = {"jsonrpc": '"2.0"', "id": "1", "method": '"m"', **members}
    return "{%s}" % ",".join(f'"{name}":{text}' for name, text in told.items() if text)  # noqa: UP031 - braces would need escaping


def answer(line: str) -> tuple[Any, int, str]:
    """The id, code and message that a line is answered which is no message."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - what it says is asserted of the answer
        parse(line)
    told = unreadable(caught.value, 1000).model_dump()
    json.dumps(told).encode("utf-8")
    return told["id"], told["error"]["code"], told["error"]["message"]


@pytest.mark.parametrize(
    "request_id",
    ["0", "-1", '""', '"1"', "9007199254740993", "9" * 400, '"a\\u0000b"', '"\\ud83d\\ude00"', '"%s"' % ("x" * 9999)],
)
def test_an_id_is_a_text_or_an_integer_of_any_size(request_id):
    message = parse(request(id=request_id))
    assert isinstance(message, JSONRPCRequest)
    assert message.id == json.loads(request_id)
    assert type(message.id) is type(json.loads(request_id))


@pytest.mark.parametrize(
    "request_id",
    ["null", "true", "1.0", "1.5", "1e2", "1e400", "[]", "{}", '"\\ud800"', "9" * 5000, "[" * 300 + "]" * 300],
)
def test_a_request_whose_id_is_anything_else_is_no_notification(request_id):
    assert answer(request(id=request_id)) == (
        None,
        -32600,
        "Invalid request: the id of a request is a text or an integer",
    )


@pytest.mark.parametrize(
    ("params", "value"),
    [
        ('"\\ud800"', "\ud800"),
        ("9" * 5000, math.inf),
        ("1e400", math.inf),
        ("-" + "9" * 5000, -math.inf),
        ('"NaN and Infinity"', "NaN and Infinity"),
    ],
)
def test_what_is_json_is_left_to_whoever_validates_it(params, value):
    message = parse(request(params='{"a":%s}' % params))  # noqa: UP031 - braces would need escaping
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"a": value}


def test_nesting_that_is_json_is_left_to_whoever_validates_it():
    message = parse(request(params='{"a":%s}' % ("[" * 300 + "]" * 300)))
    assert isinstance(message, JSONRPCRequest)


def test_a_request_without_an_id_is_a_notification():
    assert parse(request(id="")) == JSONRPCNotification(jsonrpc="2.0", method="m")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_no_json_and_keeps_the_id(constant):
    assert answer(request(params='{"a":%s}' % constant))[:2] == (1, -32700)  # noqa: UP031 - braces would need escaping


def test_what_is_not_utf_8_is_refused_with_the_id():
    assert answer(request(params='{"a":"\udcff"}')) == (1, -32700, "Parse error: the line is not UTF-8")
    assert answer(request(id='"\udcff"'))[:2] == (None, -32700)


@pytest.mark.parametrize(
    ("line", "request_id", "code", "words"),
    [
        ("{", None, -32700, "not valid JSON"),
        ("\ufeff" + request(), None, -32700, "not valid JSON"),
        (request() + request(), None, -32700, "not valid JSON"),
        (request() + " // a comment", None, -32700, "not valid JSON"),
        ("[" * 100_000, None, -32700, "not valid JSON"),
        ("[]", None, -32600, "one JSON object"),
        ("null", None, -32600, "one JSON object"),
        ("NaN", None, -32700, "not valid JSON"),
        ("{}", None, -32600, "not a JSON-RPC 2.0 message"),
        (request(jsonrpc='"1.0"'), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(jsonrpc="2.0"), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(jsonrpc="1", result="{}", error='{"code":1,"message":"m"}'), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(method="null"), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(method=""), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(params="[]"), 1, -32600, "not a JSON-RPC 2.0 message"),
        (request(params='"x"', id='"1"'), "1", -32600, "not a JSON-RPC 2.0 message"),
        (OVERLONG, None, -32600, "longer than the 1000 bytes"),
    ],
)
def test_a_line_that_is_no_message_is_told_why(line, request_id, code, words):
    told = answer(line)
    assert told[:2] == (request_id, code)
    assert words in told[2]


@pytest.mark.parametrize(
    "member", ['"result":null', '"result":[]', '"error":"text"', '"error":{"code":"x","message":"m"}']
)
def test_the_id_of_a_faulty_response_is_not_told_as_it_may_be_that_of_a_request_of_the_client(member):
    assert answer('{"jsonrpc":"2.0","id":1,%s}' % member)[:2] == (None, -32600)  # noqa: UP031 - braces would need escaping
