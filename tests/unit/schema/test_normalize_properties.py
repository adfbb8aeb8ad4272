"""Properties of normalising that hold for any schema, and what nasty ones end in."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discern_server.schema.dialects import DIALECTS, DRAFT_2020_12
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.normalize import Bounds, Normalizer, normalize
from discern_server.schema.validate import compile_validator
from tests.unit.schema.random_schemas import SchemaMaker, random_value

# --- well-formed schemas --------------------------------------------------------------------------------

ORACLES = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}


@pytest.mark.parametrize("draft", ORACLES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(seed=st.integers(0, 2**32))
def test_an_engine_that_reads_the_old_draft_gives_the_same_verdict(draft, seed):
    oracles = pytest.importorskip("jsonschema_rs")
    random = Random(seed)
    schema = SchemaMaker(draft, random).root()
    try:
        result = normalize(schema, dialect=draft)
    except SchemaError as error:
        assume({diagnostic.rule for diagnostic in error.diagnostics} - {"schema.loop", "schema.reference"})
        raise
    try:
        oracle = getattr(oracles, ORACLES[draft])(schema, offline=True, validate_formats=False)
    except oracles.ValidationError as error:
        assume("does not exist" not in str(error))  # a dangling reference where no value ever comes; it compiles all
        raise
    ours = compile_validator(result)
    for _ in range(10):
        value = random_value(random)
        assert ours.is_valid(value) == oracle.is_valid(value), (schema, result, value)


# --- nasty schemas ----------------------------------------------------------------------------------------

KEYWORDS = sorted({keyword for dialect in DIALECTS for keyword in dialect.keywords} | {"x", "", "~", "a/b", "\ud800"})
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(
        ["#", "#/", "#/properties/x", "#/$defs/x", "#x", "http://[", "x#%", "%", "object", "file:///etc/x"]
    ),
    st.sampled_from(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]),
    st.just({1, 2}),
)
NASTY = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
        st.dictionaries(st.integers(), inner, max_size=1),
    ),
    max_leaves=20,
)
SCHEMAS = st.dictionaries(st.sampled_from(KEYWORDS), NASTY, max_size=6)
NAMES = st.sampled_from([dialect.name for dialect in DIALECTS])


def nowhere(uri: str) -> Any:
    raise UnresolvableError(f"leads nowhere: {uri}")


@settings(max_examples=300, deadline=2000)
@given(schema=SCHEMAS, dialect=NAMES, direction=st.sampled_from([None, "input", "output"]))
def test_whatever_comes_is_normalised_to_a_valid_schema_or_refused_with_findings(schema, dialect, direction):
    try:
        result = normalize(schema, dialect=dialect, resolve=nowhere, direction=direction)
    except SchemaError:
        return
    jsonschema.Draft202012Validator.check_schema(result, format_checker=None)  # type: ignore[arg-type]
    assert json.dumps(normalize(result)) == json.dumps(result)


@settings(max_examples=200, deadline=2000)
@given(schema=SCHEMAS, remote=NASTY, dialect=NAMES)
def test_whatever_another_document_holds_is_normalised_or_refused(schema, remote, dialect):
    schema = {
        **schema,
        "allOf": [{"$ref": "http://example.com/remote#/properties/x"}, {"$ref": "http://example.com/remote"}],
    }
    with pytest.raises(SchemaError) if not isinstance(remote, dict | bool) else suppress():
        normalize(schema, dialect=dialect, resolve=lambda _uri: remote)


class suppress:  # noqa: N801 - reads as what it stands in for
    """Lets a `SchemaError` pass, and nothing else."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is None or issubclass(kind, SchemaError)


@settings(max_examples=100, deadline=2000)
@given(document=NASTY, dialect=NAMES)
def test_a_document_of_many_schemas_is_taken_in_whatever_it_holds(document, dialect):
    normalizer = Normalizer({"schemas": {"a": document, "b": document}}, dialect=dialect, schemas_at=["/schemas"])
    with suppress():
        normalizer.bundle("input").add(normalizer.root.at("schemas", "a"))
    with suppress():
        normalizer.follow(normalizer.root.at("schemas", "b"))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), draft=st.sampled_from([*ORACLES, "2020-12"]))
def test_the_same_input_gives_the_same_bytes_and_is_left_as_it_was(seed, draft):
    schema = SchemaMaker(draft, Random(seed)).root()
    before = copy.deepcopy(schema)
    try:
        first, second = normalize(schema, dialect=draft), normalize(copy.deepcopy(schema), dialect=draft)
    except SchemaError:
        assume(False)
    assert schema == before
    assert json.dumps(first) == json.dumps(second)
    assert json.dumps(normalize(first)) == json.dumps(first)


# --- schemas that would cost too much ------------------------------------------------------------------------


def doubling(levels: int) -> dict[str, Any]:
    """Each definition refers to the next one twice, from two scopes: two ways to come to each, were they kept apart."""
    definitions = {
        f"d{level}": {
            "properties": {"a": {"$ref": f"#/definitions/d{level + 1}"}, "b": {"$ref": f"#/definitions/d{level + 1}"}}
        }
        for level in range(levels)
    }
    return {"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{levels}": {}}}


def scopes(count: int) -> dict[str, Any]:
    """Resources that refer to one another in any order, each with an anchor of its own: as many scopes as subsets."""
    resources = {
        f"r{index}": {
            "$id": f"http://example.com/r{index}",
            "properties": {str(other): {"$ref": f"r{other}"} for other in range(count)},
            "$defs": {"anchor": {"$dynamicAnchor": f"n{index}"}},
            "items": {"$dynamicRef": f"#n{index}"},
        }
        for index in range(count)
    }
    return {"$id": "http://example.com/root", "items": {"$ref": "r0"}, "$defs": resources, "dependencies": {}}


def nested_targets(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"enum": ["x" * 1000] * 100}
    for _ in range(levels):
        schema = {"properties": {"p": schema}}
    pointer, references = "#", []
    for _ in range(levels):
        pointer += "/properties/p"
        references.append({"$ref": pointer})
    return {**schema, "items": references}


def test_a_chain_of_definitions_costs_what_it_holds():
    assert len(normalize(doubling(1000), dialect="draft-07")["$defs"]) == 1001


def test_a_long_chain_of_references_is_no_recursion():
    chain = {f"d{index}": {"$ref": f"#/definitions/d{index + 1}"} for index in range(5000)}
    schema = {"$ref": "#/definitions/d0", "definitions": {**chain, "d5000": {"readOnly": True}}}
    assert len(normalize(schema, dialect="draft-07", direction="input")["$defs"]) == 5001


def test_more_scopes_than_anyone_can_count_end_in_a_diagnostic():
    with pytest.raises(SchemaError) as caught:
        normalize(scopes(24), bounds=Bounds(max_subschemas=5000))
    assert caught.value.diagnostics[0].rule == "schema.bounds.subschemas"


def test_copies_of_nested_targets_are_bounded_in_size():
    with pytest.raises(SchemaError) as caught:
        normalize(nested_targets(60), dialect="draft-07", bounds=Bounds(max_bytes=2_000_000))
    assert caught.value.diagnostics[0].rule == "schema.bounds.size"


def test_a_huge_enum_is_copied_as_it_is():
    schema = {"definitions": {"e": {"enum": list(range(200_000))}}, "items": {"$ref": "#/definitions/e"}}
    assert len(normalize(schema, dialect="draft-04")["$defs"]["e"]["enum"]) == 200_000


def test_2020_12_is_what_a_schema_is_that_does_not_say():
    assert normalize({"prefixItems": [True]}) == normalize({"prefixItems": [True]}, dialect=DRAFT_2020_12.name)
