"""Definitions and handlers from a module's marked functions."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from discern_server.catalog import ToolDefinition, thaw
from discern_server.handler import RequestContext
from discern_server.project import PythonSource
from discern_server.result import DiscernResult
from discern_server.sources import SourceError, open_source
from discern_server.sources.python import PythonModule

CTX = cast("RequestContext", object())

IMPORTS = """
from __future__ import annotations
import dataclasses, datetime, decimal, enum, typing
from typing import Annotated, Any, Literal, TYPE_CHECKING
from pydantic import BaseModel, Field
from discern_server import DiscernResult, RequestContext, tool
"""

Open = Callable[[str], PythonModule]


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Open]:
    """Write a module and open it as a source; the import path and the table of modules are put back."""
    path, modules = list(sys.path), set(sys.modules)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode

    def open_module(source: str) -> PythonModule:
        (tmp_path / "shop.py").write_text(IMPORTS + source, encoding="utf-8")
        return PythonModule(PythonSource(module="shop", path=tmp_path), tmp_path)

    yield open_module
    sys.path[:] = path
    sys.dont_write_bytecode = before
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) == str(tmp_path / "shop.py"):
            del sys.modules[name]


def wires(source: PythonModule) -> dict[str, Any]:
    return {definition.name: thaw(definition.wire) for definition in source.definitions()}


def faults(source: PythonModule) -> list[tuple[str, str | None, int | None]]:
    with pytest.raises(SourceError) as caught:
        source.definitions()
    return [(fault.rule, fault.path, fault.line) for fault in caught.value.diagnostics]


def call(source: PythonModule, name: str, **args: Any) -> Any:
    value = source.handlers()[name](args, CTX)
    return asyncio.run(value) if asyncio.iscoroutine(value) else value


def test_a_definition_says_what_signature_docstring_and_mark_say(module: Open):
    source = module(
        """
@tool(title="Refund", read_only=False, destructive=True, idempotent=True, open_world=False)
async def refund(
    order: str,
    amount: Annotated[int, Field(ge=1, description="In cents.")],
    ctx: RequestContext,
    reason: Literal["lost", "late"] = "late",
    note: str | None = None,
) -> dict[str, int]:
    '''Refund an order.

    Args:
        order: Its number.
        amount: The annotation's own words come first.
        ctx: Left out.

    Returns:
        The cents refunded, by order.
    '''
    return {order: amount}
"""
    )
    assert wires(source)["refund"] == {
        "name": "refund",
        "title": "Refund",
        "description": "Refund an order.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "order": {"type": "string", "description": "Its number."},
                "amount": {"type": "integer", "minimum": 1, "description": "In cents."},
                "reason": {"type": "string", "enum": ["lost", "late"], "default": "late"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["order", "amount"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "The cents refunded, by order.",
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
    assert list(wires(source)["refund"]["inputSchema"]["properties"]) == ["order", "amount", "reason", "note"]
    assert call(source, "refund", order="a", amount=3) == {"a": 3}


def test_a_function_without_parameters_or_words_has_the_smallest_definition(module: Open):
    assert wires(module("@tool\ndef ping(): ...\n")) == {
        "ping": {"name": "ping", "inputSchema": {"type": "object", "additionalProperties": False}}
    }


def test_only_marked_functions_are_tools_each_once(module: Open):
    source = module("def helper(): ...\n@tool(name='a.b')\ndef ping(): ...\nagain = ping\n")
    assert list(wires(source)) == list(source.handlers()) == ["a.b"]


def test_what_a_caller_sends_is_closed_unless_the_type_says_otherwise(module: Open):
    source = module(
        '''
@dataclasses.dataclass
class Address:
    """Where it goes.

    Attributes:
        street: With its number.
    """
    street: str
class Order(BaseModel):
    title: str
    address: Address
class Open(BaseModel, extra="allow"):
    a: int = 1
class Ignoring(BaseModel, extra="ignore"):
    a: int = 1
@tool
def ship(order: Order, more: Open, less: Ignoring) -> Order: ...
'''
    )
    wire = wires(source)["ship"]
    assert wire["inputSchema"]["$defs"] == {
        "Address": {
            "type": "object",
            "description": "Where it goes.",
            "properties": {"street": {"type": "string", "description": "With its number."}},
            "required": ["street"],
            "additionalProperties": False,
        },
        "Order": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "address": {"$ref": "#/$defs/Address"}},
            "required": ["title", "address"],
            "additionalProperties": False,
        },
        "Open": {
            "type": "object",
            "properties": {"a": {"type": "integer", "default": 1}},
            "additionalProperties": True,
        },
        "Ignoring": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}},
    }
    assert "additionalProperties" not in wire["outputSchema"]
    assert list(wire["outputSchema"])[-1] == "$defs"


def test_values_beyond_json_are_built_and_results_are_turned_back(module: Open):
    source = module(
        """
class Colour(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Address:
    street: str
@tool
def send(on: datetime.date, to: Address, colour: Colour = Colour.RED, cost: float = 1.0) -> list[datetime.date]:
    assert type(on) is datetime.date and type(to) is Address and colour is Colour.RED and type(cost) is float
    return [on]
"""
    )
    assert wires(source)["send"]["inputSchema"]["properties"]["colour"] == {"$ref": "#/$defs/Colour", "default": "red"}
    assert wires(source)["send"]["inputSchema"]["$defs"]["Colour"] == {"type": "string", "enum": ["red"]}
    assert call(source, "send", on="2026-07-28", to={"street": "x"}, colour="red", cost=2) == ["2026-07-28"]


def test_an_integer_written_with_a_point_arrives_as_an_integer(module: Open):
    """JSON Schema takes 1.0 for an integer (core, 6.3); Python does not."""
    source = module("@tool\ndef double(n: int) -> int:\n    return list(range(n))[-1]\n")
    assert call(source, "double", n=3.0) == 2


def test_a_value_that_cannot_be_built_is_refused_with_its_pointer_and_without_the_value(module: Open):
    source = module("@tool\nasync def book(days: list[datetime.date], n: int) -> None: ...\n")
    result = call(source, "book", days=["2026-07-28", "hunter2"], n=1)
    assert isinstance(result, DiscernResult)
    assert (result.ok, result.error) == (False, "invalid_arguments")
    assert [(fault.rule, fault.path) for fault in result.diagnostics] == [("date_from_datetime_parsing", "/days/1")]
    assert "hunter2" not in str(result)


def test_the_context_is_recognised_by_its_annotation_alone(module: Open):
    source = module("@tool\ndef who(request: RequestContext) -> bool:\n    return request is not None\n")
    assert "properties" not in wires(source)["who"]["inputSchema"]
    assert call(source, "who") is True


def test_names_imported_for_the_type_checker_alone_are_resolved_when_they_are_ours(module: Open):
    source = module("del RequestContext, DiscernResult\n@tool\ndef who(ctx: RequestContext) -> DiscernResult: ...\n")
    assert wires(source)["who"]["outputSchema"]["required"] == ["ok", "verb"]


def test_an_envelope_is_described_with_the_type_of_its_data(module: Open):
    source = module(
        """
@dataclasses.dataclass
class Item:
    name: str
@dataclasses.dataclass
class Stock:
    items: list[Item]
@tool(data=Stock)
def stock() -> DiscernResult: ...
"""
    )
    schema = wires(source)["stock"]["outputSchema"]
    assert schema["properties"]["data"] == {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
        "required": ["items"],
    }
    assert list(schema["$defs"]) == ["Item"]


@pytest.mark.parametrize("returns", ["None", "Any", "mcp_types.CallToolResult"])
def test_a_result_that_a_schema_says_nothing_about_has_none(module: Open, returns: str):
    assert "outputSchema" not in wires(module(f"import mcp_types\n@tool\ndef f() -> {returns}: ...\n"))["f"]


def test_a_plain_function_may_return_an_awaitable(module: Open):
    source = module(
        "async def later(): return datetime.date(2026, 7, 28)\n"
        "@tool\ndef f() -> typing.Awaitable[datetime.date]:\n    return later()\n"
    )
    assert wires(source)["f"]["outputSchema"] == {"type": "string", "format": "date"}
    assert call(source, "f") == "2026-07-28"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("def f(a): ...", "python.annotation"),
        ("def f(*a: int): ...", "python.parameter"),
        ("def f(a: int, /): ...", "python.parameter"),
        ("def f(**a: int): ...", "python.parameter"),
        ("def f(a: Missing): ...", "python.annotation"),
        ("def f(a: object()): ...", "python.annotation"),
        ("def f(a: typing.Callable[[], int]): ...", "python.annotation"),
        ("def f(a: 'int | typing.Callable[[], int]'): ...", "python.annotation"),
        ("def f() -> typing.Callable[[], int]: ...", "python.annotation"),
        ("def f(a: int = Field(1, ge=1)): ...", "python.default"),
        ("def f(a: Any = object()): ...", "python.default"),
        ("def f(a: float = float('nan')): ...", "python.default"),
        ("def f(a: int):\n    'D.\\n\\n    Args:\\n        aa: Renamed.'", "python.docstring"),
        ("def f():\n    yield 1", "python.generator"),
        ("class f: ...", "python.function"),
    ],
)
def test_what_cannot_be_described_is_named_with_file_and_line(module: Open, source: str, rule: str):
    line = IMPORTS.count("\n") + 1
    assert faults(module(f"@tool\n{source}\n")) == [(rule, "shop.py", line)]


def test_all_faults_of_a_module_are_told_at_once(module: Open):
    source = module("@tool\ndef f(a): ...\n@tool\ndef g(b, c): ...\n@tool\ndef h() -> typing.Callable[[], int]: ...\n")
    assert [rule for rule, _, _ in faults(source)] == ["python.annotation"] * 3


def test_a_name_that_no_tool_may_have_is_told_where_the_function_stands(module: Open):
    assert faults(module("@tool(name='no spaces')\ndef f(): ...\n")) == [
        ("definition.name", "shop.py", IMPORTS.count("\n") + 1)
    ]


def test_a_module_without_marked_functions_says_how_to_mark_them(module: Open):
    source = module("def f(): ...\n")
    assert faults(source) == [("python.no-tools", "shop.py", None)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_package", "importing shop raised ModuleNotFoundError: No module named 'no_such_package'"),
        ("raise ValueError('hunter2')", "importing shop raised ValueError"),
        ("raise SystemExit(3)", "importing shop raised SystemExit"),
        ("def f(:", "importing shop raised SyntaxError: invalid syntax (shop.py, line {line})"),
    ],
)
def test_an_import_that_fails_is_a_fault_with_its_line_and_never_repeats_a_value(
    module: Open, source: str, message: str
):
    line = IMPORTS.count("\n") + 1
    with pytest.raises(SourceError) as caught:
        module(source + "\n").definitions()
    (fault,) = caught.value.diagnostics
    assert (fault.message, fault.path, fault.line) == (message.format(line=line), "shop.py", line)


def test_a_module_that_is_not_there_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    source = open_source(PythonSource(module="nowhere.at_all", path=tmp_path), tmp_path)
    with pytest.raises(SourceError) as caught:
        source.definitions()
    assert caught.value.diagnostics[0].message == "there is no module nowhere"


def test_the_lifespan_is_the_one_the_project_names(module: Open, tmp_path: Path):
    module(
        "import contextlib\n@contextlib.asynccontextmanager\nasync def pool():\n    yield 'open'\n@tool\ndef f(): ...\n"
    )
    source = PythonModule(PythonSource(module="shop", path=tmp_path, lifespan="shop:pool"), tmp_path)

    async def enter() -> object:
        async with source.lifespan() as state:
            return state

    assert asyncio.run(enter()) == "open"
    missing = PythonModule(PythonSource(module="shop", path=tmp_path, lifespan="shop:pol"), tmp_path)
    with pytest.raises(SourceError) as caught:
        missing.lifespan()
    assert caught.value.diagnostics[0].fix == "did you mean pool?"


PROGRAM = """
import json, sys
from pathlib import Path
from discern_server.catalog import thaw
from discern_server.project import PythonSource
from discern_server.sources.python import PythonModule
root = Path(sys.argv[1])
definitions = PythonModule(PythonSource(module="shop", path=root), root).definitions()
print(json.dumps([thaw(definition.wire) for definition in definitions]))
"""


def test_the_bytes_do_not_depend_on_the_hash_seed(module: Open, tmp_path: Path):
    module(
        "class Tags(BaseModel):\n    tags: frozenset[str] = frozenset('abcdef')\n"
        "@tool\ndef f(t: Tags, s: set[str] = {'x', 'y', 'z'}) -> Tags: ...\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1
    wire = json.loads(answers.pop())[0]
    assert wire["inputSchema"]["properties"]["s"]["default"] == ["x", "y", "z"]


def test_handlers_of_plain_types_load_no_pydantic(module: Open, tmp_path: Path):
    module("@tool\ndef f(a: str, b: list[str], c: bool | None = None) -> DiscernResult: ...\n")
    text = (tmp_path / "shop.py").read_text(encoding="utf-8").replace("from pydantic import BaseModel, Field\n", "")
    (tmp_path / "shop.py").write_text(text, encoding="utf-8")
    program = PROGRAM.partition("definitions =")[0] + (
        "PythonModule(PythonSource(module='shop', path=root), root).handlers()['f']({'a': '', 'b': []}, None)\n"
        "print('pydantic' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert answer == "False\n"


def test_definitions_come_back_as_checked_values(module: Open):
    assert all(isinstance(found, ToolDefinition) for found in module("@tool\ndef f(): ...\n").definitions())
