"""Tools out of operations: definitions, and the bindings that carry their calls out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from discern_server.catalog import thaw
from discern_server.sources.openapi.definitions import Tool
from discern_server.upstream.binding import BodyBinding, FieldEncoding, ResponseBinding
from tests.unit.sources.openapi.descriptions import describe, swagger, tool_of, toolset_of

FORM = "application/x-www-form-urlencoded"
OK = {"responses": {"200": {"description": "ok"}}}


def inputs(tool: Tool) -> dict[str, Any]:
    schema: dict[str, Any] = thaw(tool.definition.input_schema)
    Draft202012Validator.check_schema(schema)
    return schema


def outputs(tool: Tool) -> Any:
    return thaw(tool.definition.output_schema)


def body(content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**OK, "requestBody": {"content": content, **more}}


def answers(**responses: Any) -> dict[str, Any]:
    return {
        "responses": {
            status.removeprefix("_"): {"description": "d"} if media is None else {"description": "d", "content": media}
            for status, media in responses.items()
        }
    }


def as_json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


# --- the whole definition ---------------------------------------------------------------------------


def test_a_definition_says_all_that_the_operation_says():
    tool = tool_of(
        {
            "operationId": "renamePet",
            "summary": "Rename a pet",
            "description": "Gives a pet another name.",
            "parameters": [
                {"name": "petId", "in": "path", "description": "Which pet.", "schema": {"type": "integer"}},
                {"name": "dry run", "in": "query", "deprecated": True, "schema": {"type": "boolean"}},
            ],
            "requestBody": {"required": True, "description": "The new name.", "content": as_json({"type": "string"})},
            **answers(_200=as_json({"$ref": "#/components/schemas/Pet"})),
        },
        method="put",
        path="/pets/{petId}",
        components={"schemas": {"Pet": {"type": "object",
                                        "properties": {"name": {"$ref": "#/components/schemas/Name"}}},
                                "Name": {"type": "string"}}},
    )  # fmt: skip
    assert thaw(tool.definition.wire) == {
        "name": "renamePet",
        "title": "Rename a pet",
        "description": "Gives a pet another name.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "petId": {"type": "integer", "description": "Which pet."},
                "dry_run": {"type": "boolean", "deprecated": True},
                "body": {"type": "string", "description": "The new name."},
            },
            "required": ["petId", "body"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"name": {"$ref": "#/$defs/Name"}},
            "$defs": {"Name": {"type": "string"}},
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }


@pytest.mark.parametrize(
    ("method", "reads", "destroys", "repeats"),
    [
        ("get", True, False, True),
        ("head", True, False, True),
        ("post", False, True, False),
        ("patch", False, True, False),
        ("put", False, True, True),
        ("delete", False, True, True),
    ],
)
def test_annotations_are_what_the_method_promises(method: str, reads: bool, destroys: bool, repeats: bool):
    """RFC 9110, section 9.2; of POST and PATCH nothing is known."""
    found = tool_of(OK, method=method).definition.annotations
    assert found is not None
    assert (found["readOnlyHint"], found["destructiveHint"], found["idempotentHint"]) == (reads, destroys, repeats)


def test_deprecation_is_said_and_long_texts_are_cut_at_a_word():
    tool = tool_of({**OK, "deprecated": True, "description": "word " * 400, "summary": "s" * 200})
    description = tool.definition.description or ""
    assert description.startswith("Deprecated. word")
    assert description.endswith("word…")
    assert len(description) <= 1024
    assert len(tool.definition.title or "") == 120


def test_an_operation_that_says_nothing_is_described_by_method_and_path():
    assert tool_of(OK, path="/a/{b}").definition.description == "POST /a/{b}"


def test_definitions_are_the_same_bytes_whatever_the_order_of_paths():
    pet = {"type": "object", "properties": {"kind": {"$ref": "#/components/schemas/Kind"}}}
    components = {
        "schemas": {"Pet": pet, "Kind": {"type": "string"}, "Dog": {"allOf": [{"$ref": "#/components/schemas/Pet"}]}}
    }
    paths = {f"/{n}": {"get": answers(_200=as_json({"$ref": f"#/components/schemas/{n}"}))} for n in ("Pet", "Dog")}

    def written(ordered: dict[str, Any]) -> list[str]:
        tools = toolset_of(describe(ordered, components=components)).tools
        return sorted(json.dumps(thaw(tool.definition.wire)) for tool in tools)

    assert written(paths) == written(dict(reversed(paths.items())))


# --- bodies -----------------------------------------------------------------------------------------


def test_json_goes_before_other_media_types_and_a_form_before_json_that_asks_for_bytes():
    plain = as_json({"type": "object"})
    form = {
        "multipart/form-data": {
            "schema": {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}}
        }
    }
    assert bound(body({**form, **plain})).kind == "json"
    raw = as_json({"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}})
    assert bound(body({**raw, **form})).kind == "multipart"


def bound(operation: dict[str, Any], **top: Any) -> BodyBinding:
    found = tool_of(operation, **top).binding.body
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("content", "media_type", "kind"),
    [
        ({"application/vnd.x+json": {"schema": {}}}, "application/vnd.x+json", "json"),
        ({"*/*": {"schema": {"type": "object"}}}, "application/json", "json"),
        ({"*/*": {}}, "*/*", "binary"),
        ({FORM: {"schema": {"type": "object"}}}, FORM, "form"),
        ({"text/csv": {"schema": {"type": "string"}}}, "text/csv", "text"),
        ({"application/xml": {"schema": {"type": "object"}}}, "application/xml", "text"),
        ({"application/zip": {}}, "application/zip", "binary"),
        ({"image/*": {"schema": {"type": "string", "format": "binary"}}}, "image/*", "binary"),
        ({"application/sdp-like": {"schema": {"type": "string"}}}, "application/sdp-like", "text"),
        ({"application/jsonl": {"itemSchema": {"type": "object"}}}, "application/jsonl", "json_lines"),
        ({"application/jsonl": {"schema": {"type": "string"}}}, "application/jsonl", "text"),
    ],
)  # fmt: skip
def test_a_media_type_decides_how_the_body_is_written(content: dict[str, Any], media_type: str, kind: str):
    found = bound(body(content), version="3.2.0")
    assert (found.media_type, found.kind) == (media_type, kind)


def test_files_are_objects_wherever_a_form_asks_for_bytes():
    """OpenAPI 3.1.1, "Considerations for File Uploads"."""
    binary = {"type": "string", "contentMediaType": "image/png"}
    properties = {
        "one": {**binary, "description": "A picture."},
        "many": {"type": "array", "items": binary},
        "either": {"anyOf": [binary, {"type": "null"}]},
        "untyped": {},
        "text": {"type": "string"},
        "meta": {"type": "object"},
    }
    tool = tool_of(
        body({"multipart/form-data": {"schema": {"$ref": "#/components/schemas/Form"},
                                      "encoding": {"meta": {"contentType": "application/json"}}}}),
        components={"schemas": {"Form": {"type": "object", "properties": properties, "required": ["one"]}}},
    )  # fmt: skip
    binding = tool.binding.body
    assert binding is not None
    assert dict(binding.fields) == {
        "one": FieldEncoding(kind="file"),
        "many": FieldEncoding(kind="file"),
        "either": FieldEncoding(kind="file"),
        "untyped": FieldEncoding(kind="file"),
        "meta": FieldEncoding(kind="json", content_types=("application/json",)),
    }
    check = Draft202012Validator(inputs(tool))
    file = {"base64": "AA==", "filename": "a.png", "content_type": "image/png"}
    assert check.is_valid({"body": {"one": file, "many": [file, {"text": "x"}], "either": None, "untyped": file}})
    assert inputs(tool)["properties"]["body"]["properties"]["one"]["description"] == "A picture."
    wrong: list[dict[str, Any]] = [
        {"one": "AA=="}, {}, {"one": {}}, {"one": {"base64": "", "text": ""}}, {"one": file, "many": file}
    ]  # fmt: skip
    assert not any(check.is_valid({"body": form}) for form in wrong)


def test_form_data_parameters_are_the_body():
    """Swagger 2.0, Parameter Object, ``in: formData``."""
    parameters = [
        {"name": "note", "in": "formData", "type": "string", "description": "A note."},
        {"name": "file", "in": "formData", "type": "file", "required": True},
        {"name": "ids", "in": "formData", "type": "array", "items": {"type": "integer"}, "collectionFormat": "multi"},
    ]
    (tool,) = toolset_of(swagger({"/x": {"post": {**OK, "parameters": parameters}}})).tools
    binding = tool.binding.body
    assert binding is not None
    assert (binding.media_type, binding.required) == ("multipart/form-data", True)
    assert dict(binding.fields) == {
        "file": FieldEncoding(kind="file"),
        "ids": FieldEncoding(kind="text", style="form", explode=True),
    }
    check = Draft202012Validator(inputs(tool))
    assert check.is_valid({"body": {"file": {"text": "x"}, "ids": [1]}})
    assert not check.is_valid({"body": {"note": "n"}})
    assert not check.is_valid({"body": {"file": {"text": "x"}, "other": 1}})


def test_read_only_properties_are_not_asked_for():
    pet = {
        "type": "object",
        "properties": {"id": {"type": "integer", "readOnly": True}, "n": {}},
        "required": ["id", "n"],
    }
    found = inputs(tool_of(body(as_json(pet))))["properties"]["body"]
    assert (list(found["properties"]), found["required"]) == (["n"], ["n"])


# --- answers ----------------------------------------------------------------------------------------


def test_statuses_are_alternatives_and_an_empty_success_is_null():
    one, two = {"type": "object"}, {"type": "array"}
    assert outputs(tool_of(answers(_200=as_json(one)))) == one
    assert outputs(tool_of(answers(_200=as_json(one), _201=as_json(one)))) == one
    assert outputs(tool_of(answers(_200=as_json(one), _2XX=as_json(two)))) == {"anyOf": [one, two]}
    assert outputs(tool_of(answers(_200=as_json(one), _204=None))) == {"anyOf": [one, {"type": "null"}]}


@pytest.mark.parametrize(
    "responses",
    [
        {"_204": None},
        {"_200": {"text/csv": {"schema": {"type": "string"}}}},
        {"_200": {"application/json": {}}},
        {"_200": as_json({"type": "object"}), "_206": {"application/octet-stream": {}}},
        {"_404": as_json({"type": "object"})},
    ],
)
def test_there_is_no_output_schema_where_a_success_may_be_something_else(responses: dict[str, Any]):
    tool = tool_of(answers(**responses))
    assert tool.definition.output_schema is None
    assert not tool.binding.structured


def test_default_describes_success_only_where_nothing_else_does():
    """OpenAPI 3.1.1, Responses Object, ``default``."""
    error = {"type": "object", "properties": {"error": {}}}
    assert outputs(tool_of(answers(_200=as_json({"type": "array"}), default=as_json(error)))) == {"type": "array"}
    assert outputs(tool_of(answers(default=as_json(error)))) == error


def test_json_alone_is_asked_for_where_it_is_promised():
    media = {"text/csv": {"schema": {"type": "string"}}, **as_json({"type": "array"})}
    assert tool_of(answers(_200=media, _400=media)).binding.responses == (
        ResponseBinding(status="200", media_types=("application/json",)),
        ResponseBinding(status="400", media_types=("text/csv", "application/json")),
    )


def test_an_output_schema_that_is_too_large_is_left_out_and_that_is_told():
    document = describe({"/x": {"get": answers(_200=as_json({"type": "object", "description": "d" * 100}))}})
    toolset = toolset_of(document, max_output_bytes=99)
    assert toolset.tools[0].definition.output_schema is None
    assert [(found.rule, found.severity) for found in toolset.findings] == [("openapi.no-output-schema", "info")]
    assert toolset_of(document, max_output_bytes=999).tools[0].definition.output_schema is not None


# --- what cannot be described -----------------------------------------------------------------------


def test_a_schema_that_cannot_be_had_costs_the_operation_that_needs_it():
    lost = {"$ref": "#/components/schemas/Lost"}
    paths = {"/a": {"post": body(as_json(lost))}, "/b": {"get": answers(_200=as_json(lost))}, "/c": {"get": OK}}
    toolset = toolset_of(describe(paths))
    assert [tool.operation.key for tool in toolset.tools] == ["GET /b", "GET /c"]
    (refusal,) = toolset.refusals
    assert refusal.key == "POST /a"
    assert "Lost" in refusal.findings[0].message
    assert toolset.tools[0].definition.output_schema is None
    assert [found.rule for found in toolset.findings] == ["openapi.no-output-schema"]


def test_a_pattern_that_no_engine_takes_counts_for_nothing_and_that_is_told():
    bad = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "("}, "b": {"patternProperties": {"x{,": {}, "y": {}}}},
    }
    toolset = toolset_of(
        describe(
            {"/a": {"post": body(as_json({"$ref": "#/components/schemas/Bad"}))}}, components={"schemas": {"Bad": bad}}
        )
    )
    (tool,) = toolset.tools
    assert inputs(tool)["properties"]["body"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"patternProperties": {"y": {}}}},
    }
    assert {(found.rule, found.path) for found in toolset.findings} == {
        ("openapi.schema-keyword", "openapi.json#/components/schemas/Bad")
    }
    assert len(toolset.findings) == 2


def test_a_name_does_not_depend_on_what_was_chosen():
    paths = {"/a": {"get": {**OK, "operationId": "same"}}, "/b": {"get": {**OK, "operationId": "same"}}}
    names = [tool.definition.name for tool in toolset_of(describe(paths)).tools]
    assert len(set(names)) == 2
    assert all(name.startswith("same_") for name in names)
    assert all(
        tool.definition.name.startswith("api_same_") for tool in toolset_of(describe(paths), prefix="api_").tools
    )


@pytest.mark.parametrize(("broken", "place"), [({"enum": ["\ud800"]}, "/enum/0"), ({"properties": {"\ud800": {}}}, "")])
def test_a_broken_component_costs_the_operations_that_consist_of_it(broken: dict[str, Any], place: str):
    components = {"schemas": {"Bad": broken}}
    bad = {"$ref": "#/components/schemas/Bad"}
    many = {"type": "array", "items": bad}
    paths = {"/a": {"post": body(as_json(bad))}, "/b": {"post": body(as_json(many))}, "/c": {"get": OK}}
    toolset = toolset_of(describe(paths, components=components))
    assert [tool.operation.key for tool in toolset.tools] == ["GET /c"]
    assert [refusal.findings[0].path for refusal in toolset.refusals] == [
        f"openapi.json#/components/schemas/Bad{place}"
    ] * 2


def test_half_a_surrogate_pair_in_a_text_costs_nothing():
    parameter = {"name": "p", "in": "query", "schema": {}, "description": "a\ud800"}
    tool = tool_of({**OK, "summary": "b\ud800", "parameters": [parameter]})
    assert tool.definition.title == "b?"
    json.dumps(thaw(tool.definition.wire), ensure_ascii=False).encode()


def test_schemas_that_refer_to_themselves_are_looked_through_once():
    rows = {"type": "array", "items": {"$ref": "#/components/schemas/Rows"}}
    form = {"type": "object", "properties": {"rows": {"$ref": "#/components/schemas/Rows"}}}
    found = bound(body({"multipart/form-data": {"schema": form}}), components={"schemas": {"Rows": rows}})
    assert dict(found.fields) == {}


def test_nesting_beyond_what_can_be_read_costs_the_operation():
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"properties": {"a": deep}}
    toolset = toolset_of(describe({"/a": {"post": body(as_json(deep))}, "/c": {"get": OK}}))
    assert [tool.operation.key for tool in toolset.tools] == ["GET /c"]
