"""Runs OpenAPI and JSON Schema cases: ``python -m tests.suites.openapi_cases DIR [--json FILE] [ID ...]``.

A case is one JSON file: what is described, what is called, and what has to come of it. Prints each case that fails
with what failed, and closes with ``N passed, N failed, N skipped``. No case reaches a network: requests end in a stub.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discern_server.result import DiscernError
from discern_server.schema.normalize import UnresolvableError, normalize
from discern_server.sources.openapi.definitions import Tool
from tests.suites.openapi_case_call import Called, Case, Description, arguments_of, call, describe
from tests.suites.openapi_case_facts import Schemas, fact_failures
from tests.suites.openapi_requests import differences, same

Expect = Mapping[str, Any]

_SCHEMA = "json-schema-"
_CUT = re.compile(r"\b(cut|truncat\w*|limit|too large|larger than)\b", re.IGNORECASE)


# --- one case ---------------------------------------------------------------------------------------


def run(case: Case) -> list[str]:
    """Everything in a case that does not hold; empty where it passes."""
    if case["spec_version"].startswith(_SCHEMA):
        return list(_schema_failures(case))
    return list(_description_failures(case))


def _schema_failures(case: Case) -> Iterator[str]:
    files = case.get("config", {}).get("files", {})

    def resolve(uri: str) -> Any:
        if uri in files:
            return files[uri]
        raise UnresolvableError("is not among the case's files")

    try:
        dialect = case["spec_version"].removeprefix(_SCHEMA)
        schemas = Schemas(schema=normalize(case["document"], dialect=dialect, resolve=resolve))
    except DiscernError as error:
        if case["expect"].get("load") is None:
            yield f"the schema is refused: {error}"
        return
    if case["expect"].get("load") == "error":
        yield "the schema is taken, and should be refused"
    yield from _instance_failures("schema", case["expect"].get("schema", {}), schemas, lambda value: value)
    yield from fact_failures(case["expect"].get("facts", []), schemas)


def _description_failures(case: Case) -> Iterator[str]:
    description = describe(case)
    tool = description.tool(case["operation"]) if case.get("operation") else None
    called = call(case, description, tool) if tool is not None and "arguments" in case else None
    yield from _failures(case["expect"], case, description, tool, called)


def _failures(
    expect: Expect, case: Case, description: Description, tool: Tool | None, called: Called | None
) -> Iterator[str]:
    yield from _load_failures(expect, case, description, tool)
    yield from _tools_failures(expect.get("tools", {}), description)
    if tool is not None:
        yield from _tool_failures(expect, tool)
    if called is not None:
        yield from _request_failures(expect, called)
        yield from _cost_failures(expect, called)
        yield from _result_failures(expect.get("result", {}), called, Schemas(tool))
    if "either" in expect:
        found = [list(_failures(one, case, description, tool, called)) for one in expect["either"]]
        if all(found):
            yield "none of the alternatives holds: " + " | ".join("; ".join(failures) for failures in found)


def _load_failures(expect: Expect, case: Case, description: Description, tool: Tool | None) -> Iterator[str]:
    """Whether the document was read where it should be, and refused where it should not."""
    if "either" in expect and "load" not in expect:
        return  # each alternative says for itself
    wanted = expect.get("load")
    refused = description.error or (description.refusal(case["operation"]) if case.get("operation") else None)
    if wanted == "error" and not refused:
        yield "the document is read, and should be refused"
    elif (
        wanted == "error_or_tool_without_that_schema" and tool is not None and tool.definition.output_schema is not None
    ):
        yield "the tool has the schema that it should not have"
    elif wanted is None and description.error is not None:
        yield f"the document is refused: {description.error}"
    elif wanted is None and case.get("operation") and tool is None:
        yield f"there is no tool for {case['operation']}: {refused}"


def _tools_failures(expect: Expect, description: Description) -> Iterator[str]:
    names = [tool.definition.name for tool in description.toolset.tools] if description.toolset is not None else []
    if "count" in expect and len(names) != expect["count"]:
        yield f"there are {len(names)} tools, not {expect['count']}"
    if expect.get("names_unique") and len(set(names)) != len(names):
        yield f"names are not unique: {names!r}"
    if "name_pattern" in expect:
        wrong = [name for name in names if not re.search(expect["name_pattern"], name)]
        if wrong:
            yield f"names do not match: {wrong!r}"


def _tool_failures(expect: Expect, tool: Tool) -> Iterator[str]:
    schemas = Schemas(tool)
    yield from _instance_failures("input", expect.get("input", {}), schemas, lambda value: arguments_of(tool, value))
    if "output" in expect and schemas.get("output") is None:
        yield "there is no outputSchema"
    elif "output" in expect:
        yield from _instance_failures("output", expect["output"], schemas, lambda value: value)
    if expect.get("output_schema") == "absent" and schemas.get("output") is not None:
        yield "there is an outputSchema"
    yield from fact_failures(expect.get("facts", []), schemas)


def _instance_failures(of: str, expect: Expect, schemas: Schemas, mapped: Callable[[Any], Any]) -> Iterator[str]:
    for verdict, right in (("valid", True), ("invalid", False)):
        for instance in expect.get(verdict, []):
            if schemas.accepts(of, mapped(instance)) is not right:
                yield f"{of} {'refuses' if right else 'accepts'} {instance!r}"


# --- requests and what they cost --------------------------------------------------------------------


def _request_failures(expect: Expect, called: Called) -> Iterator[str]:
    sent = called.sent
    wanted = [expect["request"]] if "request" in expect else expect.get("requests", [])
    for index, request in enumerate(wanted):
        if index >= len(sent):
            yield f"request {index + 1} was not sent; the result is {_text(called)[:300]!r}"
        else:
            yield from (f"request {index + 1}: {difference}" for difference in differences(request, sent[index]))
    if "requests_count" in expect and len(sent) != expect["requests_count"]:
        yield f"{len(sent)} requests were sent, not {expect['requests_count']}"
    if "max_requests" in expect and len(sent) > expect["max_requests"]:
        yield f"{len(sent)} requests were sent, more than {expect['max_requests']}"
    for host in expect.get("no_requests_to", []):
        if any(host in (urlsplit(one.url).netloc, urlsplit(one.url).hostname) for one in sent):
            yield f"a request went to {host}"
    secrets = expect.get("secrets_only_to", {"secrets": [], "origins": []})
    for one in sent:
        if one.origin not in secrets["origins"] and any(one.holds(secret) for secret in secrets["secrets"]):
            yield f"a secret went to {one.origin}"


def _cost_failures(expect: Expect, called: Called) -> Iterator[str]:
    if "min_wait_s" in expect:
        waited = called.sent[1].at - called.sent[0].at if len(called.sent) > 1 else 0.0
        if waited < expect["min_wait_s"]:
            yield f"the wait was {waited:.2f} s, less than {expect['min_wait_s']}"
    if "max_elapsed_s" in expect and called.elapsed_s > expect["max_elapsed_s"]:
        yield f"the call took {called.elapsed_s:.2f} s, more than {expect['max_elapsed_s']}"
    if "max_memory_mib" in expect and called.memory_mib > expect["max_memory_mib"]:
        yield f"the call took {called.memory_mib:.1f} MiB, more than {expect['max_memory_mib']}"


# --- results ----------------------------------------------------------------------------------------


def _text(called: Called) -> str:
    return "\n".join(block.get("text", "") for block in called.result.get("content", []) if block["type"] == "text")


def _result_failures(expect: Expect, called: Called, schemas: Schemas) -> Iterator[str]:
    result, text = called.result, _text(called)
    is_error = bool(result.get("isError", False))
    if isinstance(expect.get("is_error"), bool) and is_error is not expect["is_error"]:
        yield f"isError is {is_error}: {text[:300]!r}"
    yield from (
        f"the text has no {part!r}: {text[:300]!r}" for part in expect.get("text_contains", []) if part not in text
    )
    yield from (f"the text holds {part!r}" for part in expect.get("text_excludes", []) if part in text)
    if "max_text_bytes" in expect and len(text.encode()) > expect["max_text_bytes"]:
        yield f"the text has {len(text.encode())} bytes, more than {expect['max_text_bytes']}"
    yield from _structured_failures(expect, result, schemas)
    if "binary" in expect and not any(_is_binary(block, expect["binary"]) for block in result.get("content", [])):
        yield f"no block has these bytes: {result.get('content')!r}"
    if "class" in expect:
        yield from _class_failures(expect["class"], called, is_error=is_error, text=text)


def _structured_failures(expect: Expect, result: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    there = "structuredContent" in result
    value = result.get("structuredContent")
    if "structured" in expect:
        match expect["structured"]:
            case "absent":
                if there:
                    yield f"there is structured content: {value!r}"
            case "conforms_or_absent":
                yield from _conformance_failures(result, schemas)
            case wanted:
                if not there or not same(value, wanted):
                    yield f"structured content is {value!r}, not {wanted!r}: {result!r}"
    for part in expect.get("structured_text_contains", []):
        if part not in json.dumps(value, ensure_ascii=False):
            yield f"structured content has no {part!r}: {value!r}"


def _conformance_failures(result: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    if schemas.get("output") is None:
        return
    if "structuredContent" not in result:
        if not result.get("isError"):
            yield "an outputSchema is declared, and a result that is no error has no structured content"
    elif not schemas.accepts("output", result["structuredContent"]):
        yield f"structured content does not conform: {result['structuredContent']!r}"


def _is_binary(block: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    if block["type"] == "resource":
        resource = block["resource"]
        return resource.get("blob") == expected["base64"] and resource.get("mimeType") == expected["mimeType"]
    return block.get("data") == expected["base64"] and block.get("mimeType") == expected["mimeType"]


def _class_failures(kind: str, called: Called, *, is_error: bool, text: str) -> Iterator[str]:
    if kind == "invalid_arguments" and (called.sent or not is_error):
        yield f"the arguments are not refused before anything is sent: {text[:300]!r}"
    elif kind == "limited" and not is_error and not _CUT.search(text):
        yield f"neither an error nor a text that says it was cut: {text[:300]!r}"
    elif kind == "no_crash" and "content" not in called.result:
        yield f"no ordinary result: {called.result!r}"
    elif kind not in ("invalid_arguments", "limited", "no_crash"):
        yield f"the class {kind!r} is not known to this runner"


# --- all cases --------------------------------------------------------------------------------------


def run_safely(case: Case) -> list[str]:
    """As `run`; an exception is a failure of the case, with its traceback."""
    try:
        return run(case)
    except Exception:  # noqa: BLE001 - one broken case must not cost the others
        return ["the run broke: " + traceback.format_exc(limit=-4)]


def main(arguments: list[str]) -> int:
    """Run the cases of a folder; the exit code is 1 where one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.suites.openapi_cases")
    parser.add_argument("directory", type=Path)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of each case")
    options = parser.parse_args(arguments)
    outcomes = []
    for file in sorted(options.directory.glob("*.json")):
        if options.ids and file.stem not in options.ids:
            continue
        case = json.loads(file.read_text(encoding="utf-8"))
        failures = run_safely(case)
        outcomes.append({"id": case["id"], "kind": case["kind"], "passed": not failures, "failures": failures})
        for failure in failures:
            print(f"{case['id']}: {failure}")
    if options.json is not None:
        options.json.write_text(json.dumps(outcomes, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    passed = sum(bool(outcome["passed"]) for outcome in outcomes)
    print(f"{passed} passed, {len(outcomes) - passed} failed, 0 skipped")
    return 0 if passed == len(outcomes) and outcomes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
