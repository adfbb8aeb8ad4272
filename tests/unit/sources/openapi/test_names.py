"""Names of tools and of their arguments."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discern_server.sources.openapi.description import Operation, Parameter
from discern_server.sources.openapi.documents import Place
from discern_server.sources.openapi.names import argument_names, tool_names

HASHED = re.compile(r".*_[0-9a-f]{8}")
PLACE = Place({}, "file:///x")


def operation(method: str, path: str, operation_id: str | None = None) -> Operation:
    return Operation(
        place=PLACE, method=method, path=path, operation_id=operation_id, summary=None, description=None, tags=(),
        deprecated=False, parameters=(), body=None, responses=(), server=None, security=(),
    )  # fmt: skip


def parameter(location: Any, name: str) -> Parameter:
    return Parameter(
        place=PLACE, name=name, location=location, required=False, description=None, deprecated=False, schema=None,
        style="form", explode=True,
    )  # fmt: skip


def name_of(*args: str | None) -> str:
    (name,) = tool_names([operation(*args)]).values()  # type: ignore[arg-type]
    return name


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        ("listPets", "listPets"),
        ("repos/list-for-org", "repos_list-for-org"),
        ("pets.list all", "pets_list_all"),
        ("_internal__get_", "internal__get"),
        ("créerÉtat", "creerEtat"),
    ],
)
def test_an_operation_id_is_cleaned(operation_id: str, name: str):
    assert name_of("GET", "/pets", operation_id) == name


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [("GET", "/pets/{petId}", "get_pets_petId"), ("POST", "/", "post"), ("DELETE", "/a-b/c.d", "delete_a-b_c_d")],
)
def test_without_an_operation_id_method_and_path_name_it(method: str, path: str, name: str):
    assert name_of(method, path) == name


def test_an_operation_id_of_letters_that_names_cannot_have_gives_way_to_the_path():
    assert name_of("GET", "/users", "获取用户") == "get_users"
    assert HASHED.fullmatch(name_of("GET", "/用户", "获取用户"))


def test_a_name_that_is_too_long_is_cut_and_ends_in_a_hash_of_the_whole():
    ids = ["list_of_everything_that_is_known_about_customers_and_their_" + end for end in ("orders", "invoices", "")]
    names = [name_of("GET", "/a", operation_id) for operation_id in ids]
    assert len(set(names)) == 3
    assert all(len(name) <= 64 for name in names)


def test_a_name_that_two_operations_want_is_given_to_neither():
    names = tool_names([operation("GET", "/a", "do"), operation("POST", "/a", "do"), operation("GET", "/b", "Do")])
    assert all(HASHED.fullmatch(name) for name in names.values())
    assert len({name.lower() for name in names.values()}) == 3


def test_names_that_differ_in_case_alone_clash():
    """A definition's file is named after its tool, and not every file system tells them apart."""
    names = tool_names([operation("GET", "/a", "getPet"), operation("GET", "/b", "getpet")])
    assert len({name.lower() for name in names.values()}) == 2


_IDS = st.one_of(st.none(), st.text(max_size=80), st.sampled_from(["a/b", "a.b", "a_b", "get_a", "x" * 70]))
_PATHS = st.text(max_size=70).map(lambda text: f"/{text}")


@given(st.dictionaries(st.tuples(st.sampled_from(["GET", "POST"]), _PATHS), _IDS, max_size=8), st.randoms())
def test_names_are_unique_bounded_and_independent_of_order(operations: dict[tuple[str, str], str | None], random: Any):
    listed = [operation(method, path, given_id) for (method, path), given_id in operations.items()]
    names = tool_names(listed)
    assert len({name.lower() for name in names.values()}) == len(listed)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    random.shuffle(listed)
    assert tool_names(listed) == names


def test_a_new_operation_changes_no_name_that_it_does_not_clash_with():
    before = [operation("GET", f"/{n}", f"op{n}") for n in range(3)]
    names = tool_names(before)
    after = tool_names([operation("GET", "/new", "another"), *before])
    assert {key: after[key] for key in names} == names


# --- arguments --------------------------------------------------------------------------------------


def test_an_argument_has_the_parameters_own_name():
    assert argument_names([parameter("path", "id"), parameter("query", "page.size")], has_body=True) == [
        "id",
        "page.size",
    ]


def test_the_same_name_in_two_places_gets_its_place_before_it():
    assert argument_names([parameter("path", "id"), parameter("query", "id")], has_body=False) == [
        "path_id",
        "query_id",
    ]


def test_body_is_the_request_body_where_there_is_one():
    assert argument_names([parameter("query", "body")], has_body=True) == ["query_body"]
    assert argument_names([parameter("query", "body")], has_body=False) == ["body"]


def test_characters_that_clients_refuse_become_underscores_and_who_is_written_so_keeps_the_name():
    first, second, third = argument_names(
        [parameter("query", "filter[code]"), parameter("query", "filter_code"), parameter("query", "$select")],
        has_body=False,
    )
    assert HASHED.fullmatch(first)
    assert (second, third) == ("filter_code", "select")


@given(st.lists(st.tuples(st.sampled_from(["path", "query", "header"]), st.text(max_size=70)), unique=True, max_size=6))
def test_argument_names_are_unique_and_acceptable_to_clients(keys: list[tuple[str, str]]):
    names = argument_names([parameter(place, name) for place, name in keys], has_body=True)
    assert len({*names, "body"}) == len(keys) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) for name in names)
