"""From what a handler returns to the result on the wire."""

from __future__ import annotations

import logging

import pytest
from mcp_types import CallToolResult, TextContent

from discern_server.handler import ToolOutput
from discern_server.protocol.replies import handler_failed, invalid_arguments, legacy, reply
from discern_server.result import Diagnostic, DiscernResult, failure
from discern_server.schema.validate import compile_validator

NUMBER_IN_AN_OBJECT = compile_validator(
    {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"], "additionalProperties": False}
)


def text(content: str) -> list[dict]:
    return [{"type": "text", "text": content}]


@pytest.mark.requirement(5)
def test_a_string_is_text_alone():
    assert reply("t", "hi", None) == {"resultType": "complete", "content": text("hi")}


def test_a_string_is_structured_too_where_the_definition_says_so():
    output = compile_validator({"type": "string"})
    assert reply("t", "hi", output) == {
        "resultType": "complete",
        "content": text("hi"),
        "structuredContent": "hi",
    }


@pytest.mark.parametrize(
    ("value", "json_text"),
    [({"b": 1, "a": [None]}, '{"b":1,"a":[null]}'), ([1, 2.5], "[1,2.5]"), (7, "7"), (False, "false"), ("é", None)],
    ids=["object", "array", "number", "boolean", "string"],
)
def test_any_json_value_is_structured_with_its_json_as_text(value, json_text):
    result = reply("t", value, compile_validator(True))
    assert result["structuredContent"] == value
    assert result["content"] == text(json_text or value)


def test_none_is_an_empty_answer():
    assert reply("t", None, None) == {"resultType": "complete", "content": []}


def test_an_envelope_is_its_serialized_form_and_an_error_where_it_is_not_ok():
    good = reply("t", DiscernResult(ok=True, verb="t", data={"n": 1}), None)
    assert good["structuredContent"] == {"ok": True, "verb": "t", "data": {"n": 1}}
    assert "isError" not in good
    bad = reply("t", failure("t", "word", "no"), NUMBER_IN_AN_OBJECT)
    assert bad["isError"] is True
    assert bad["structuredContent"]["error"] == "word"


def test_blocks_go_out_as_they_are():
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    assert reply("t", ToolOutput(content=(image,), is_error=True, meta={"a/b": 1}), None) == {
        "resultType": "complete",
        "content": [image],
        "isError": True,
        "_meta": {"a/b": 1},
    }
    assert reply("t", ToolOutput(structured=None), None)["structuredContent"] is None


def test_blocks_of_no_known_shape_are_withheld():
    """The SDK would send an empty result in their place, as if all were well."""
    assert reply("t", ToolOutput(content=({"type": "image"},)), None)["isError"] is True


def test_an_sdk_result_object_goes_out_untouched():
    result = CallToolResult(content=[TextContent(type="text", text="x")])
    assert reply("t", result, NUMBER_IN_AN_OBJECT) is result


@pytest.mark.requirement(56)
def test_a_result_that_breaks_its_schema_is_withheld_and_logged(caplog):
    with caplog.at_level(logging.ERROR):
        result = reply("t", {"n": "secret"}, NUMBER_IN_AN_OBJECT)
    assert result["isError"] is True
    assert result["structuredContent"]["error"] == "faulty_result"
    assert "secret" not in str(result)
    assert "t broke its outputSchema at '/n'" in caplog.text


@pytest.mark.parametrize(
    "value",
    [{"x": object()}, float("nan"), {"x": float("inf")}, "lone \ud800", {"x": "\udfff"}, {1, 2}],
    ids=["object", "nan", "infinity", "surrogate-text", "surrogate-inside", "set"],
)
def test_what_json_cannot_carry_is_withheld_and_logged(value, caplog):
    with caplog.at_level(logging.ERROR):
        result = reply("t", value, None)
    assert result["isError"] is True
    assert result["structuredContent"]["error"] == "faulty_result"
    assert caplog.records


def test_an_sdk_result_object_that_cannot_be_written_is_withheld():
    result = reply("t", CallToolResult(content=[TextContent(type="text", text="\ud800")]), None)
    assert result["isError"] is True


def test_a_value_that_holds_itself_is_withheld():
    value: list = []
    value.append(value)
    assert reply("t", value, None)["isError"] is True


def test_invalid_arguments_are_told_as_text_and_as_diagnostics():
    finding = Diagnostic(rule="minimum", message="0 is less than 1", path="/n", fix="give 1 or more")
    result = invalid_arguments("t", (finding,))
    assert result["isError"] is True
    assert result["structuredContent"]["error"] == "invalid_arguments"
    assert result["structuredContent"]["diagnostics"][0]["path"] == "/n"
    assert "0 is less than 1" in result["content"][0]["text"]
    assert "give 1 or more" in result["content"][0]["text"]


def test_a_failed_handler_says_nothing_of_why():
    assert handler_failed("t")["structuredContent"] == {
        "ok": False,
        "verb": "t",
        "error": "tool_failed",
        "message": "the tool failed; the server's log says why",
    }


def test_a_handshake_revision_gets_structured_content_only_where_it_is_an_object():
    assert "structuredContent" not in legacy(reply("t", [1], None))
    assert legacy(reply("t", {"a": 1}, None))["structuredContent"] == {"a": 1}
