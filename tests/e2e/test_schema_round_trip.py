"""A definition reaches the client as its file has it: catalog, wire and client agree on every key, in order.

The schemas of the official JSON Schema Test Suite, each as the schema of an argument, and a few of our own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client  # noqa: TID251 - the peer under test
from mcp.client.stdio import StdioServerParameters  # noqa: TID251 - the peer under test

from discern_server.catalog import Catalog, thaw
from discern_server.rules import definition_errors
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENCE_S, PATIENT
from tests.e2e.cli import environment

SUITE = Path(__file__).parents[3] / "shared" / "corpus" / "json-schema-test-suite" / "tests" / "draft2020-12"

SERVER = """
import sys
from discern_server import Catalog, ServerFactory, Surface, serve_stdio
def nothing(args, ctx):
    return "done"
catalog = Catalog.load(sys.argv[1])
serve_stdio(ServerFactory(Surface("schemas", "1", catalog, handlers={name: nothing for name in catalog.names})))
"""

# Copied cases: what a careless reader or writer would change.
ODD: dict[str, Any] = {
    "order": {"z": 1, "type": "string", "$schema": "https://json-schema.org/draft/2020-12/schema", "a": 2},
    "nulls": {"default": None, "const": None, "enum": [None, {"a": None}], "examples": [None]},
    "numbers": {"enum": [1, 1.0, -0.0, 1e-7, 1e300, 12345678901234567890123, 0.1, 100000000000000000000.0]},
    "text": {"const": 'é\u0000\u001f\u2028😀\\/"', "pattern": "^\\p{L}\\d$"},
    "keys": {"properties": {"": {}, "a/b~c": {}, "$ref": {"type": "string"}, "é": {}, "😀": {}}},
    "booleans": {"properties": {"yes": True, "no": False}, "additionalProperties": False},
    "unknown": {"x-vendor": {"b": [1, {"a": None}], "a": {}}, "$comment": "kept", "title": ""},
    "dynamic": {"$id": "https://example.com/tree", "$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}},
    "empty": {},
    "everything": True,
    "nothing": False,
}


def argument_schemas() -> Iterator[tuple[str, Any]]:
    """Our own cases and, where it is there, the suite's schemas, by a name for the tool."""
    yield from ODD.items()
    for path in sorted(SUITE.rglob("*.json")):
        for index, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            yield f"{path.relative_to(SUITE).with_suffix('').as_posix().replace('/', '.')}.{index}", group["schema"]


def as_argument(name: str, schema: Any) -> dict[str, Any]:
    """A definition with one argument of that schema, whose references resolve as in the schema by itself."""
    if isinstance(schema, dict) and "$id" not in schema:
        schema = {"$id": f"https://example.com/{name}", **schema}
    return {
        "name": name,
        "description": "A case.",
        "inputSchema": {"type": "object", "properties": {"value": schema}},
        "outputSchema": {"$defs": {"value": schema}},
    }


def text(value: Any) -> str:
    """Compact JSON: equal texts are equal values with equal key orders."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture(scope="module")
def definitions():
    return {name: as_argument(name, schema) for name, schema in argument_schemas()}


@pytest.fixture(scope="module")
def folder(definitions, tmp_path_factory):
    """A folder with a file for each definition that may be served."""
    folder = tmp_path_factory.mktemp("schemas")
    for name, definition in definitions.items():
        if not definition_errors(definition):
            content = json.dumps(definition, ensure_ascii=False, indent=2) + "\n"
            (folder / f"{name}.json").write_text(content, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def sources(folder):
    """Each file's own text, compact, by name."""
    return {path.stem: text(json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")}


def test_the_suite_is_there():
    if not SUITE.is_dir():
        pytest.skip(f"the JSON Schema Test Suite is not at {SUITE}")
    assert sum(1 for _ in argument_schemas()) > 400


def test_what_is_refused_refers_to_other_documents(definitions, sources):
    refused = {
        name: {finding.rule for finding in definition_errors(definition)}
        for name, definition in definitions.items()
        if name not in sources
    }
    assert {rule for rules in refused.values() for rule in rules} <= {"schema.reference", "schema.dialect"}
    assert len(refused) < 0.1 * len(definitions)


def test_the_catalog_holds_what_the_files_say(folder, sources):
    catalog = Catalog.load(folder)
    assert {definition.name: text(thaw(definition.wire)) for definition in catalog} == sources


def test_the_wire_carries_what_the_files_say(folder, sources):
    with StdioServer([sys.executable, "-c", SERVER, str(folder)], limits=PATIENT) as server:
        listed: dict[str, str] = {}
        cursor: dict[str, str] = {}
        while True:
            server.send(modern_request("tools/list", cursor, id=len(listed) + 1))
            result = json.loads(server.receive_line())["result"]
            listed |= {tool["name"]: text(tool) for tool in result["tools"]}
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}
    assert listed == sources


def test_the_client_of_the_sdk_reads_what_the_files_say(folder, sources):
    async def listed() -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        command = ["-c", SERVER, str(folder)]
        parameters = StdioServerParameters(command=sys.executable, args=command, env=environment())
        with anyio.fail_after(PATIENCE_S):
            async with Client(parameters) as client:
                page = await client.list_tools()
                while True:
                    found |= {tool.name: (text(tool.input_schema), text(tool.output_schema)) for tool in page.tools}
                    if page.next_cursor is None:
                        return found
                    page = await client.list_tools(cursor=page.next_cursor)

    wanted = {name: json.loads(source) for name, source in sources.items()}
    assert anyio.run(listed) == {
        name: (text(definition["inputSchema"]), text(definition["outputSchema"])) for name, definition in wanted.items()
    }
