"""Documents: what may be opened, and where references lead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discern_server.sources.openapi.documents import (
    DescriptionError,
    DocumentError,
    Documents,
    Place,
    file_opener,
    memory_opener,
    parse,
)

ROOT = "file:///api/openapi.json"


def documents(root: bytes = b"{}", **files: bytes) -> Documents:
    held = {f"file:///api/{name.replace('__', '/')}.json": data for name, data in files.items()}
    return Documents(ROOT, memory_opener({ROOT: root, **held}))


def test_json_and_yaml_are_told_apart_by_the_text():
    assert parse(b'{"a": NO}', "x")[0] == {"a": "NO"}
    assert parse(b'{"a": 1}', "x")[0] == {"a": 1}
    assert parse(b"a: NO", "x")[0] == {"a": "NO"}


def test_a_byte_order_mark_and_utf_16_are_read():
    assert parse('\ufeff{"a": "é"}'.encode(), "x")[0] == {"a": "é"}
    assert parse('{"a": "é"}'.encode("utf-16"), "x")[0] == {"a": "é"}


def test_json_needs_no_yaml_parser_and_yaml_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "discern_server.sources.openapi.yaml12", None)
    monkeypatch.delattr("discern_server.sources.openapi.yaml12")
    assert parse(b'{"a": 1}', "x")[0] == {"a": 1}
    with pytest.raises(DocumentError) as caught:
        parse(b"a: 1", "x")
    assert caught.value.fix == "pip install 'discern-server[openapi]'"


def test_broken_json_is_told_of_as_json_with_its_line():
    with pytest.raises(DocumentError, match="not JSON") as caught:
        parse(b'{\n"a": 1,\n"b": [1,, 2]\n}', "x")
    assert caught.value.line == 3


@pytest.mark.parametrize("text", [b'{\n"a": 1,\n}', b'{"a":\n}', b"{'a':\n1}"], ids=["comma", "no value", "quotes"])
def test_what_is_called_json_is_not_read_as_the_yaml_that_it_also_is(text: bytes):
    """YAML takes trailing commas, and a value that is not there for null; RFC 8259 does not."""
    assert isinstance(parse(text, "openapi.yaml")[0], dict)
    with pytest.raises(DocumentError, match="it is not JSON") as caught:
        parse(text, "API/OpenAPI.JSON")
    assert caught.value.line is not None


def test_numbers_that_no_float_holds_stay_text():
    assert parse(b'{"a": 1e999, "b": 12345678901234567890}', "x")[0] == {"a": "1e999", "b": 12345678901234567890}


def test_text_beyond_ascii_is_read_as_it_is():
    assert parse('{"é": "日本 😀 \\u00e9"}'.encode(), "x")[0] == {"é": "日本 😀 é"}


@pytest.mark.parametrize("text", [b'{"a": NaN, "b": [}', b"a: [1", b"\xff\xfe\xfa"])
def test_text_that_is_neither_is_an_error_that_names_the_document(text: bytes):
    with pytest.raises(DocumentError, match=r"api\.yaml"):
        parse(text, "api.yaml")


def test_nesting_beyond_what_can_be_read_is_an_error():
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "x")


def test_a_json_key_that_stands_twice_is_a_finding():
    found = documents(b'{"a": 1, "a": 2}')
    assert found.root().value == {"a": 2}
    assert [(finding.rule, finding.path) for finding in found.warnings] == [("openapi.duplicate-key", "openapi.json")]


def test_a_reference_is_percent_decoded_and_then_a_pointer():
    """RFC 6901, sections 3 and 6."""
    root = documents(b'{"paths": {"/a/{x}~y": {"put": 1}}, "r": {"$ref": "#/paths/~1a~1%7Bx%7D~0y/put"}}').root()
    found = documents(b'{"paths": {"/a/{x}~y": {"put": 1}}}').resolve("#/paths/~1a~1%7Bx%7D~0y/put", root)
    assert (found.value, found.pointer) == (1, "/paths/~1a~1{x}~0y/put")


def test_references_lead_into_other_files_and_on_from_there():
    found = documents(b'{"$ref": "parts/a.json#/x"}', parts__a=b'{"x": {"$ref": "b.json"}}', parts__b=b'{"y": 1}')
    place = found.follow(found.root())
    assert (place.value, found.name(place.uri)) == ({"y": 1}, "parts/b.json")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b'{"$ref": "#/nowhere"}', "leads to nothing"),
        (b'{"$ref": "#"}', "back to itself"),
        (b'{"$ref": "missing.json"}', "cannot be opened"),
        (b'{"$ref": "http://127.0.0.1:9/x.json"}', "not fetched"),
        (b'{"$ref": "#anchor"}', "no JSON Pointer"),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_fault(document: bytes, reason: str):
    found = documents(document)
    with pytest.raises(DescriptionError, match=reason):
        found.follow(found.root())


def test_files_outside_of_the_folder_are_refused(tmp_path: Path):
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    folder = tmp_path / "api"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    opener = file_opener(folder)
    for name in ("../secret.json", "link.json"):
        with pytest.raises(DocumentError, match="outside"):
            opener(f"{folder.as_uri()}/{name}")


def test_a_place_tells_kinds_apart():
    place = Place({"a": [1], "b": {"x-y": 1, "c": 2}, "n": None}, ROOT)
    assert [item.pointer for item in place.items("a")] == ["/a/0"]
    assert list(place.mapping("b")) == ["x-y", "c"]
    assert list(place.mapping("b", extensible=True)) == ["c"]
    assert place.get("n") is None
    with pytest.raises(DescriptionError, match="an array is expected"):
        place.items("b")
    with pytest.raises(DescriptionError, match="an object is expected"):
        place.mapping("a")
