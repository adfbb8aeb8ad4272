"""The SARIF log: its shape, what it says of a finding, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

from discern_server.result import Diagnostic, Severity
from discern_server.rules import RULES
from discern_server.sarif import to_sarif

FINDING = Diagnostic(rule="definition.name", message="no name", path="schemas/a b.json#/name", line=3, fix="name it")

# What the code hosts that read SARIF insist on, in our words; objects of it are closed in the real schema.
_TEXT = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"type": "string"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "required": ["version", "runs"],
    "additionalProperties": False,
    "$defs": {
        "run": {
            "type": "object",
            "properties": {
                "tool": {
                    "type": "object",
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                    "required": ["driver"],
                    "additionalProperties": False,
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "originalUriBaseIds": {"type": "object"},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
            "required": ["tool", "results"],
            "additionalProperties": False,
        },
        "driver": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "semanticVersion": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "rule": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "shortDescription": _TEXT,
                "fullDescription": _TEXT,
                "help": _TEXT,
                "defaultConfiguration": {"type": "object", "properties": {"level": _LEVEL}},
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        "result": {
            "type": "object",
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": _LEVEL,
                "message": _TEXT,
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "locations": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/location"}},
            },
            "required": ["ruleId", "ruleIndex", "level", "message"],
            "additionalProperties": False,
        },
        "location": {
            "type": "object",
            "minProperties": 1,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "properties": {
                                "uri": {"type": "string", "pattern": r"^[!#-;=?-Z_a-z~%\[\]@&'()*+,]+$"},
                                "uriBaseId": {"type": "string"},
                            },
                            "required": ["uri"],
                        },
                        "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
                    },
                    "required": ["artifactLocation"],
                },
                "logicalLocations": {"type": "array", "items": {"type": "object"}},
            },
            "additionalProperties": False,
        },
    },
}


def results(*findings: Diagnostic) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_sarif(findings, tool_version="1.2.3", rules=RULES.values())["runs"][0]["results"]
    return found


def test_a_log_of_every_kind_of_finding_has_the_shape_that_code_hosts_read():
    from discern_server.schema.validate import compile_validator

    findings = [
        FINDING,
        Diagnostic(rule="client.size", message="m", severity=Severity.WARNING, path="schemas/a.json"),
        Diagnostic(rule="drift.stale", message="m", severity=Severity.INFO, path="/name"),
        Diagnostic(rule="project.path", message="m"),
        Diagnostic(rule="json.unicode", message="half \ud83d", path="schemas/\ud83d.json#/\ud83d"),
    ]
    log = to_sarif(findings, tool_version="1.2.3", rules=RULES.values())
    assert compile_validator(SHAPE).diagnose(log) == ()
    assert json.loads(json.dumps(log, ensure_ascii=False).encode()) == log


def test_a_finding_is_told_with_its_mend_its_file_its_line_and_its_pointer():
    (result,) = results(FINDING)
    assert result["partialFingerprints"].keys() == {"findingHash/v1"}
    del result["partialFingerprints"]
    assert result == {
        "ruleId": "definition.name",
        "ruleIndex": list(RULES).index("definition.name"),
        "level": "error",
        "message": {"text": "no name\nMend: name it"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "schemas/a%20b.json", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3},
                },
                "logicalLocations": [{"fullyQualifiedName": "/name", "kind": "value"}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("path", "uri", "pointer"),
    [
        pytest.param("schemas/a.json", "schemas/a.json", None, id="a file"),
        pytest.param("a#b.json", "a%23b.json", None, id="a file with a hash"),
        pytest.param("a.json#/x#/y", "a.json", "/x#/y", id="a pointer with a hash"),
        pytest.param("/srv/a.json#/x", "file:///srv/a.json", "/x", id="an absolute file"),
        pytest.param("/x", None, "/x", id="a pointer"),
    ],
)
def test_a_path_is_a_file_a_pointer_or_both(path, uri, pointer):
    (location,) = results(Diagnostic(rule="r", message="m", path=path))[0]["locations"]
    assert location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri") == uri
    assert [each["fullyQualifiedName"] for each in location.get("logicalLocations", [])] == (
        [pointer] if pointer else []
    )


def test_a_finding_without_a_place_has_no_location():
    assert "locations" not in results(Diagnostic(rule="r", message="m"))[0]


def test_every_rule_is_described_and_unknown_ones_are_named():
    log = to_sarif([Diagnostic(rule="drift.stale", message="m")], tool_version="1.2.3", rules=RULES.values())
    described = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == [*RULES, "drift.stale"]
    assert log["runs"][0]["results"][0]["ruleIndex"] == len(RULES)


def test_a_finding_keeps_its_fingerprint_when_its_line_moves():
    (first,) = results(FINDING)
    (moved,) = results(Diagnostic(rule=FINDING.rule, message=FINDING.message, path=FINDING.path, line=30))
    (other,) = results(Diagnostic(rule=FINDING.rule, message="another", path=FINDING.path, line=3))
    assert first["partialFingerprints"] == moved["partialFingerprints"] != other["partialFingerprints"]
