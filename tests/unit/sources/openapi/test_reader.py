"""Operations out of descriptions: what holds for which operation, and what a fault costs."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.sources.openapi.documents import DescriptionError
from discern_server.sources.openapi.servers import ConfigurationError
from discern_server.upstream.binding import SchemeUse
from tests.unit.sources.openapi.descriptions import api_of, describe, operation_of, swagger

OK = {"responses": {"200": {"description": "ok"}}}


@pytest.mark.parametrize("version", ["4.0.0", "3.7.0", "2.0", "nonsense"])
def test_a_version_that_is_not_known_is_refused(version: str):
    with pytest.raises(DescriptionError, match="not known"):
        api_of(describe({}, version=version))


def test_a_document_that_is_no_description_is_refused():
    with pytest.raises(DescriptionError, match="no API description"):
        api_of({"paths": {}})


def test_a_version_that_yaml_made_a_number_is_understood():
    assert api_of({**swagger({}), "swagger": 2.0}).version == "2.0"


def test_one_faulty_operation_costs_no_other():
    api = api_of(
        describe(
            {
                "/a": {"get": {**OK, "parameters": [{"name": "x", "in": "nowhere"}]}, "post": OK},
                "/b": {"$ref": "missing.json"},
                "c": {"get": OK},
                "/d": {"get": OK},
            }
        )
    )
    assert [operation.key for operation in api.operations] == ["POST /a", "GET /d"]
    assert [(refusal.key, refusal.findings[0].path) for refusal in api.refusals] == [
        ("GET /a", "openapi.json#/paths/~1a/get/parameters/0"),
        ("/b", "openapi.json#/paths/~1b"),
        ("c", "openapi.json#/paths/c"),
    ]


def test_an_operations_own_parameter_goes_before_the_path_items():
    shared = [{"name": "n", "in": "query", "schema": {"type": "string"}}, {"name": "m", "in": "query", "schema": {}}]
    own = [{"name": "n", "in": "query", "required": True, "schema": {"type": "integer"}}]
    (operation,) = api_of(describe({"/x": {"parameters": shared, "get": {**OK, "parameters": own}}})).operations
    assert [(found.name, found.required) for found in operation.parameters] == [("n", True), ("m", False)]


def test_headers_that_the_specification_has_ignored_are_left_out():
    """OpenAPI 3.1.1, Parameter Object, ``name``."""
    names = ["Accept", "content-type", "AUTHORIZATION", "X-Own"]
    parameters = [{"name": name, "in": "header", "schema": {"type": "string"}} for name in names]
    assert [found.name for found in operation_of({**OK, "parameters": parameters}).parameters] == ["X-Own"]


def test_a_parameter_that_is_the_credential_is_not_the_models_to_give():
    operation = operation_of(
        {**OK, "parameters": [{"name": "key", "in": "query", "schema": {}}], "security": [{"k": []}]},
        components={"securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "key"}}},
    )
    assert operation.parameters == ()


def test_an_expression_of_the_path_without_a_parameter_takes_any_text_and_that_is_told():
    api = api_of(describe({"/a/{id}": {"get": OK}}))
    (operation,) = api.operations
    assert [(found.name, found.location, found.required) for found in operation.parameters] == [("id", "path", True)]
    assert "{id}" in api.findings[0].message


@pytest.mark.parametrize(
    ("location", "style", "explode"),
    [("path", "simple", False), ("query", "form", True), ("header", "simple", False), ("cookie", "form", True)],
)
def test_styles_have_the_specifications_defaults(location: str, style: str, explode: bool):
    parameter = {"name": "p", "in": location, "schema": {"type": "array"}, "required": True}
    (operation,) = api_of(describe({"/{p}": {"get": {**OK, "parameters": [parameter]}}})).operations
    found = next(found for found in operation.parameters if found.location == location)
    assert (found.style, found.explode) == (style, explode)


@pytest.mark.parametrize(
    ("collection", "style", "explode"),
    [
        (None, "form", False),
        ("ssv", "spaceDelimited", False),
        ("tsv", "tabDelimited", False),
        ("pipes", "pipeDelimited", False),
        ("multi", "form", True),
    ],
)
def test_a_collection_format_is_a_style(collection: str | None, style: str, explode: bool):
    """Swagger 2.0, Parameter Object, ``collectionFormat``."""
    parameter: dict[str, Any] = {"name": "p", "in": "query", "type": "array", "items": {"type": "string"}}
    if collection is not None:
        parameter["collectionFormat"] = collection
    (operation,) = api_of(swagger({"/x": {"get": {**OK, "parameters": [parameter]}}})).operations
    (found,) = operation.parameters
    assert (found.style, found.explode) == (style, explode)
    assert found.schema is not None
    assert found.schema.value == {"type": "array", "items": {"type": "string"}}


def test_query_and_additional_operations_are_methods_from_3_2_on():
    paths = {"/x": {"query": OK, "additionalOperations": {"COPY": OK, "Purge": OK}}}
    assert [found.method for found in api_of(describe(paths, version="3.2.0")).operations] == ["QUERY", "COPY", "Purge"]
    earlier = api_of(describe(paths, version="3.1.0"))
    assert earlier.operations == ()
    assert "no method" in earlier.findings[0].message


@pytest.mark.parametrize(
    ("version", "method", "has_body"),
    [("3.0.3", "get", False), ("3.0.3", "head", False), ("3.0.3", "delete", True), ("3.1.0", "get", True)],
)
def test_a_body_on_get_is_ignored_in_3_0_alone(version: str, method: str, has_body: bool):
    body: dict[str, Any] = {"content": {"application/json": {"schema": {}}}}
    (operation,) = api_of(describe({"/x": {method: {**OK, "requestBody": body}}}, version=version)).operations
    assert (operation.body is not None) is has_body


def test_two_paths_may_share_a_path_item_in_another_file():
    paths = {"/a": {"$ref": "item.json"}, "/b": {"$ref": "item.json", "summary": "own"}}
    api = api_of(describe(paths), {"item.json": {"summary": "shared", "get": {"$ref": "op.json"}}, "op.json": OK})
    assert [(found.key, found.summary) for found in api.operations] == [("GET /a", "shared"), ("GET /b", "own")]


# --- servers ----------------------------------------------------------------------------------------


def server_of(document: dict[str, Any], **choice: Any) -> str | None:
    (operation,) = api_of(document, **choice).operations
    return operation.server.url if operation.server is not None else None


def test_the_nearest_server_is_used():
    def levels(operation: list[str], item: list[str], top: list[str]) -> str | None:
        def servers(urls: list[str]) -> dict[str, Any]:
            return {"servers": [{"url": url} for url in urls]} if urls else {}

        return server_of(describe({"/x": {**servers(item), "get": {**OK, **servers(operation)}}}, **servers(top)))

    assert levels(["https://o.example/"], ["https://i.example"], ["https://t.example"]) == "https://o.example"
    assert levels([], ["https://i.example/v1"], ["https://t.example"]) == "https://i.example/v1"
    assert levels([], [], ["wss://t.example", "https://t.example"]) == "https://t.example"
    assert levels([], [], ["/relative"]) is None
    assert levels([], [], []) is None


def test_a_relative_server_is_relative_to_where_the_description_was_published():
    document = describe({"/x": {"get": OK}}, servers=[{"url": "../v2"}])
    assert server_of(document, published_at="https://a.example/docs/openapi.json") == "https://a.example/v2"


def test_the_users_base_url_stands_for_every_server():
    document = describe({"/x": {"get": {**OK, "servers": [{"url": "https://o.example"}]}}})
    assert server_of(document, base_url="http://localhost:8000/api/") == "http://localhost:8000/api"


def test_what_a_description_from_the_network_names_is_guarded():
    document = describe({"/x": {"get": OK}}, servers=[{"url": "https://a.example"}])
    (operation,) = api_of(document, guarded=True).operations
    assert operation.server is not None
    assert operation.server.guarded
    (operation,) = api_of(document, guarded=True, base_url="https://b.example").operations
    assert operation.server is not None
    assert not operation.server.guarded


VARIABLES = {
    "url": "https://{zone}.example.com:{port}/{base}",
    "variables": {
        "zone": {"default": "eu", "enum": ["eu", "us"]},
        "port": {"default": "443"},
        "base": {"default": "v1"},
    },
}  # fmt: skip


def test_server_variables_have_their_defaults_or_what_the_user_says():
    document = describe({"/x": {"get": OK}}, servers=[VARIABLES])
    assert server_of(document) == "https://eu.example.com:443/v1"
    assert server_of(document, variables={"zone": "us", "base": "v2/x"}) == "https://us.example.com:443/v2/x"


@pytest.mark.parametrize(
    "variables",
    [{"zone": "cn"}, {"port": "443/@evil.example"}, {"base": "x?y"}, {"prot": "1"}, {"zone": "eu.example/#"}],
)
def test_a_server_variable_that_changes_the_rest_of_the_address_is_refused(variables: dict[str, str]):
    with pytest.raises(ConfigurationError):
        server_of(describe({"/x": {"get": OK}}, servers=[VARIABLES]), variables=variables)


def test_swagger_2_puts_scheme_host_and_base_path_together():
    document = swagger({"/x": {"get": OK}}, host="a.example:8443", basePath="/v1", schemes=["http", "https"])
    assert server_of(document) == "https://a.example:8443/v1"
    assert server_of({**document, "schemes": ["http"]}) == "http://a.example:8443/v1"
    bare = swagger({"/x": {"get": OK}}, basePath="/v1")
    assert server_of(bare) is None
    assert server_of(bare, published_at="http://b.example/swagger.json") == "http://b.example/v1"


# --- security ---------------------------------------------------------------------------------------

KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
SCHEMES = {"securitySchemes": {"k": KEY, "b": {"type": "http", "scheme": "Bearer"}}}


def test_an_operations_own_requirements_stand_for_the_descriptions_even_where_there_are_none():
    paths = {"/x": {"get": OK, "put": {**OK, "security": []}, "post": {**OK, "security": [{"k": [], "b": ["s"]}, {}]}}}
    api = api_of(describe(paths, components=SCHEMES, security=[{"b": []}]))
    assert [operation.security for operation in api.operations] == [
        ((SchemeUse(name="b"),),),
        (),
        ((SchemeUse(name="k"), SchemeUse(name="b", scopes=("s",))), ()),
    ]
    assert api.security_schemes["b"].scheme == "bearer"


def test_a_requirement_without_a_scheme_is_told():
    api = api_of(describe({"/x": {"get": {**OK, "security": [{"lost": []}]}}}))
    assert [(found.rule, "'lost'" in found.message) for found in api.findings] == [("openapi.security", True)]


def test_swagger_2_schemes_are_said_in_the_words_of_openapi_3():
    schemes = {
        "basic": {"type": "basic"},
        "app": {"type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/token", "scopes": {}},
    }
    found = api_of(swagger({}, securityDefinitions=schemes)).security_schemes
    assert (found["basic"].kind, found["basic"].scheme) == ("http", "basic")
    assert [(flow.kind, flow.token_url) for flow in found["app"].flows] == [
        ("clientCredentials", "https://a.example/token")
    ]


# --- references -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "said"), [("3.0.3", "the component's"), ("3.1.0", "the reference's")])
def test_a_description_beside_a_reference_counts_from_3_1_on(version: str, said: str):
    """OpenAPI 3.1.1, Reference Object: ``description`` overrides; 3.0.4: siblings are ignored."""
    reference = {"$ref": "#/components/parameters/P", "description": "the reference's"}
    component = {"name": "p", "in": "query", "schema": {}, "description": "the component's"}
    document = describe({"/x": {"get": {**OK, "parameters": [reference]}}}, version=version)
    document["components"] = {"parameters": {"P": component}}
    (operation,) = api_of(document).operations
    assert operation.parameters[0].description == said


def test_a_document_may_refer_to_itself_by_its_own_name():
    """OpenAPI 3.2, OpenAPI Object, ``$self``."""
    document = describe(
        {"/x": {"get": {**OK, "parameters": [{"$ref": "https://api.example/o#/components/parameters/P"}]}}},
        version="3.2.0",
    )
    document |= {"$self": "https://api.example/o", "components": {"parameters": {"P": {"name": "p", "in": "query"}}}}
    (operation,) = api_of(document).operations
    assert [found.name for found in operation.parameters] == ["p"]


def test_names_that_look_like_extensions_are_names_where_nothing_can_be_extended():
    scheme = {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
    document = describe({"x-paths": {}, "/x": {"get": {"responses": {"x-note": 1, "200": {"description": "ok"}}}}})
    document["components"] = {"securitySchemes": {"x-api-key": scheme}}
    api = api_of(document)
    assert list(api.security_schemes) == ["x-api-key"]
    assert [response.status for response in api.operations[0].responses] == ["200"]


def test_a_collection_format_that_a_path_cannot_have_is_told():
    """Swagger 2.0, Parameter Object, ``collectionFormat``: ``multi`` is for queries and forms alone."""
    parameter = {"name": "p", "in": "path", "required": True, "type": "array", "collectionFormat": "multi"}
    api = api_of(swagger({"/x/{p}": {"get": {**OK, "parameters": [parameter]}}}))
    assert (api.operations[0].parameters[0].style, api.operations[0].parameters[0].explode) == ("simple", False)
    assert "csv is used" in api.findings[0].message
