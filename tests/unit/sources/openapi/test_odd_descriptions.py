"""Descriptions with something odd in any place: told of, never a crash."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from discern_server.catalog import thaw
from discern_server.rules import check_definition
from discern_server.sources.openapi.definitions import ToolMaker
from discern_server.sources.openapi.documents import DescriptionError
from discern_server.sources.openapi.read import read
from tests.unit.sources.openapi.descriptions import describe, documents_of, swagger

Way = tuple[str | int, ...]

PET = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "mother": {"$ref": "#/components/schemas/Pet"},
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^a"}, "uniqueItems": True},
        "kind": {"oneOf": [{"enum": ["a", None]}, {"type": "number", "minimum": 0}]},
    },
}
FORM = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}, "meta": PET}}
OPERATION = {
    "operationId": "savePet",
    "summary": "Save",
    "tags": ["pets"],
    "parameters": [
        {"$ref": "#/components/parameters/Limit"},
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "where", "in": "query", "content": {"application/json": {"schema": PET}}},
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}},
            "multipart/form-data": {"schema": FORM, "encoding": {"file": {"contentType": "image/png"}}},
        },
    },
    "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": PET}}}, "204": {}},
    "security": [{"key": []}, {}],
    "servers": [{"url": "https://{zone}.example.com", "variables": {"zone": {"default": "eu", "enum": ["eu"]}}}],
}
OPENAPI = describe(
    {"/pets/{id}": {"parameters": [], "post": OPERATION}, "/pets": {"get": {"responses": {"default": {}}}}},
    components={
        "schemas": {"Pet": PET},
        "parameters": {"Limit": {"name": "limit", "in": "query", "style": "form", "schema": {"type": "integer"}}},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
)
SWAGGER = swagger(
    {
        "/pets": {
            "post": {
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "ids", "in": "query", "type": "array", "collectionFormat": "multi", "items": {}},
                    {"name": "file", "in": "formData", "type": "file"},
                ],
                "responses": {"200": {"schema": {"$ref": "#/definitions/Pet"}}},
            },
            "put": {"parameters": [{"name": "pet", "in": "body", "schema": {"$ref": "#/definitions/Pet"}}]},
        }
    },
    host="a.example",
    definitions={"Pet": {"type": "object", "properties": {"mother": {"$ref": "#/definitions/Pet"}}}},
    securityDefinitions={"o": {"type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/t"}},
)


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The way to everything in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inside:
        yield (*way, key)
        yield from ways(member, (*way, key))


def changed(document: Any, way: Way, odd: Any) -> Any:
    """A copy of the document with something else in one place."""
    result = copy.deepcopy(document)
    holder = result
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = odd
    return result


PLACES = [(document, way) for document in (OPENAPI, SWAGGER) for way in ways(document)]
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 1), st.sampled_from(["", "x", "#/", "{a}", "(", "\ud800", "body", "http://["]),
    st.sampled_from([[], {}, [None], {"": 1}, [[]], {"$ref": "#"}, {"$ref": "#/components/schemas/Pet"}, {"$ref": 1}]),
    st.just({"$ref": "http://["}),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PLACES), ODD)
def test_something_odd_in_one_place_is_no_crash_and_what_is_made_is_good(place: tuple[Any, Way], odd: Any):
    document, way = place
    documents = documents_of(changed(document, way, odd))
    try:
        api = read(documents)
    except DescriptionError:
        return
    toolset = ToolMaker(documents, api).make(api.operations)
    for tool in toolset.tools:
        wire = thaw(tool.definition.wire)
        assert [finding for finding in check_definition(wire) if finding.severity == "error"] == []
    assert all(refusal.findings for refusal in (*api.refusals, *toolset.refusals))


def test_an_address_with_a_bracket_too_many_costs_what_needs_it_and_nothing_else():
    """RFC 3986, section 3.2.2: brackets stand around an IPv6 address alone."""
    broken = "http://["
    flows = {"clientCredentials": {"tokenUrl": broken, "scopes": {}}}
    document = describe(
        {
            "/server": {"get": {"servers": [{"url": broken}]}},
            "/reference": {"get": {"parameters": [{"$ref": broken}]}},
            "/schema": {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"$ref": broken}}]}},
            "/fine": {"get": {}},
        },
        version="3.2.0",
        components={"securitySchemes": {"o": {"type": "oauth2", "flows": flows}}},
        **{"$self": broken},
    )
    documents = documents_of(document)
    api = read(documents)
    toolset = ToolMaker(documents, api).make(api.operations)
    assert [tool.operation.path for tool in toolset.tools] == ["/server", "/fine"]
    assert [refusal.key for refusal in (*api.refusals, *toolset.refusals)] == ["GET /reference", "GET /schema"]
    assert "is no URI reference" in api.refusals[0].findings[0].message
