"""Reading a TOML file strictly: all faults at once, with their lines."""

from __future__ import annotations

import pytest

from discern_server.toml import Document, nearest, shortened


def faults(document: Document) -> list[tuple[str, str | None, int | None]]:
    return [(fault.rule, fault.path, fault.line) for fault in document.faults]


def test_what_is_not_toml_is_one_fault_with_its_line():
    document = Document('[server]\nname = "a\n', "f.toml")
    assert faults(document) == [("toml.syntax", "f.toml", 2)]
    assert document.root.names == ()


def test_unknown_keys_are_told_with_the_nearest_known_one_and_without_their_values():
    document = Document('[server]\nnmae = "hunter2"\n[serwer]\nname = 1\n', "f.toml")
    document.root.table("server").string("name")
    document.root.close()
    assert faults(document) == [
        ("toml.unknown-key", "f.toml#/server/nmae", 2),
        ("toml.unknown-key", "f.toml#/serwer", 3),
    ]
    assert [fault.fix for fault in document.faults] == ['did you mean "name"?', 'did you mean "server"?']
    assert "hunter2" not in str(document.faults)


def test_a_key_near_nothing_is_answered_with_what_is_known():
    document = Document("zzz = 1\n", "f.toml")
    document.root.string("name")
    document.root.close()
    assert document.faults[0].fix == "known here: name"


@pytest.mark.parametrize(
    ("text", "rule"),
    [("", "toml.required"), ("name = 1", "toml.type"), ('name = " "', "toml.value")],
    ids=["absent", "wrong type", "blank"],
)
def test_a_required_string_that_is_none_is_reported_and_an_empty_one_stands_in(text: str, rule: str):
    document = Document(text, "f.toml")
    assert document.root.required_string("name") == ""
    assert [fault.rule for fault in document.faults] == [rule]


def test_a_number_where_text_belongs_is_mended_by_quotes():
    document = Document("version = 1.4\n", "f.toml")
    document.root.string("version")
    assert document.faults[0].message == "version is a number, not a string"
    assert document.faults[0].fix == "put it in quotes"


def test_a_choice_outside_the_options_names_the_nearest():
    document = Document('legacy = "served"\n', "f.toml")
    assert document.root.choice("legacy", ("reject", "serve"), default="reject") == "reject"
    assert document.faults[0].message == 'legacy is \'served\', not "reject" or "serve"'
    assert document.faults[0].fix == 'did you mean "serve"?'


def test_items_of_an_array_are_told_apart():
    document = Document('include = ["a", 2, "c", false]\n', "f.toml")
    assert document.root.strings("include") == ("a", "c")
    assert [fault.path for fault in document.faults] == ["f.toml#/include/1", "f.toml#/include/3"]


def test_a_table_that_is_none_and_an_array_of_no_tables_are_reported():
    document = Document("server = 1\nsources = [1]\n", "f.toml")
    document.root.table("server")
    document.root.tables("sources")
    assert faults(document) == [("toml.type", "f.toml#/server", 1), ("toml.type", "f.toml#/sources/0", 2)]


def test_lines_are_found_in_arrays_of_tables_dotted_keys_and_past_long_strings():
    text = (
        '[server]\ninstructions = """\nname = "not here"\n"""\nname = 1\n'
        "[[sources]]\nkind = 1\n"
        "[[sources]]\nkind = 2\ncredentials.key.env = 3\n"
        '[sources.extra]\n"a b" = 1\n'
    )
    document = Document(text, "f.toml")
    document.root.table("server").string("name")
    for source in document.root.tables("sources"):
        source.string("kind")
        source.table("credentials").table("key").string("env")
        source.table("extra").string("a b")
    assert faults(document) == [
        ("toml.type", "f.toml#/server/name", 5),
        ("toml.type", "f.toml#/sources/0/kind", 7),
        ("toml.type", "f.toml#/sources/1/kind", 9),
        ("toml.type", "f.toml#/sources/1/credentials/key/env", 10),
        ("toml.type", "f.toml#/sources/1/extra/a b", 12),
    ]


def test_a_missing_key_is_placed_at_its_table():
    document = Document('title = "x"\n[server]\ntitle = "y"\n', "f.toml")
    document.root.table("server").required_string("name")
    assert faults(document) == [("toml.required", "f.toml#/server/name", 2)]


def test_faults_come_in_the_order_of_the_file():
    document = Document("b = 1\na = 1\n", "f.toml")
    document.root.string("a")
    document.root.string("b")
    assert [fault.line for fault in document.faults] == [1, 2]


def test_long_values_are_shortened_and_near_names_found():
    assert shortened("x" * 99) == "'" + "x" * 36 + "..."
    assert nearest("leagcy", ("legacy", "name")) == "legacy"
    assert nearest("qqq", ("legacy", "name")) is None
