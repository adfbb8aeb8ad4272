"""Which operations become tools."""

from __future__ import annotations

import pytest

from discern_server.sources.openapi.description import Operation
from discern_server.sources.openapi.documents import Place
from discern_server.sources.openapi.selection import PatternError, Selection


def operation(method: str, path: str, operation_id: str | None = None, *tags: str) -> Operation:
    return Operation(
        place=Place({}, "file:///x"), method=method, path=path, operation_id=operation_id, summary=None,
        description=None, tags=tags, deprecated=False, parameters=(), body=None, responses=(), server=None, security=(),
    )  # fmt: skip


LIST = operation("GET", "/invoices", "listInvoices", "billing")
GET = operation("GET", "/invoices/{id}", "getInvoice", "billing")
PAY = operation("POST", "/invoices/{id}/pay", "payInvoice", "billing", "money")
USERS = operation("GET", "/users", None)
ALL = (LIST, GET, PAY, USERS)


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("GET /invoices/**", (LIST, GET)),
        ("/invoices/**", (LIST, GET, PAY)),
        ("/invoices/*", (GET,)),
        ("* /users", (USERS,)),
        ("get /invoices", (LIST,)),
        ("/invoices/{id}", (GET,)),
        ("/**/pay", (PAY,)),
        ("/**", ALL),
        ("POST", (PAY,)),
        ("method:read", (LIST, GET, USERS)),
        ("method:write", (PAY,)),
        ("tag:money", (PAY,)),
        ("tag:*", (LIST, GET, PAY)),
        ("id:get*", (GET,)),
    ],
)
def test_a_pattern_chooses(pattern: str, chosen: tuple[Operation, ...]):
    selection = Selection.of([pattern])
    assert {found.key for found in ALL if found in selection} == {found.key for found in chosen}


def test_without_patterns_everything_is_in_and_exclude_goes_before_include():
    assert all(found in Selection.of() for found in ALL)
    assert [found for found in ALL if found in Selection.of(["tag:billing"], ["method:write"])] == [LIST, GET]


def test_patterns_that_choose_nothing_are_told():
    assert Selection.of(["tag:biling"], ["/users"]).unused(ALL) == ["tag:biling"]


@pytest.mark.parametrize("pattern", ["", "GET invoices", "method:both", "invoices/**"])
def test_what_is_no_pattern_is_refused(pattern: str):
    with pytest.raises(PatternError):
        Selection.of([pattern])
