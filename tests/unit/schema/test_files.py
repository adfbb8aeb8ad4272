"""References into files stay inside one folder."""

from __future__ import annotations

import os

import pytest

from discern_server.schema.errors import UnresolvableError
from discern_server.schema.files import FolderResolver
from discern_server.schema.normalize import normalize


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "pet.json").write_text('{"properties": {"owner": {"$ref": "../owner.json#/$defs/o"}}}', "utf-8")
    (root / "owner.json").write_text('{"$defs": {"o": {"type": "string"}}}', "utf-8")
    (tmp_path / "secret.json").write_text('{"type": "string"}', "utf-8")
    return root


def refusal(resolve: FolderResolver, uri: str) -> str:
    with pytest.raises(UnresolvableError) as caught:
        resolve(uri)
    return caught.value.reason


@pytest.mark.parametrize("base", ["", "file"])
def test_references_are_followed_from_file_to_file(folder, base):
    base_uri = (folder / "main.json").as_uri() if base else "main.json"
    schema = {"items": {"$ref": "deep/pet.json"}}
    assert normalize(schema, base_uri=base_uri, resolve=FolderResolver(folder)) == {
        "items": {"$ref": "#/$defs/pet"},
        "$defs": {"pet": {"properties": {"owner": {"$ref": "#/$defs/o"}}}, "o": {"type": "string"}},
    }


@pytest.mark.parametrize(
    "uri", ["../secret.json", "deep/../../secret.json", "deep/%2e%2e/%2e%2e/secret.json", "/etc/hosts", "%2fetc/hosts"]
)
def test_a_path_that_leaves_the_folder_is_refused(folder, uri):
    assert refusal(FolderResolver(folder), uri).startswith("leaves the folder")


def test_a_file_uri_outside_the_folder_is_refused(folder):
    outside = (folder.parent / "secret.json").as_uri()
    assert refusal(FolderResolver(folder), outside).startswith("leaves the folder")


def test_a_symbolic_link_out_of_the_folder_is_refused_and_one_inside_is_followed(folder):
    (folder / "out.json").symlink_to(folder.parent / "secret.json")
    (folder / "up").symlink_to(folder.parent)
    (folder / "in.json").symlink_to(folder / "owner.json")
    resolve = FolderResolver(folder)
    assert refusal(resolve, "out.json").startswith("leaves the folder")
    assert refusal(resolve, "up/secret.json").startswith("leaves the folder")
    assert resolve("in.json") == {"$defs": {"o": {"type": "string"}}}


@pytest.mark.parametrize(
    "uri", ["http://example.com/a.json", "file://server/share/a.json", "owner.json?x=1", "urn:x:y"]
)
def test_what_is_no_file_of_this_machine_is_refused(folder, uri):
    assert refusal(FolderResolver(folder), uri).startswith("is not in a file")


def test_what_is_not_there_or_no_file_is_refused(folder):
    os.mkfifo(folder / "pipe.json")
    resolve = FolderResolver(folder)
    assert refusal(resolve, "missing.json").startswith("leads to a file that is not there")
    assert refusal(resolve, "pipe.json").startswith("leads to what is no file")
    assert refusal(resolve, "deep").startswith("cannot be read")
    assert refusal(resolve, "a%00b").startswith("leads to no file")


def test_a_file_that_is_too_large_or_no_document_is_refused(folder):
    (folder / "broken.json").write_text("{", "utf-8")
    (folder / "latin.json").write_bytes(b'"\xe9"')
    (folder / "deep.json").write_text("[" * 100_000, "utf-8")
    resolve = FolderResolver(folder, max_bytes=200_000)
    for name in ("broken.json", "latin.json", "deep.json"):
        assert refusal(resolve, name).startswith("leads to what cannot be understood")
    assert refusal(FolderResolver(folder, max_bytes=10), "owner.json").startswith(
        "leads to a file of more than 10 bytes"
    )


def test_the_caller_may_bring_a_parser(folder):
    assert FolderResolver(folder, parse=len)("owner.json") == 36
