"""The rules: each finds its own example and nothing in the mended one, and the guide says what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discern_server.catalog import ToolDefinition
from discern_server.result import Severity
from discern_server.rules import RULES, Rule, check_definition, check_switches, definition_errors, switchable
from discern_server.rules.page import findings_of, rules_page
from discern_server.schema.dialects import DRAFT_2020_12
from discern_server.schema.frozen import freeze

ROOT = Path(__file__).parents[3]
GOOD: dict[str, Any] = {"name": "now", "description": "The time.", "inputSchema": {"type": "object"}}
WITH_EXAMPLES = [rule for rule in RULES.values() if rule.bad]


def tool(schema: Any, **members: Any) -> dict[str, Any]:
    return {**GOOD, "inputSchema": schema, **members}


def rules_and_paths(definition: Any, **switches: bool) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.path) for finding in check_definition(definition, switches)]


@pytest.mark.parametrize("rule", WITH_EXAMPLES, ids=lambda rule: rule.id)
@pytest.mark.requirement(47, 57, 59)
def test_a_rule_finds_its_example_and_nothing_in_the_mended_one(rule):
    found = [finding for finding in findings_of(rule, rule.bad) if finding.rule == rule.id]
    assert found
    assert all(finding.severity is rule.severity and finding.fix for finding in found)
    assert rule.id not in [finding.rule for finding in findings_of(rule, rule.good)]
    if not rule.id.startswith(("json.", "definition.object")):
        assert [f.rule for f in findings_of(rule, rule.good) if f.severity is Severity.ERROR] == []


def test_rules_without_an_example_in_text_are_few_and_known():
    assert sorted(rule.id for rule in RULES.values() if not rule.bad) == [
        "catalog.empty",
        "catalog.file",
        "catalog.file-name",
        "catalog.folder",
        "catalog.unique-names",
        "client.size",
        "json.depth",
        "json.encoding",
        "json.size",
        "json.type",
        "prompt.shape",  # the examples are tools
        "resource-template.shape",
        "resource.shape",
        "schema.bounds",
    ]


def test_the_guide_is_made_from_the_rules():
    guide = (ROOT / "docs" / "guide" / "rules.md").read_text(encoding="utf-8")
    assert guide == rules_page(), "stale: python -m discern_server.rules > docs/guide/rules.md"


def test_every_rule_that_the_code_names_is_in_the_table():
    named = set()
    for file in (*ROOT.glob("discern_server/schema/*.py"), ROOT / "discern_server/jsontext.py"):
        named |= set(re.findall(r'"((?:json|schema)\.[a-z-]+)"', file.read_text(encoding="utf-8")))
    # The schema package has one more for what meta-schemas say; here those are schema.invalid.
    assert named - {"schema.keyword", "schema.type", "schema.format"} <= set(RULES)


def test_a_good_definition_has_no_findings_frozen_or_plain():
    assert rules_and_paths(GOOD) == []
    assert rules_and_paths(freeze(GOOD)) == []


def test_all_faults_of_a_definition_are_found_at_once():
    definition = {
        "name": "no spaces",
        "title": 5,
        "description": "…",
        "annotations": {"readOnlyHint": "yes"},
        "icons": [{"mimeType": "image/png"}],
        "inputSchema": {
            "type": "array",
            "properties": {"a": {"type": "strin", "minimum": "0"}, "b": {"pattern": 5}},
        },
        "outputSchema": {"$ref": "https://example.com/x"},
    }
    assert rules_and_paths(definition) == [
        ("definition.name", "/name"),
        ("definition.input-object", "/inputSchema/type"),
        ("definition.member", "/annotations/readOnlyHint"),
        ("definition.member", "/icons/0"),
        ("definition.member", "/title"),
        ("schema.invalid", "/inputSchema/properties/a/minimum"),
        ("schema.invalid", "/inputSchema/properties/a/type"),
        ("schema.invalid", "/inputSchema/properties/b/pattern"),
        ("schema.reference", "/outputSchema/$ref"),
    ]


@pytest.mark.parametrize(
    ("value", "rule", "path"),
    [
        pytest.param(None, "definition.object", "", id="null"),
        pytest.param("refund", "definition.object", "", id="text"),
        pytest.param(
            tool({"type": "object", "default": float("nan")}), "json.number", "/inputSchema/default", id="NaN"
        ),
        pytest.param(tool({"type": "object", "const": b"x"}), "json.type", "/inputSchema/const", id="bytes"),
        pytest.param(tool({"type": "object"}, title="\ud83d"), "json.unicode", "/title", id="surrogate"),
        pytest.param({5: 1}, "json.type", "", id="key"),
        pytest.param({**GOOD, "inputSchema": None}, "definition.input-schema", "/inputSchema", id="null schema"),
        pytest.param({**GOOD, "name": 5}, "definition.name", "/name", id="number as a name"),
        pytest.param({**GOOD, "name": ""}, "definition.name", "/name", id="empty name"),
        pytest.param({**GOOD, "name": "now\n"}, "definition.name", "/name", id="newline"),
        pytest.param({**GOOD, "name": "n" * 129}, "definition.name", "/name", id="129 characters"),
        pytest.param(tool({"type": "object", "$schema": 5}), "schema.dialect", "/inputSchema/$schema", id="$schema 5"),
    ],
)
def test_what_is_no_definition_is_one_error(value, rule, path):
    assert [(finding.rule, finding.path) for finding in definition_errors(value)] == [(rule, path)]


def test_a_definition_without_end_is_refused():
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"not": deep}
    assert [rule for rule, _ in rules_and_paths(tool(deep))] == ["json.depth"]
    circle: dict[str, Any] = {}
    circle["not"] = circle
    assert [rule for rule, _ in rules_and_paths(tool(circle))] == ["json.depth"]


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        pytest.param({"$ref": "#/$defs/nothing"}, [("schema.reference", "/inputSchema/$ref")], id="nowhere"),
        pytest.param(
            {"$defs": {"unused": {"$ref": "other.json"}}},
            [("schema.reference", "/inputSchema/$defs/unused/$ref")],
            id="unused",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}},
            [("schema.reference", "/inputSchema/properties/a/$ref")],
            id="meta-schema",
        ),
        pytest.param({"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}, [], id="anchor"),
        pytest.param(
            {"$id": "https://example.com/a", "$ref": "b", "$defs": {"b": {"$id": "b", "type": "object"}}}, [], id="$id"
        ),
        pytest.param({"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "x"}]}, [], id="no reference"),
        pytest.param({"allOf": [{"$ref": "#"}]}, [("schema.loop", "/inputSchema/allOf/0/$ref")], id="loop"),
    ],
)
@pytest.mark.requirement(49)
def test_references_stay_in_the_document(schema, found):
    assert [(f.rule, f.path) for f in definition_errors(tool({"type": "object", **schema}))] == found


@pytest.mark.requirement(47)
def test_a_schema_of_an_older_dialect_is_judged_by_that_dialect():
    draft_07 = {"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}
    good = tool({**draft_07, "properties": {"a": {"items": [{"type": "string"}]}}})
    assert rules_and_paths(good) == []
    assert rules_and_paths(tool({**draft_07, "dependencies": 5})) == [("schema.invalid", "/inputSchema/dependencies")]


def test_a_large_definition_is_a_warning():
    assert rules_and_paths({**GOOD, "description": "x" * 40_000}) == [("client.size", "")]


def test_a_bound_of_the_schema_package_is_one_rule_here():
    many = {"type": "object", "$id": "a", "properties": {f"p{n}": {} for n in range(100_001)}}
    assert {finding.rule for finding in definition_errors(tool(many))} == {"schema.bounds"}


# --- switches ------------------------------------------------------------------------------------------------


def test_a_warning_can_be_switched_off_and_on():
    definition = tool({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {}}}, name="a.b")
    assert rules_and_paths(definition) == [("client.name-characters", "/name")]
    assert rules_and_paths(definition, **{"client.name-characters": False}) == []
    assert rules_and_paths(definition, **{"client.name-characters": False, "client.references": True}) == [
        ("client.references", "/inputSchema/$ref")
    ]


def test_an_error_cannot_be_switched_off():
    switches = {"definition.name": False}
    assert [f.rule for f in check_definition({**GOOD, "name": "a b"}, switches)] == ["definition.name"]
    assert [(f.rule, f.path) for f in check_switches(switches)] == [("rules.error", "/definition.name")]


def test_bad_switches_are_told_with_the_nearest_name():
    found = list(check_switches({"client.name-lenght": False, "client.size": "off", "client.depth": True}))
    assert [(f.rule, f.path) for f in found] == [
        ("rules.unknown", "/client.name-lenght"),
        ("rules.switch", "/client.size"),
    ]
    assert found[0].fix == "write client.name-length"


def test_only_warnings_are_switchable():
    assert {RULES[name].severity for name in switchable()} == {Severity.WARNING}


def test_a_catalog_takes_what_only_warnings_are_about():
    definition = tool({"type": "object", "anyOf": [{"required": ["a"]}]}, name="a.b")
    assert ToolDefinition.from_wire(definition).name == "a.b"


# --- whatever comes ------------------------------------------------------------------------------------------

MEMBERS = {"x-mcp-header", "name", "inputSchema", "outputSchema", "annotations", "icons", "_meta"}
KEYWORDS = st.sampled_from(sorted(DRAFT_2020_12.keywords | MEMBERS))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["object", "string", "#", "#/$defs/a", "https://example.com/x", "(", "^(a*)*$", "Region"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYWORDS, inner, max_size=5)),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(VALUES, st.builds(tool, VALUES, outputSchema=VALUES)))
def test_any_value_gets_findings_and_nothing_else(value):
    findings = list(check_definition(value, dict.fromkeys(switchable(), True)))
    assert all(finding.rule in RULES for finding in findings)
    assert all(isinstance(finding.path, str) and finding.message and finding.fix for finding in findings)
    json.dumps([finding.message for finding in findings], ensure_ascii=False).encode()
    if not any(finding.severity is Severity.ERROR for finding in findings):
        assert ToolDefinition.from_wire(value).name == value["name"]


def test_a_rule_says_that_it_is_one():
    assert isinstance(RULES["json.syntax"], Rule)
