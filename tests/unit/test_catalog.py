"""The catalog: what loads, what is refused with every finding, and that nothing in it can change."""

from __future__ import annotations

import json
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


def test_two_definitions_of_one_name_are_refused():
    with pytest.raises(CatalogError, match="the name refund is taken"):
        Catalog.of([ToolDefinition.from_wire(REFUND, "a.json"), ToolDefinition.from_wire(REFUND, "b.json")])


def test_a_missing_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(CatalogError, match=r"catalog\.empty"):
        Catalog.load(tmp_path)
    with pytest.raises(CatalogError, match=r"catalog\.folder"):
        Catalog.load(tmp_path / "nowhere")
