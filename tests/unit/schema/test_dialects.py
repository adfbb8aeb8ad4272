"""The dialects as data, held against the published meta-schemas."""

from __future__ import annotations

from typing import Any

import pytest

from discern_server.schema.dialects import (
    DIALECTS,
    DRAFT_2019_09,
    DRAFT_2020_12,
    OPENAPI_31,
    OPENAPI_32,
    VOCABULARIES,
    Shape,
    find_dialect,
)
from discern_server.schema.metaschemas import published

IN_THE_TEXT_ALONE = {"draft-04": {"format", "$ref"}, "draft-07": {"writeOnly"}}
"""What a specification defines and its meta-schema forgot."""


def keywords_of(uri: str) -> dict[str, Any]:
    """The properties that a meta-schema describes, with those of its vocabularies."""
    metaschema = published(uri)
    described = dict(metaschema.get("properties", {}))
    for part in metaschema.get("allOf", ()):
        described |= keywords_of(uri.rpartition("/")[0] + "/" + part["$ref"])
    return described


@pytest.mark.parametrize("name", ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"])
def test_a_dialect_knows_the_keywords_that_its_meta_schema_describes(name):
    dialect = find_dialect(name)
    assert dialect is not None
    assert dialect.uri is not None
    # 2020-12 describes two keywords of 2019-09, only to say that they are gone.
    gone = {"$recursiveAnchor", "$recursiveRef"} if dialect is DRAFT_2020_12 else set()
    assert dialect.keywords == keywords_of(dialect.uri).keys() - gone | IN_THE_TEXT_ALONE.get(name, set())


@pytest.mark.parametrize("dialect", [DRAFT_2019_09, DRAFT_2020_12])
def test_a_vocabulary_has_the_keywords_that_its_meta_schema_describes(dialect):
    year = dialect.name
    for uri, keywords in VOCABULARIES.items():
        if year in uri:
            described = published(uri.replace("/vocab/", "/meta/"))["properties"].keys()
            assert keywords - {"definitions", "dependencies"} == described, uri


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_schemas_stand_only_in_keywords_that_the_dialect_knows(dialect):
    assert dialect.shapes.keys() <= dialect.keywords
    assert {"allOf", "properties", "items"} <= dialect.shapes.keys()


def test_items_may_be_an_array_until_2020_12():
    assert DRAFT_2019_09.shapes["items"] is Shape.ONE_OR_MANY
    assert DRAFT_2020_12.shapes["items"] is Shape.ONE


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("draft-07", "draft-07"),
        ("http://json-schema.org/draft-07/schema#", "draft-07"),
        ("https://json-schema.org/draft-07/schema", "draft-07"),
        ("2020-12", "2020-12"),
        ("draft-2020-12", "2020-12"),
        ("https://json-schema.org/draft/2020-12/schema#", "2020-12"),
        ("openapi-3.0", "openapi-3.0"),
        ("https://spec.openapis.org/oas/3.1/dialect/base", "openapi-3.1"),
        ("https://spec.openapis.org/oas/3.1/dialect/2024-11-10", "openapi-3.1"),
        ("https://spec.openapis.org/oas/3.2/dialect/2025-09-17", "openapi-3.2"),
    ],
)
def test_a_dialect_is_found_by_name_and_by_uri(given, name):
    dialect = find_dialect(given)
    assert dialect is not None
    assert dialect.name == name


@pytest.mark.parametrize(
    "given", ["", "draft-03", "http://json-schema.org/schema#", "https://example.com/draft-07/schema"]
)
def test_what_is_no_known_dialect_is_not_found(given):
    assert find_dialect(given) is None


def test_the_dialects_of_openapi_read_what_2020_12_reads():
    for dialect in (OPENAPI_31, OPENAPI_32):
        assert DRAFT_2020_12.keywords < dialect.keywords
        assert dialect.shapes == DRAFT_2020_12.shapes
