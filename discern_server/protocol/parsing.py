"""JSON-RPC messages out of text, and what text is answered that is none (JSON-RPC 2.0, section 5.1).

The SDK's adapter parses. Where it and JSON disagree, JSON is right:

- half of a surrogate pair, a number of any length, and some hundred levels of nesting are JSON, which its parser
  refuses. Python's reads them, so that what is wrong with a value is said by whoever validates that value, in an
  answer to the request. Over HTTP there is no other parser.
- NaN and Infinity are no JSON, but its parser takes them.
- a request whose id is neither a text nor an integer is one that is answered; its models take it for a notification.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NoReturn, TypeAlias

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from discern_server.protocol.pipes import OVERLONG

JsonRpcId: TypeAlias = str | int | None

_NO_JSON: Final = "Parse error: the line is not valid JSON; a message is one JSON object on one line"
_NO_UTF8: Final = "Parse error: the line is not UTF-8"
_NO_OBJECT: Final = "Invalid request: a message is one JSON object; batches are not part of MCP"
_NO_MESSAGE: Final = "Invalid request: not a JSON-RPC 2.0 message"
_NO_ID: Final = "Invalid request: the id of a request is a text or an integer"
_UNREAD: Final = "Invalid request: it holds half of a surrogate pair, a number of too many digits, or nests too deeply"


class UnreadableError(ValueError):
    """A line is no message; what it is answered is composed from the fields.

    Attributes:
        code: The JSON-RPC error code.
        id: The id of the request that the line was meant to be, where it can be read.
    """

    def __init__(self, code: int, message: str, request_id: JsonRpcId = None) -> None:
        super().__init__(message)
        self.code = code
        self.id = request_id


def parse(line: str) -> JSONRPCMessage:
    """The message that `line` holds; bytes that are no UTF-8 stand in it as lone surrogates (PEP 383).

    Raises:
        ValueError: It holds none; `unreadable` says so to the client.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        if line == OVERLONG:
            raise
        if not is_unicode(line):
            raise UnreadableError(PARSE_ERROR, _NO_UTF8, id_in(line)) from None
    else:
        if not isinstance(message, JSONRPCNotification) and "NaN" not in line and "Infinity" not in line:
            return message
    try:
        decoded = _decode(line, _decoder_of_long_numbers)
    except ValueError:
        raise UnreadableError(PARSE_ERROR, _NO_JSON, id_in(line)) from None
    return _message(decoded)


def _message(decoded: Any) -> JSONRPCMessage:
    if not isinstance(decoded, dict):
        raise UnreadableError(INVALID_REQUEST, _NO_OBJECT)
    if "method" in decoded and "id" in decoded and readable_id(decoded) is None:
        raise UnreadableError(INVALID_REQUEST, _NO_ID)
    try:
        return jsonrpc_message_adapter.validate_python(decoded, by_name=False)
    except ValidationError:
        raise UnreadableError(INVALID_REQUEST, _NO_MESSAGE, _request_id(decoded)) from None


def decode(text: str) -> Any:
    """The JSON value that `text` is, by Python's parser.

    Raises:
        ValueError: It is no JSON, nests too deeply, or has a number of more digits than Python converts.
    """
    return _decode(text, _decoder)


def readable_id(message: Any) -> JsonRpcId:
    """The id of `message`, or None where there is none that could be told again."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if is_unicode(found) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def id_in(line: Any) -> JsonRpcId:
    """The id of the request that `line` was meant to be, also where it has numbers that JSON has not."""
    try:
        return _request_id(_decode(line, _lenient_decoder)) if isinstance(line, str) else None
    except ValueError:
        return None


def is_unicode(text: str) -> bool:
    """Whether `text` holds no half of a surrogate pair, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unreadable(error: Exception, max_line_bytes: int) -> JSONRPCError:
    """The answer to a line that is no message.

    -32700 where it is no JSON, -32600 where it is JSON but no message; with the id where there is one to be read. The
    id of a response is none of the client's own, and is not told.
    """
    if isinstance(error, UnreadableError):
        return _error(error.code, str(error), error.id)
    findings: Sequence[Any] = error.errors(include_url=False) if isinstance(error, ValidationError) else ()
    if not findings or findings[0]["type"] == "json_invalid":
        line = findings[0]["input"] if findings else None
        if line == OVERLONG:
            return _error(INVALID_REQUEST, f"The line is longer than the {max_line_bytes} bytes that are accepted")
        request_id = id_in(line)
        return _error(PARSE_ERROR, _NO_JSON) if request_id is None else _error(INVALID_REQUEST, _UNREAD, request_id)
    if any(finding["type"] == "model_type" and len(finding["loc"]) == 1 for finding in findings):
        return _error(INVALID_REQUEST, _NO_OBJECT)
    whole = [finding["input"] for finding in findings if finding["type"] == "missing"]
    return _error(INVALID_REQUEST, _NO_MESSAGE, _request_id(whole[0]) if whole else None)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than Python converts: too large, as 1e400 is
        return float(digits)


_decoder: Final = json.JSONDecoder(parse_constant=_no_constant)
_decoder_of_long_numbers: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer)  # slower
_lenient_decoder: Final = json.JSONDecoder(parse_int=_integer)


def _decode(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _request_id(message: Any) -> JsonRpcId:
    is_response = isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)
    return None if is_response else readable_id(message)


def _error(code: int, message: str, request_id: JsonRpcId = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
