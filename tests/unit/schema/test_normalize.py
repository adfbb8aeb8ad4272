"""Normalising: any dialect in, one self-contained 2020-12 schema out."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest

from discern_server.schema.normalize import Bounds, Normalizer, SchemaError, UnresolvableError, normalize

DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def refused(schema: Any, **options: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(SchemaError) as caught:
        normalize(schema, **options)
    return [(diagnostic.rule, diagnostic.path) for diagnostic in caught.value.diagnostics]


# --- what needs nothing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {
            "type": "object",
            "properties": {"b": {}, "a": {"type": "string"}},
            "title": "T",
            "x-anything": [1, {"$ref": 2}],
        },
        {"$defs": {"unused": {"$anchor": "here"}, "a": {"$id": "a", "items": {"$ref": "#"}}}, "items": {"$ref": "a"}},
        {
            "$schema": DRAFT_2020_12,
            "$id": "https://example.com/x",
            "$dynamicAnchor": "n",
            "items": {"$dynamicRef": "x#n"},
        },
        {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}, "definitions": {"z": True}},
    ],
)
def test_a_2020_12_schema_that_refers_to_nothing_outside_comes_back_equal_with_its_keys_in_order(schema):
    result = normalize(schema)
    assert json.dumps(result) == json.dumps(schema)
    assert result is not schema


def test_the_schema_given_is_not_changed_and_not_shared():
    schema = {"definitions": {"a": {"enum": [{"x": 1}]}}, "$ref": "#/definitions/a"}
    before = copy.deepcopy(schema)
    result = normalize(schema, dialect="draft-07")
    result["$defs"]["a"]["enum"][0]["x"] = 2
    assert schema == before


def test_a_boolean_schema_becomes_an_object():
    assert normalize(True) == {}
    assert normalize(False) == {"not": {}}


# --- keywords of old dialects ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "schema", "expected"),
    [
        ("draft-04", {"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ("draft-04", {"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ("draft-04", {"id": "http://example.com/x", "type": "string"}, {"type": "string"}),
        ("draft-04", {"const": 1, "x": 2}, {"x-ignored-const": 1, "x": 2}),
        (
            "draft-06",
            {"if": {"type": "string"}, "then": False},
            {"x-ignored-if": {"type": "string"}, "x-ignored-then": False},
        ),
        ("draft-07", {"items": [{}, True], "additionalItems": False}, {"prefixItems": [{}, True], "items": False}),
        ("draft-07", {"items": {"type": "string"}, "additionalItems": False}, {"items": {"type": "string"}}),
        ("draft-07", {"items": [], "additionalItems": False}, {"items": False}),
        (
            "draft-07",
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
        ),
        ("2019-09", {"contains": {}, "minContains": 2}, {"contains": {}, "minContains": 2}),
        (
            "2019-09",
            {"contains": {}, "minContains": 2, "unevaluatedItems": False},
            {"unevaluatedItems": False, "allOf": [{"not": {"not": {"contains": {}, "minContains": 2}}}]},
        ),
        ("2019-09", {"additionalProperties": {"$recursiveRef": "#"}}, {"additionalProperties": {"$ref": "#"}}),
        ("openapi-3.0", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ("openapi-3.0", {"nullable": True, "enum": ["a"]}, {"enum": ["a"]}),
        ("openapi-3.0", {"type": "string", "nullable": False}, {"type": "string"}),
        ("openapi-3.0", {"example": {"$ref": "x"}}, {"examples": [{"$ref": "x"}]}),
        ("openapi-3.1", {"example": 1, "examples": [2]}, {"examples": [1, 2]}),
        ("openapi-3.1", {"type": "string", "nullable": True}, {"type": "string", "nullable": True}),
        (
            "swagger-2.0",
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ],
)
def test_keywords_become_what_says_the_same_in_2020_12(dialect, schema, expected):
    result = normalize(schema, dialect=dialect)
    assert json.dumps(result) == json.dumps(expected)
    jsonschema.Draft202012Validator.check_schema(result)
    assert normalize(result) == result


def test_what_the_schema_says_of_itself_wins_over_the_argument():
    schema = {"$schema": DRAFT_07, "items": [True]}
    assert normalize(schema, dialect="openapi-3.1") == {"$schema": DRAFT_2020_12, "prefixItems": [True]}


def test_an_unknown_dialect_is_refused_by_name():
    assert refused({"$schema": "http://json-schema.org/draft-03/schema#"}) == [("schema.dialect", "/$schema")]
    assert refused({}, dialect="draft-99") == [("schema.dialect", None)]


def test_annotations_beside_a_reference_of_an_old_draft_are_kept_and_assertions_dropped():
    schema = {"properties": {"a": {"$ref": "#", "description": "d", "maxLength": 1, "x-y": 1}}}
    assert normalize(schema, dialect="draft-07") == {"properties": {"a": {"$ref": "#", "description": "d", "x-y": 1}}}


# --- references ------------------------------------------------------------------------------------------


def test_targets_move_to_defs_under_the_name_that_a_person_would_use():
    schema = {
        "properties": {
            "first": {"$ref": "#/definitions/one%20two"},
            "second": {"$ref": "#/definitions/deep/items/0"},
            "third": {"$ref": "http://example.com/files/tree.json"},
            "fourth": {"$ref": "#anchor"},
        },
        "definitions": {
            "one two": {"type": "string"},
            "deep": {"items": [{"$ref": "#/definitions/deep"}]},
            "unused": {"$ref": "http://example.com/gone"},
            "anchored": {"$id": "#anchor", "title": "not this"},
        },
    }
    tree = {
        "properties": {"kids": {"$ref": "#"}, "deep": {"$ref": "#/definitions/deep"}},
        "definitions": {"deep": True},
    }
    result = normalize(schema, dialect="draft-07", resolve={"http://example.com/files/tree.json": tree}.__getitem__)
    names = list(result["$defs"])
    assert names[:5] == ["one_two", "items_0", "tree", "anchored", "deep"]
    assert names[5].startswith("deep_")
    assert len(names) == 6
    assert result["$defs"]["tree"]["properties"] == {
        "kids": {"$ref": "#/$defs/tree"},
        "deep": {"$ref": f"#/$defs/{names[5]}"},
    }
    assert list(result) == ["properties", "$defs"]


def test_a_network_reference_is_refused_by_name():
    with pytest.raises(SchemaError) as caught:
        normalize({"properties": {"a": {"$ref": "http://10.0.0.1/x"}}})
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.rule, diagnostic.path) == ("schema.reference", "/properties/a/$ref")
    assert "http://10.0.0.1/x" in diagnostic.message
    assert diagnostic.fix


def test_every_bad_reference_is_reported_at_once():
    schema = {
        "$defs": {"pet": True},
        "properties": {
            "a": {"$ref": "#/$defs/pets"},
            "b": {"$ref": 5},
            "c": {"$ref": "#nowhere"},
            "d": 7,
            "e": {"allOf": {}},
        },
    }
    assert refused(schema) == [
        ("schema.reference", "/properties/a/$ref"),
        ("schema.keyword", "/properties/b/$ref"),
        ("schema.reference", "/properties/c/$ref"),
        ("schema.type", "/properties/d"),
        ("schema.keyword", "/properties/e/allOf"),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}},
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}},
    ],
)
def test_a_reference_that_never_goes_into_the_instance_is_refused(schema):
    assert [rule for rule, _ in refused(schema)] == ["schema.loop"]


def test_a_dynamic_reference_becomes_a_plain_one_for_each_way_that_leads_to_it():
    """2020-12 Core 8.2.3.2; what needs flattening here is the remote list."""
    remote = {
        "$id": "https://example.com/list",
        "items": {"$dynamicRef": "#item"},
        "$defs": {"any": {"$dynamicAnchor": "item"}},
    }
    schema = {
        "properties": {
            "strings": {"$id": "strings", "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "item", "type": "string"}}},
            "numbers": {"$id": "numbers", "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "item", "type": "number"}}},
        }
    }
    result = normalize(
        schema, base_uri="https://example.com/root", resolve={"https://example.com/list": remote}.__getitem__
    )
    assert "$dynamicRef" not in json.dumps(result)
    validator = jsonschema.Draft202012Validator(result)
    assert validator.is_valid({"strings": ["a"], "numbers": [1]})
    assert not validator.is_valid({"strings": [1]})
    assert not validator.is_valid({"numbers": ["a"]})


def test_a_tree_that_refers_to_itself_recursively_stays_strict_all_the_way_down():
    """2019-09 Core 8.2.4.2."""
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://schemas.example.org/tree",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$recursiveRef": "#"}}},
        "unevaluatedProperties": False,
    }
    assert normalize(schema) == {
        "$schema": DRAFT_2020_12,
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
        "unevaluatedProperties": False,
    }


def test_a_resolver_is_asked_for_a_document_once_whether_it_has_it_or_not():
    asked: list[str] = []

    def resolve(uri: str) -> Any:
        asked.append(uri)
        if uri.endswith("gone"):
            raise UnresolvableError("is gone", "look elsewhere")
        return {"definitions": {"a": True, "b": True}}

    references = [f"http://example.com/{name}" for name in ("x#/definitions/a", "x#/definitions/b", "gone", "gone#/a")]
    with pytest.raises(SchemaError) as caught:
        normalize({"anyOf": [{"$ref": reference} for reference in references]}, resolve=resolve)
    assert [fault.fix for fault in caught.value.diagnostics] == ["look elsewhere"] * 2
    assert asked == ["http://example.com/x", "http://example.com/gone"]


def test_the_lookup_of_a_dict_is_a_resolver():
    assert refused({"$ref": "http://example.com/x"}, resolve={}.__getitem__) == [("schema.reference", "/$ref")]


def test_a_document_that_is_too_large_is_told_where_it_is_referred_to():
    remote: dict[str, Any] = {"properties": {str(number): {} for number in range(20)}}
    found = refused({"items": {"$ref": "x"}}, resolve=lambda _uri: remote, bounds=Bounds(max_subschemas=10))
    assert found == [("schema.reference", "/items/$ref")]


def test_an_identifier_that_two_schemas_claim_may_not_be_referred_to():
    twice = {"a": {"$id": "http://example.com/x"}, "b": {"$id": "http://example.com/x", "type": "string"}}
    assert normalize({"$defs": twice}) == {"$defs": twice}
    assert refused({"$defs": twice, "items": {"$ref": "http://example.com/x"}}) == [("schema.reference", "/items/$ref")]


def test_a_schema_inside_an_unknown_keyword_may_be_referred_to_and_has_identifiers_then():
    schema = {
        "unknown": {
            "$id": "http://example.com/inner",
            "items": {"$ref": "#there"},
            "$defs": {"t": {"$anchor": "there"}},
        },
        "not": {"$ref": "#/unknown"},
        "dependencies": {},
    }
    result = normalize(schema)
    assert result["not"] == {"$ref": "#/$defs/unknown"}
    assert result["$defs"] == {"unknown": {"items": {"$ref": "#/$defs/t"}}, "t": {}}


def test_a_reference_inside_an_unknown_keyword_counts_where_a_reference_leads_there():
    schema = {"unknown": {"not": {"$ref": "#/nowhere"}}, "items": {"$ref": "#/unknown/not"}}
    assert normalize({"unknown": schema["unknown"]}) == {"unknown": schema["unknown"]}
    assert refused(schema) == [("schema.reference", "/unknown/not/$ref")]


@pytest.mark.parametrize("reference", ["http://[1/", "#/%ZZ", "#/$defs/a/b", "#/$defs/0", "#/enum/07", "%"])
def test_a_reference_that_makes_no_sense_is_a_finding(reference):
    schema = {"$defs": {"a": True}, "enum": [1, 2], "not": {"$ref": reference}}
    assert refused(schema) == [("schema.reference", "/not/$ref")]


def test_a_reference_to_what_is_no_schema_is_a_finding():
    assert refused({"enum": ["x"], "not": {"$ref": "#/enum/0"}}) == [("schema.reference", "/not/$ref")]


# --- what is kept, and what is told ----------------------------------------------------------------------------


def test_what_means_nothing_in_its_dialect_is_told():
    warnings: list[Any] = []
    schema = {
        "const": 1,
        "description": None,
        "allOf": [{"$ref": "#/definitions/a", "maxLength": 1}],
        "definitions": {"a": {"$recursiveAnchor": True}},
    }
    assert normalize(schema, dialect="openapi-3.0", report=warnings.append) == {
        "x-ignored-const": 1,
        "x-ignored-description": None,
        "allOf": [{"$ref": "#/$defs/a"}],
        "$defs": {"a": {"x-ignored-$recursiveAnchor": True}},
    }
    assert [(warning.severity, warning.rule, warning.path) for warning in warnings] == [
        ("warning", "schema.ignored", "/const"),
        ("warning", "schema.ignored", "/description"),
        ("warning", "schema.ignored", "/allOf/0/maxLength"),
        ("warning", "schema.ignored", "/definitions/a/$recursiveAnchor"),
    ]


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "any"}, "/type"),
        ({"required": True}, "/required"),
        ({"required": ["a", "a"]}, "/required"),
        ({"minLength": -1}, "/minLength"),
        ({"multipleOf": 0}, "/multipleOf"),
        ({"exclusiveMinimum": True}, "/exclusiveMinimum"),
        ({"allOf": []}, "/allOf"),
        ({"items": [True]}, "/items"),
        ({"properties": []}, "/properties"),
        ({"$id": "#fragment"}, "/$id"),
        ({"$anchor": "a b"}, "/$anchor"),
    ],
)
def test_a_value_that_a_keyword_cannot_have_is_a_finding(schema, path):
    assert refused(schema) == [("schema.keyword", path)]


def test_an_unused_definition_that_is_broken_is_left_out():
    schema = {"$defs": {"broken": {"type": "any"}, "away": {"$ref": "http://example.com/x"}}, "type": "object"}
    assert normalize(schema) == {"type": "object"}


@pytest.mark.parametrize("dialect", ["swagger-2.0", "openapi-3.0", "openapi-3.1", "openapi-3.2"])
def test_descriptions_of_interfaces_may_repeat_themselves(dialect):
    schema = {"required": ["a", "b", "a"], "enum": [1, "1", 1, True, {"b": 1, "a": 2}, {"a": 2, "b": 1}]}
    assert normalize(schema, dialect=dialect) == {"required": ["a", "b"], "enum": [1, "1", True, {"b": 1, "a": 2}]}


def test_a_discriminator_tells_its_values_and_the_names_of_definitions():
    schema = {"discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog", "cat": "Cat"}}}
    assert normalize(schema, dialect="openapi-3.1") == {
        "discriminator": {"propertyName": "kind", "mapping": {"dog": "Dog", "cat": "Cat"}}
    }
    assert normalize({"discriminator": "kind"}, dialect="swagger-2.0") == {"discriminator": {"propertyName": "kind"}}


def test_keywords_that_come_to_the_same_name_all_count():
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "dependencies": {"a": ["b"]},
        "dependentRequired": {"a": ["c"]},
        "properties": {"x": {"$ref": "#/$defs/x", "$recursiveRef": "#"}},
        "$defs": {"x": {"minProperties": 1}},
    }
    result = normalize(schema)
    assert result["allOf"] == [{"dependentRequired": {"a": ["c"]}}]
    assert result["properties"]["x"] == {"$ref": "#/$defs/x", "allOf": [{"$ref": "#"}]}


def test_an_embedded_schema_may_be_of_another_dialect():
    schema = {
        "items": {"$ref": "http://example.com/old"},
        "$defs": {
            "old": {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "id": "http://example.com/old",
                "minimum": 1,
                "exclusiveMinimum": True,
            }
        },
    }
    assert normalize(schema) == {"items": {"$ref": "#/$defs/old"}, "$defs": {"old": {"exclusiveMinimum": 1}}}


def test_a_dialect_in_the_middle_of_a_resource_counts_for_nothing():
    """2020-12 Core 8.1.1: it stands at the root of a resource."""
    schema = {"items": {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [True]}}
    assert normalize(schema) == {"items": {"prefixItems": [True]}}


# --- projections ------------------------------------------------------------------------------------------

ACCOUNT = {
    "allOf": [
        {"$ref": "#/components/schemas/Base"},
        {"required": ["id", "name"], "properties": {"name": {"type": "string"}}},
    ]
}
DOCUMENT = {
    "paths": {"/accounts": {"post": {"$ref": "#/components/operations/Create"}}},
    "components": {
        "operations": {"Create": {"requestBody": {"$ref": "#/components/schemas/Account"}}},
        "schemas": {
            "Account": ACCOUNT,
            "Base": {
                "type": "object",
                "required": ["id", "pin"],
                "properties": {
                    "id": {"$ref": "#/components/schemas/Id"},
                    "pin": {"type": "string", "writeOnly": True},
                    "self": {"$ref": "#/components/schemas/Account"},
                },
            },
            "Id": {"type": "integer", "readOnly": True},
            "Broken": {"properties": {"x": {"$ref": "#/components/schemas/Missing"}}},
            "User of Broken": {"items": {"$ref": "#/components/schemas/Broken"}},
        },
    },
}


def accounts() -> Normalizer:
    return Normalizer(DOCUMENT, dialect="openapi-3.0", schemas_at=["/components/schemas"])


def test_input_leaves_out_what_is_read_only_and_no_longer_requires_it_anywhere():
    normalizer = accounts()
    bundle = normalizer.bundle("input")
    assert bundle.add(normalizer.root.at("components", "schemas", "Account")) == {
        "allOf": [{"$ref": "#/$defs/Base"}, {"required": ["name"], "properties": {"name": {"type": "string"}}}]
    }
    definitions = bundle.definitions()
    assert list(definitions) == ["Base", "Account"]
    assert definitions["Base"] == {
        "type": "object",
        "required": ["pin"],
        "properties": {
            "pin": {"type": "string", "writeOnly": True},
            "self": {"$ref": "#/$defs/Account"},
        },
    }


def test_output_leaves_out_what_is_write_only():
    normalizer = accounts()
    bundle = normalizer.bundle("output")
    bundle.add(normalizer.root.at("components", "schemas", "Base"))
    assert bundle.definitions()["Base"]["required"] == ["id"]  # type: ignore[index]


def test_a_schema_that_refers_to_itself_is_projected_once():
    schema = {"properties": {"id": {"readOnly": True}, "kids": {"items": {"$ref": "#"}}}, "required": ["id"]}
    assert normalize(schema, direction="input") == {"properties": {"kids": {"items": {"$ref": "#"}}}}


def test_a_component_becomes_two_where_a_neighbour_hides_what_it_requires():
    schema = {
        "properties": {
            "whole": {"$ref": "#/$defs/base"},
            "part": {"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"id": {"readOnly": True}}}]},
        },
        "$defs": {"base": {"required": ["id", "name"]}},
    }
    result = normalize(schema, direction="input")
    first, second = result["$defs"].values()
    assert (first, second) == ({"required": ["id", "name"]}, {"required": ["name"]})
    assert result["properties"]["whole"] == {"$ref": "#/$defs/base"}


def test_a_schema_without_marks_is_left_as_it_is_in_either_direction():
    schema = {"$id": "http://example.com/x", "properties": {"a": {}}, "$defs": {"unused": {}}}
    assert normalize(schema, direction="input") == normalize(schema, direction="output") == schema


def test_two_kinds_of_definitions_become_one():
    schema = {
        "definitions": {"a": {}},
        "$defs": {"a": {"not": {}}},
        "items": [{"$ref": "#/definitions/a"}, {"$ref": "#/$defs/a"}],
    }
    result = normalize(schema, dialect="2019-09")
    assert list(result) == ["$defs", "prefixItems"]
    assert sorted(map(str, result["$defs"].values())) == ["{'not': {}}", "{}"]


def test_a_mark_that_the_dialect_does_not_know_marks_nothing():
    schema = {"properties": {"a": {"readOnly": True}, "b": {"writeOnly": True}}, "required": ["a", "b"]}
    assert normalize(schema, dialect="draft-06", direction="input")["required"] == ["a", "b"]
    assert normalize(schema, dialect="swagger-2.0", direction="input")["required"] == ["b"]
    assert normalize(schema, dialect="swagger-2.0", direction="output")["required"] == ["a", "b"]


def test_a_requirement_in_a_condition_is_left_alone():
    """Leaving it out of a negation would refuse what was accepted."""
    schema = {"properties": {"id": {"readOnly": True}}, "not": {"required": ["id"]}}
    assert normalize(schema, direction="input") == {"properties": {}, "not": {"required": ["id"]}}


# --- documents that hold many schemas -----------------------------------------------------------------------


def test_a_reference_object_is_followed_to_the_place_it_means():
    normalizer = accounts()
    operation = normalizer.follow(normalizer.root.at("paths", "/accounts", "post"))
    assert operation.pointer == "/components/operations/Create"
    assert normalizer.follow(operation.at("requestBody")).value is ACCOUNT
    assert normalizer.follow(normalizer.root).pointer == ""


def test_a_broken_component_costs_only_those_who_use_it():
    normalizer = accounts()
    schemas = normalizer.root.at("components", "schemas")
    bundle = normalizer.bundle()
    for _ in range(2):
        with pytest.raises(SchemaError) as caught:
            bundle.add(schemas.at("User of Broken"))
        assert [fault.path for fault in caught.value.diagnostics] == ["/components/schemas/Broken/properties/x/$ref"]
    bundle.add(schemas.at("Id"))
    assert bundle.definitions() == {}


def test_a_component_under_a_key_that_is_no_text_is_passed_over():
    document = {"schemas": {200: {}, "a": {"items": {"$ref": "#/schemas/b"}}, "b": {"deep": nested(300)}}}
    for dialect in ("openapi-3.0", "openapi-3.1"):
        normalizer = Normalizer(document, dialect=dialect, schemas_at=["/schemas", "/nowhere"])
        with pytest.raises(SchemaError) as caught:
            normalizer.bundle("output").add(normalizer.root.at("schemas", "a"))
        assert {fault.rule for fault in caught.value.diagnostics} == {"json.depth"}


def test_a_component_that_is_too_deep_costs_only_those_who_use_it():
    document = {"schemas": {"deep": nested(300), "flat": {}, "user": {"items": {"$ref": "#/schemas/deep"}}}}
    for dialect in ("openapi-3.0", "openapi-3.1"):
        normalizer = Normalizer(document, dialect=dialect, schemas_at=["/schemas"])
        assert normalizer.bundle().add(normalizer.root.at("schemas", "flat")) == {}
        with pytest.raises(SchemaError) as caught:
            normalizer.bundle().add(normalizer.root.at("schemas", "user"))
        assert {fault.rule for fault in caught.value.diagnostics} == {"schema.bounds.depth"}


def test_reference_objects_that_go_round_in_a_circle_are_refused():
    normalizer = Normalizer({"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}, "c": {"$ref": "#/d"}}, dialect="openapi-3.0")
    for name in ("a", "c"):
        with pytest.raises(SchemaError) as caught:
            normalizer.follow(normalizer.root.at(name))
        assert caught.value.diagnostics[0].rule == "schema.reference"


def test_a_schema_put_together_resolves_as_if_it_stood_there():
    normalizer = accounts()
    bundle = normalizer.bundle()
    place = normalizer.root.at("paths")
    assert bundle.add(place.holding({"items": {"$ref": "#/components/schemas/Id"}})) == {
        "items": {"$ref": "#/$defs/Id"}
    }
    assert list(bundle.definitions()) == ["Id"]
    with pytest.raises(SchemaError) as caught:
        bundle.add(place.holding({"items": {"$ref": "#/nowhere"}}))
    assert caught.value.diagnostics[0].path == "/paths/items/$ref"


# --- bounds -------------------------------------------------------------------------------------------------


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


def test_depth_is_bounded_and_never_a_recursion_error():
    assert refused(nested(5000))[0][0] == "json.depth"
    assert refused(nested(5000), dialect="draft-07")[0][0] == "json.depth"


def test_the_number_of_subschemas_is_bounded():
    schema: dict[str, Any] = {"properties": {str(number): {} for number in range(11)}}
    assert refused(schema, bounds=Bounds(max_subschemas=10))[0][0] == "schema.bounds.subschemas"


def test_size_is_bounded():
    assert refused({"enum": ["x" * 1000]}, bounds=Bounds(max_bytes=500))[0][0] == "schema.bounds.size"


def test_a_value_that_holds_itself_ends_in_a_diagnostic():
    schema: dict[str, Any] = {}
    schema["properties"] = {"self": schema}
    assert refused(schema)[0][0] == "json.depth"


def test_what_json_cannot_carry_is_named():
    assert refused({"enum": [{1: 2}]}) == [("json.type", "/enum/0")]
    assert refused({"const": {1, 2}}) == [("json.type", "/const")]


# --- meta-schemas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_a_reference_to_a_meta_schema_needs_no_network(draft):
    result = normalize(
        {"$ref": f"https://json-schema.org/{draft}/schema"}
        if "/" in draft
        else {"$ref": f"http://json-schema.org/{draft}/schema#"}
    )
    validator = jsonschema.Draft202012Validator(result)
    assert validator.is_valid({"properties": {"a": {"minLength": 1}}})
    assert not validator.is_valid({"properties": {"a": {"minLength": -1}}})
    assert normalize(result) == result


def test_a_meta_schema_of_ones_own_may_know_fewer_keywords():
    """2019-09 Core 8.1.2: ``$vocabulary`` says which keywords mean something."""
    own = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$vocabulary": {
            "https://json-schema.org/draft/2019-09/vocab/core": True,
            "https://json-schema.org/draft/2019-09/vocab/applicator": True,
        },
    }

    def resolve(uri: str) -> Any:
        if uri == "https://example.com/own":
            return own
        raise UnresolvableError("is not here")

    schema = {"$schema": "https://example.com/own", "properties": {"a": {"minimum": 10}}}
    assert normalize(schema, resolve=resolve) == {
        "$schema": DRAFT_2020_12,
        "properties": {"a": {"x-ignored-minimum": 10}},
    }
    assert refused(schema) == [("schema.dialect", "/$schema")]
