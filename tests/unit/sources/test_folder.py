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


def folder(root: Path, files: dict[str, Any], handlers: str | None = None) -> Source:
    directory = root / "definitions"
    directory.mkdir()
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=1)
        (directory / name).write_text(text, encoding="utf-8")
    return open_source(SchemasSource(directory=directory, handlers=handlers, path=root), root)


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
    source = open_source(SchemasSource(directory=tmp_path / "definitions", handlers=None, path=tmp_path), tmp_path)
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
