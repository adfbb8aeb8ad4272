"""The catalog: what loads, what is refused with every finding, and that nothing in it can change."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discern_server.catalog import Catalog, CatalogError, ToolDefinition, thaw

REFUND: dict[str, Any] = {
    "name": "refund",
    "description": "Refund a payment.",
    "x-ours": [1, {"deep": None}],
    "inputSchema": {"type": "object", "properties": {"amount": {"type": "number", "x-unit": "€"}}, "$comment": "kept"},
    "outputSchema": {"type": "object"},
    "_meta": {"a": 1},
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_files(**files: str | bytes | dict[str, Any]) -> Path:
        for name, content in files.items():
            text = json.dumps(content, ensure_ascii=False, indent=2) + "\n" if isinstance(content, dict) else content
            (tmp_path / f"{name}.json").write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path

    return write_files


def findings(error: CatalogError) -> list[tuple[str, str | None, int | None]]:
    return [(finding.rule, finding.path, finding.line) for finding in error.diagnostics]


def test_a_folder_loads_in_the_order_of_names_and_ignores_other_files(write):
    folder = write(refund=REFUND, **{"a.b": {"name": "a.b", "inputSchema": {"type": "object"}}})
    (folder / "README.md").write_text("not a definition", encoding="utf-8")
    catalog = Catalog.load(folder)
    assert catalog.names == ("a.b", "refund")
    assert [definition.name for definition in catalog] == ["a.b", "refund"]
    assert len(catalog) == 2
    assert "refund" in catalog
    assert "Refund" not in catalog
    assert catalog["refund"].origin == str(folder / "refund.json")


def test_the_wire_form_is_the_file_key_for_key(write):
    definition = Catalog.load(write(refund=REFUND))["refund"]
    assert json.dumps(thaw(definition.wire)) == json.dumps(REFUND)


def test_nothing_in_a_definition_can_change():
    definition = ToolDefinition.from_wire(REFUND)
    with pytest.raises(AttributeError):
        definition.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        definition.wire["name"] = "other"  # type: ignore[index]
    with pytest.raises(TypeError):
        definition.input_schema["properties"]["amount"]["type"] = "string"
    assert isinstance(definition.wire["x-ours"], tuple)
    assert hash(definition) == hash(ToolDefinition.from_wire(REFUND))


def test_every_fault_of_every_file_is_told_at_once(write):
    folder = write(
        bad_json='{\n  "name": "bad_json",\n  "inputSchema": {\n}',
        elsewhere={"name": "somewhere", "inputSchema": {"type": "array"}},
        twice='{"name": "twice",\n "inputSchema": {"type": "object",\n "type": "object"}}',
    )
    with pytest.raises(CatalogError) as caught:
        Catalog.load(folder)
    assert findings(caught.value) == [
        ("json.syntax", f"{folder}/bad_json.json", 4),
        ("definition.input-object", f"{folder}/elsewhere.json#/inputSchema/type", 4),
        ("catalog.file-name", f"{folder}/elsewhere.json#/name", 2),
        ("json.duplicate-key", f"{folder}/twice.json#/inputSchema/type", 3),
    ]


@pytest.mark.requirement(57)
def test_two_definitions_of_one_name_are_refused():
    with pytest.raises(CatalogError, match="the name refund is taken"):
        Catalog.of([ToolDefinition.from_wire(REFUND, "a.json"), ToolDefinition.from_wire(REFUND, "b.json")])


def test_a_missing_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(CatalogError, match=r"catalog\.empty"):
        Catalog.load(tmp_path)
    with pytest.raises(CatalogError, match=r"catalog\.folder"):
        Catalog.load(tmp_path / "nowhere")


def test_bytes_that_are_no_text_and_a_byte_order_mark_are_told_by_file(write):
    folder = write(bom=b"\xef\xbb\xbf{}", latin=b'{"name":\n "\xe9"}')
    with pytest.raises(CatalogError) as caught:
        Catalog.load(folder)
    assert findings(caught.value) == [
        ("json.encoding", f"{folder}/bom.json", 1),
        ("json.encoding", f"{folder}/latin.json", 2),
    ]


def test_a_file_that_cannot_be_read_is_a_finding(write):
    folder = write(refund=REFUND)
    (folder / "gone.json").symlink_to(folder / "nowhere")
    with pytest.raises(CatalogError) as caught:
        Catalog.load(folder)
    assert findings(caught.value) == [("catalog.file", f"{folder}/gone.json", None)]


def test_a_package_resource_loads_from_a_zip_file(write, tmp_path):
    archive = tmp_path / "schemas.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.write(write(refund=REFUND) / "refund.json", "schemas/refund.json")
    catalog = Catalog.load(zipfile.Path(archive, "schemas/"))
    assert catalog.names == ("refund",)
    assert catalog["refund"].origin == f"{archive}/schemas/refund.json"


def test_a_loaded_schema_is_its_file_as_compact_json(write):
    text = (
        '{\n  "name": "odd",\n  "inputSchema": {\n    "z": [1, 1.0, 1e3, -0.0, 12345678901234567890],\n'
        '    "type": "object",\n    "$schema": "https://json-schema.org/draft/2020-12/schema",\n'
        '    "x-\u00fcnknown": {"b": null, "a": "\u00e9\\u0001\U0001f600"},\n    "properties": {"": true}\n  }\n}\n'
    )
    definition = Catalog.load(write(odd=text))["odd"]
    loaded = json.dumps(thaw(definition.wire)["inputSchema"], ensure_ascii=False, separators=(",", ":"))
    assert loaded == json.dumps(json.loads(text)["inputSchema"], ensure_ascii=False, separators=(",", ":"))
    assert loaded.startswith('{"z":[1,1.0,1000.0,-0.0,12345678901234567890],"type":"object","$schema":')


def test_a_definition_made_by_code_names_its_tool_where_it_is_wrong():
    with pytest.raises(CatalogError) as caught:
        ToolDefinition.from_wire({"name": "refund", "inputSchema": {"type": "array"}})
    assert findings(caught.value) == [("definition.input-object", "refund#/inputSchema/type", None)]
    assert str(caught.value).startswith("refund#/inputSchema/type: ")


def test_what_the_caller_keeps_cannot_change_a_definition():
    source = json.loads(json.dumps(REFUND))
    definition = ToolDefinition.from_wire(source)
    source["inputSchema"]["properties"]["amount"]["type"] = "string"
    thaw(definition.wire)["inputSchema"]["type"] = "array"
    assert definition == ToolDefinition.from_wire(REFUND)


@pytest.mark.requirement(21)
def test_a_catalog_of_definitions_is_in_the_order_of_their_names():
    made = [ToolDefinition.from_wire({"name": name, "inputSchema": {"type": "object"}}) for name in "cab"]
    assert Catalog.of(made).names == ("a", "b", "c")
    assert repr(Catalog.of(made)) == "<Catalog of 3: a, b, c>"
    with pytest.raises(KeyError):
        Catalog.of(made)["d"]
