"""Hand-written definitions, and the functions that serve them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from discern_server.catalog import thaw
from discern_server.project import SchemasSource
from discern_server.sources import Source, SourceError, open_source


def folder(root: Path, files: dict[str, Any], handlers: str | None = None, dialect: str | None = None) -> Source:
    directory = root / "definitions"
    directory.mkdir()
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=1)
        (directory / name).write_text(text, encoding="utf-8")
    return open_source(SchemasSource(directory=directory, dialect=dialect, handlers=handlers, path=root), root)


def faults(source: Source) -> list[tuple[str, str | None, int | None]]:
    with pytest.raises(SourceError) as caught:
        source.definitions()
    return [(fault.rule, fault.path, fault.line) for fault in caught.value.diagnostics]


def test_a_file_is_a_whole_definition_or_the_schema_of_the_arguments(tmp_path: Path):
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "x-own": [1]}
    source = folder(
        tmp_path,
        {
            "b.json": {"title": "Whole", "inputSchema": schema, "unknown": 1},
            "a.json": {"title": "Bare", "description": "Told.", **schema},
            "notes.txt": "not ours",
        },
    )
    assert [thaw(definition.wire) for definition in source.definitions()] == [
        {"name": "a", "title": "Bare", "description": "Told.", "inputSchema": schema},
        {"name": "b", "title": "Whole", "inputSchema": schema, "unknown": 1},
    ]


def test_every_fault_of_every_file_is_told_with_its_line(tmp_path: Path):
    source = folder(
        tmp_path,
        {
            "bare.json": {"type": "object", "properties": {"a": {"type": "strin"}}},
            "broken.json": "{\n]",
            "list.json": [],
            "whole.json": {"name": "no spaces", "inputSchema": {"type": "array"}},
        },
    )
    assert [(path, line) for _, path, line in faults(source)] == [
        ("definitions/bare.json#/properties/a/type", 5),
        ("definitions/broken.json", 2),
        ("definitions/list.json", 1),
        ("definitions/whole.json#/name", 2),
        ("definitions/whole.json#/inputSchema/type", 4),
    ]


def test_a_folder_that_is_empty_or_not_there_is_told(tmp_path: Path):
    assert faults(folder(tmp_path, {})) == [("folder.files", "definitions", None)]
    (tmp_path / "definitions").rmdir()
    source = open_source(SchemasSource(directory=tmp_path / "definitions", path=tmp_path), tmp_path)
    assert faults(source) == [("folder.files", "definitions", None)]


def test_each_tool_is_served_by_the_function_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "folder_served.py").write_text("def a_b(args, ctx):\n    return args\n", encoding="utf-8")
    source = folder(tmp_path, {"a-b.json": {"type": "object"}}, handlers="folder_served")
    handler = source.handlers()["a-b"]
    assert handler({"x": 1}, None) == {"x": 1}  # type: ignore[arg-type]


def test_every_missing_function_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "folder_missing.py").write_text("def refnd(args, ctx): ...\n", encoding="utf-8")
    source = folder(
        tmp_path, {"refund.json": {"type": "object"}, "zz.json": {"type": "object"}}, handlers="folder_missing"
    )
    with pytest.raises(SourceError) as caught:
        source.handlers()
    assert [(fault.message, fault.path, fault.fix) for fault in caught.value.diagnostics] == [
        ("folder_missing has no function refund", "folder_missing.py", "did you mean refnd?"),
        ("folder_missing has no function zz", "folder_missing.py", "define zz there"),
    ]


def test_without_handlers_the_host_app_supplies_them(tmp_path: Path):
    assert folder(tmp_path, {"a.json": {"type": "object"}}).handlers() == {}


def test_schemas_of_any_dialect_become_2020_12(tmp_path: Path):
    tuple_of = {"type": "array", "items": [{"type": "string"}]}
    wanted = {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}}
    said = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": tuple_of}}
    told = {"inputSchema": {"type": "object", "properties": {"a": tuple_of}}, "outputSchema": tuple_of}
    source = folder(tmp_path, {"said.json": said, "told.json": told}, dialect="draft-07")
    first, second = source.definitions()
    assert thaw(first.input_schema) == {"$schema": "https://json-schema.org/draft/2020-12/schema", **wanted}
    assert thaw(second.input_schema) == wanted
    assert second.output_schema is not None
    assert thaw(second.output_schema) == wanted["properties"]["a"]  # type: ignore[index]


def test_a_schema_may_refer_into_other_files_of_the_folder_and_nowhere_else(tmp_path: Path):
    (tmp_path / "secret.json").write_text('{"type": "string"}', encoding="utf-8")
    shared = {"type": "object", "$defs": {"id": {"type": "integer"}}}
    good = {"type": "object", "properties": {"id": {"$ref": "shared.json#/$defs/id"}}}
    bad = {"type": "object", "properties": {"id": {"$ref": "../secret.json"}}}
    source = folder(tmp_path, {"bad.json": bad, "shared.json": shared})
    assert [(path, line) for _, path, line in faults(source)] == [("definitions/bad.json#/properties/id/$ref", 5)]
    (tmp_path / "definitions" / "bad.json").unlink()
    (tmp_path / "definitions" / "good.json").write_text(json.dumps(good), encoding="utf-8")
    source = open_source(SchemasSource(directory=tmp_path / "definitions", path=tmp_path), tmp_path)
    assert thaw(source.definitions()[0].input_schema) == {
        "type": "object",
        "properties": {"id": {"$ref": "#/$defs/id"}},
        "$defs": {"id": {"type": "integer"}},
    }


def test_a_keyword_that_means_nothing_in_its_dialect_is_told_and_does_no_harm(tmp_path: Path):
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "const": {}}
    source = folder(tmp_path, {"old.json": schema})
    assert len(source.definitions()) == 1
    assert [(found.severity.value, found.path, found.line) for found in source.findings()] == [
        ("warning", "definitions/old.json#/const", 4)
    ]
