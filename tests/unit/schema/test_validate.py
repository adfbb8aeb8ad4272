"""Validation: verdicts, and diagnostics that a model can act on, the same from both engines."""

from __future__ import annotations

import faulthandler
import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any
from urllib.request import urlopen

import pytest

from discern_server.schema.engines import EngineName, compile_schema
from discern_server.schema.errors import SchemaError
from discern_server.schema.validate import Validator, compile_validator

ENGINES: tuple[EngineName, ...] = ("jsonschema-rs", "jsonschema")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


class CountingServer:
    """Answers every request with the schema that accepts all, and counts them."""

    def __init__(self) -> None:
        self.hits = 0
        counter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                counter.hits += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server() -> Iterator[CountingServer]:
    counting = CountingServer()
    thread = threading.Thread(target=counting.http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield counting
    counting.http.shutdown()
    counting.http.server_close()
    thread.join(10)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End the whole run with a traceback where the body hangs: an engine in native code hears nothing else."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def told(validator: Validator, instance: Any) -> list[tuple[str, str | None, str, str | None]]:
    return [(d.rule, d.path, d.message, d.fix) for d in validator.diagnose(instance)]


def test_a_valid_instance_has_no_diagnostics(engine):
    validator = compile_validator(MappingProxyType({"type": "object", "required": ("a",)}), engine=engine)
    assert validator.is_valid({"a": 1})
    assert validator.diagnose({"a": 1}) == ()


def test_a_missing_and_a_misspelt_property_are_named(engine):
    schema = {
        "type": "object",
        "properties": {"amount": {"type": "number", "description": "In euros."}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert told(compile_validator(schema, engine=engine), {"amuont": 3}) == [
        ("additionalProperties", "/amuont", '"amuont" is not a known property', 'did you mean "amount"?'),
        ("required", "", '"amount" is missing', 'add "amount" (a number; In euros.)'),
    ]


def test_of_alternatives_the_closest_is_explained(engine):
    schema = {
        "oneOf": [
            {"title": "Card", "properties": {"kind": {"const": "card"}, "number": {"type": "string"}}},
            {"title": "Bank", "properties": {"kind": {"const": "bank"}, "iban": {"type": "string"}}},
        ]
    }
    assert told(compile_validator(schema, engine=engine), {"kind": "bank", "iban": 5, "number": 1}) == [
        ("oneOf", "", "matches none of the 2 alternatives; alternative 2 (Bank) comes closest", None),
        ("type", "/iban", "expected a string, got the number 5", "give a string"),
    ]


def test_what_is_no_json_is_told_and_never_reaches_an_engine(engine):
    validator = compile_validator({"type": "object"}, engine=engine)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    instance = {"half": "\ud800", "not a number": float("nan"), "long": 10**5000, "set": {1}}
    assert [d.rule for d in validator.diagnose(instance)] == ["json.unicode", "json.number", "json.number", "json.type"]
    assert [d.rule for d in validator.diagnose({"deep": deep})] == ["json.depth"]
    assert not validator.is_valid({"deep": deep})


def test_subclasses_of_what_json_is_made_of_are_judged_as_what_they_are(engine):
    class Text(str):
        __slots__ = ()

    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 1}, "b": {"type": "array"}}}
    validator = compile_validator(schema, engine=engine)
    assert validator.is_valid(OrderedDict(a=Text("x"), b=(1, 2)))
    assert [d.rule for d in validator.diagnose({"a": Text("xx")})] == ["maxLength"]


def test_a_schema_that_is_none_is_a_schema_error(engine):
    with pytest.raises(SchemaError):
        compile_validator({"type": "objekt"}, engine=engine).compile()


def test_an_older_dialect_is_read_as_what_it_says_it_is(engine):
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
    assert not compile_validator(schema, engine=engine).is_valid([1])


@pytest.mark.requirement(48)
def test_an_unknown_dialect_is_a_schema_error(engine):
    with pytest.raises(SchemaError, match="dialect"):
        compile_validator({"$schema": "https://example.com/mine"}, engine=engine).compile()


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema"])
@pytest.mark.requirement(49)
def test_nothing_is_ever_fetched(keyword, engine, server):
    with pytest.raises(SchemaError):
        compile_validator({keyword: f"{server.url}/schema.json"}, engine=engine).compile()
    assert server.hits == 0


def test_the_server_that_counts_does_count(server):
    with urlopen(f"{server.url}/schema.json") as answer:
        assert answer.status == 200
    assert server.hits == 1


CATASTROPHES = [r"^(a*)*\1b$", r"^(a|aa|b?a)*\1(a*)*$", r"^(?=(a+)+\1$)(a|a)*b$"]


@pytest.mark.parametrize("pattern", CATASTROPHES)
@pytest.mark.requirement(50)
def test_a_catastrophic_pattern_is_given_up_and_the_value_refused(pattern, engine):
    validator = compile_validator({"pattern": pattern}, engine=engine)
    with within(10):
        assert not validator.is_valid("a" * 5_000 + "!")
        assert validator.diagnose("a" * 5_000 + "!")


def test_a_pattern_that_was_given_up_says_so():
    (diagnostic,) = compile_validator({"pattern": CATASTROPHES[0]}, engine="jsonschema-rs").diagnose("a" * 5_000)
    assert diagnostic.message.endswith("cannot be checked: the pattern takes too many steps on this value")


def test_a_pattern_that_would_take_too_much_memory_is_a_schema_error():
    with pytest.raises(SchemaError, match="too large"):
        compile_validator({"pattern": "(a{1000}){1000}"}, engine="jsonschema-rs").compile()


def test_many_threads_share_one_compilation(engine, monkeypatch):
    compiled = []

    def counting(schema, engine):
        compiled.append(engine)
        return compile_schema(schema, engine)

    monkeypatch.setattr("discern_server.schema.validate.compile_schema", counting)
    validator = compile_validator({"properties": {"a": {"type": "integer"}}}, engine=engine)
    start = threading.Barrier(8)

    def check(thread: int) -> set[tuple[bool, bool, int]]:
        start.wait(10)
        return {
            (validator.is_valid({"a": n}), validator.is_valid({"a": str(n)}), len(validator.diagnose({"a": "x"})))
            for n in range(200)
        }

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(check, range(8))) == [{(True, False, 1)}] * 8
    assert len(compiled) == 1


# --- what it may cost to explain -------------------------------------------------------------------------


def expression(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"op": "add", "left": leaf, "right": {"op": "value", "value": 1}}
    return leaf


EXPRESSION = {
    "$ref": "#/$defs/expression",
    "$defs": {
        "expression": {
            "oneOf": [
                *(
                    {
                        "type": "object",
                        "properties": {
                            "op": {"const": op},
                            "left": {"$ref": "#/$defs/expression"},
                            "right": {"$ref": "#/$defs/expression"},
                        },
                        "required": ["op", "left", "right"],
                    }
                    for op in ("add", "subtract", "multiply", "divide")
                ),
                {
                    "type": "object",
                    "properties": {"op": {"const": "value"}, "value": {"type": "number"}},
                    "required": ["op", "value"],
                },
            ]
        }
    },
}


@pytest.mark.parametrize("depth", [1, 3, 60])
@pytest.mark.requirement(50)
def test_a_fault_deep_in_a_recursive_union_is_found_in_bounded_time(depth):
    validator = compile_validator(EXPRESSION, engine="jsonschema-rs")
    assert validator.is_valid(expression(depth, {"op": "value", "value": 1}))
    with within(10):
        *_, last = validator.diagnose(expression(depth, {"op": "value", "value": "x"}))
    assert (last.rule, last.path) == ("type", "/left" * depth + "/value")


def test_the_reference_engine_gives_a_check_up_that_takes_too_many_steps(monkeypatch):
    monkeypatch.setattr("discern_server.schema.reference_engine.STEP_LIMIT", 5_000)
    validator = compile_validator(EXPRESSION, engine="jsonschema")
    instance = expression(60, {"op": "value", "value": "x"})
    with within(60):
        assert not validator.is_valid(instance)
        assert [(d.rule, d.path) for d in validator.diagnose(instance)] == [("cost", "")]


def test_one_wrong_row_of_many_is_found(engine):
    rows: list[Any] = [{"id": n} for n in range(5_000)]
    rows[-2] = {"id": "x"}
    validator = compile_validator({"items": {"properties": {"id": {"type": "integer"}}}}, engine=engine)
    assert [(d.rule, d.path) for d in validator.diagnose(rows)] == [("type", "/4998/id")]


def test_of_many_wrong_rows_the_first_are_told(engine):
    validator = compile_validator({"items": {"type": "integer"}}, engine=engine)
    with within(10):
        found = validator.diagnose(["x"] * 200_000, limit=3)
    assert [d.path for d in found] == ["/0", "/1", "/2"]


def test_a_schema_that_multiplies_itself_is_explained_in_bounded_time():
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(40)
    }
    definitions["d40"] = {"type": "string"}
    validator = compile_validator({"$ref": "#/$defs/d0", "$defs": definitions}, engine="jsonschema-rs")
    with within(10):
        assert [(d.rule, d.path) for d in validator.diagnose(1)] == [("type", "")]


def test_of_alternatives_in_a_large_value_it_is_at_least_told_that_none_fits():
    schema = {"anyOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}}]}
    found = compile_validator(schema, engine="jsonschema-rs").diagnose([1, "x"] * 20_000)
    assert [(d.rule, d.path, d.message) for d in found] == [("anyOf", "", "matches none of the 2 alternatives")]
