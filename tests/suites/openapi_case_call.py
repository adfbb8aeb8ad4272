"""Carries out a case: the description read from memory, the tool called against a stub in place of the network."""

from __future__ import annotations

import base64
import json
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import anyio
import httpx2

from discern_server.handler import RequestScope
from discern_server.project import Secret
from discern_server.protocol import replies
from discern_server.protocol.surface import Tool as ServedTool
from discern_server.sources.openapi.definitions import Tool, ToolMaker, Toolset
from discern_server.sources.openapi.description import Api
from discern_server.sources.openapi.documents import DescriptionError, DocumentError, Documents, memory_opener
from discern_server.sources.openapi.read import read
from discern_server.sources.openapi.servers import ConfigurationError, ServerChoice
from discern_server.upstream.api import Upstream, UpstreamSettings
from discern_server.upstream.binding import BodyBinding
from discern_server.upstream.limits import MIB, Limits, RetryPolicy
from tests.suites.openapi_requests import Sent

Case = Mapping[str, Any]

_CHUNK = 64 * 1024
_GZIP = 31
"""``wbits`` for the gzip format."""


# --- reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Description:
    """What became of a case's document: the API and its tools, or why it was not read."""

    api: Api | None = None
    toolset: Toolset | None = None
    error: str | None = None

    def tool(self, key: str) -> Tool | None:
        """The tool of the operation ``METHOD /path``."""
        tools = self.toolset.tools if self.toolset is not None else ()
        return next((tool for tool in tools if tool.operation.key == key), None)

    def refusal(self, key: str) -> str | None:
        """Why the operation was refused, if it was."""
        if self.api is None or self.toolset is None:
            return self.error
        refusals = (*self.api.refusals, *self.toolset.refusals)
        return next((refusal.findings[0].message for refusal in refusals if refusal.key == key), None)


def describe(case: Case) -> Description:
    """Read the document of a case and make its tools."""
    config = case.get("config", {})
    root = config.get("document_url", "file:///case/openapi.yaml")
    text = case["document_yaml"] if case.get("document") is None else json.dumps(case["document"])
    held = {root: text.encode()}
    for name, document in config.get("files", {}).items():
        held[urljoin(root, name)] = (document if isinstance(document, str) else json.dumps(document)).encode()
    documents = Documents(root, memory_opener(held))
    choice = ServerChoice(
        variables=config.get("server_variables", {}), published_at=root, guarded=root.startswith("http")
    )
    try:
        api = read(documents, choice)
        return Description(api, ToolMaker(documents, api).make(api.operations))
    except (DocumentError, DescriptionError, ConfigurationError) as error:
        return Description(error=str(error))


# --- arguments --------------------------------------------------------------------------------------


def arguments_of(tool: Tool, places: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's arguments for values given by place; what the tool has no property for keeps its own name."""
    arguments: dict[str, Any] = {}
    names = {(found.location, found.name): found.argument for found in tool.binding.parameters}
    for place, values in places.items():
        if place == "body":
            body = tool.binding.body
            arguments[body.argument if body is not None else "body"] = _body(values, body)
        else:
            for name, value in values.items():
                key: Any = (place, name)
                arguments[names.get(key, name)] = _with_files(value, as_file=False)
    return arguments


def _body(value: Any, binding: BodyBinding | None) -> Any:
    if (
        binding is None
        or binding.kind not in ("form", "multipart")
        or not isinstance(value, Mapping)
        or "$file" in value
    ):
        return _with_files(value, as_file=binding is not None and binding.kind == "binary")
    kinds = {name: field.kind for name, field in binding.fields.items()}
    return {name: _with_files(member, as_file=kinds.get(name) == "file") for name, member in value.items()}


def _with_files(value: Any, *, as_file: bool) -> Any:
    """``$file`` in the form the project takes: a file argument, or base64 text where the value is text."""
    if isinstance(value, Mapping):
        if "$file" in value:
            return dict(value["$file"]) if as_file else value["$file"]["base64"]
        return {name: _with_files(member, as_file=as_file) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_files(item, as_file=as_file) for item in value]
    return value


# --- the stub ---------------------------------------------------------------------------------------


class Stub(httpx2.AsyncBaseTransport):
    """Answers requests from a case's list and keeps what it was asked."""

    def __init__(self, answers: list[Mapping[str, Any]] | None) -> None:
        self.sent: list[Sent] = []
        self._answers = answers if answers is not None else [{"status": 200, "body_json": {}, "repeat": True}]
        self._next = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        self.sent.append(Sent(request.method, str(request.url), headers, body, time.monotonic()))
        answer = self._answer()
        if answer is None:
            raise httpx2.ConnectError("the case has no answer for this request", request=request)
        await anyio.sleep(answer.get("delay_s", 0))
        if answer.get("fault") == "connection_closed_after_request":
            raise httpx2.RemoteProtocolError("the server closed the connection", request=request)
        return httpx2.Response(answer["status"], headers=_headers(answer), stream=_Content(answer), request=request)

    def _answer(self) -> Mapping[str, Any] | None:
        if self._next >= len(self._answers):
            return None
        answer = self._answers[self._next]
        if not answer.get("repeat"):
            self._next += 1
        return answer


def _headers(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    headers = list(answer.get("headers", {}).items())
    names = {name.lower() for name, _ in headers}
    if "body_json" in answer and "content-type" not in names:
        headers.append(("Content-Type", "application/json"))
    if answer.get("encoding") == "gzip" and "content-encoding" not in names:
        headers.append(("Content-Encoding", "gzip"))
    return headers


class _Content(httpx2.AsyncByteStream):
    """An answer's content, made while it is sent."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._answer.get("encoding") != "gzip":
            for chunk in _chunks(self._answer):
                yield chunk
            return
        compressor = zlib.compressobj(wbits=_GZIP)
        for chunk in _chunks(self._answer):
            if compressed := compressor.compress(chunk):
                yield compressed
        yield compressor.flush()


def _chunks(answer: Mapping[str, Any]) -> Iterator[bytes]:
    if "body_json" in answer:
        yield json.dumps(answer["body_json"], ensure_ascii=False).encode()
    elif "body_text" in answer:
        yield answer["body_text"].encode()
    elif "body_base64" in answer:
        yield base64.b64decode(answer["body_base64"])
    elif "body_repeat" in answer:
        repeat = answer["body_repeat"]
        text = repeat["text"].encode()
        at_once = max(1, _CHUNK // max(1, len(text)))
        yield repeat.get("prefix", "").encode()
        for start in range(0, repeat["count"], at_once):
            yield text * min(at_once, repeat["count"] - start)
        yield repeat.get("suffix", "").encode()


# --- the call ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Called:
    """What a call did: the requests, the result on the wire, and what it cost."""

    sent: list[Sent]
    result: Mapping[str, Any]
    elapsed_s: float
    memory_mib: float


@dataclass(frozen=True)
class _Context:
    """A request's context, for a handler that is called without a server around it."""

    request_id: str | int = 1
    state: Any = None
    scope: RequestScope = field(
        default_factory=lambda: RequestScope(
            era="modern", revision="2026-07-28", transport="memory", method="tools/call"
        )
    )

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody asked for it."""


def call(case: Case, description: Description, tool: Tool) -> Called:
    """Call the tool as a server would: arguments validated, the handler run, its answer rendered and checked."""
    assert description.api is not None
    stub = Stub(case.get("upstream"))
    settings, environ = _settings(case.get("config", {}))
    upstream = Upstream(description.api.security_schemes, settings, environ=environ, transport=stub)
    arguments = arguments_of(tool, case["arguments"])
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        started = time.monotonic()
        result = anyio.run(_serve, upstream, tool, arguments)
        elapsed_s = time.monotonic() - started
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Called(stub.sent, result, elapsed_s, (peak - before) / MIB)


async def _serve(upstream: Upstream, tool: Tool, arguments: dict[str, Any]) -> Mapping[str, Any]:
    definition = tool.definition
    handler = upstream.handler(definition.name, tool.binding, definition.output_schema)
    served = ServedTool(definition, handler)
    findings = served.arguments.diagnose(arguments)
    if findings:
        return replies.invalid_arguments(definition.name, findings)
    async with upstream.open():
        value = await handler(arguments, _Context())
    result = replies.reply(definition.name, value, served.output)
    assert isinstance(result, dict)
    return result


def _settings(config: Mapping[str, Any]) -> tuple[UpstreamSettings, Mapping[str, str]]:
    environ: dict[str, str] = {}
    credentials: dict[str, Secret | dict[str, Secret]] = {}
    for scheme, parts in config.get("credentials", {}).items():
        secrets = {}
        for part, value in parts.items():
            name = f"CASE_{len(environ)}"
            environ[name] = value
            secrets[part] = Secret(env=name)
        single = secrets.get("api_key") or secrets.get("token")
        credentials[scheme] = single if single is not None else secrets
    limits, retry = Limits(), RetryPolicy(base_wait_s=0.05)
    return UpstreamSettings(
        credentials=credentials,
        limits=Limits(
            timeout_s=config.get("timeout_s", limits.timeout_s),
            max_response_bytes=config.get("limits", {}).get("max_response_bytes", limits.max_response_bytes),
        ),
        retry=RetryPolicy(
            max_attempts=config.get("retry", {}).get("max_attempts", retry.max_attempts), base_wait_s=retry.base_wait_s
        ),
    ), environ
