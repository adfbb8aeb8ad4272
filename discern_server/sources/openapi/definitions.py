"""Operations as tools: for each a definition, which a client is told, and a binding, which a call is carried out by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from discern_server.catalog import ToolDefinition
from discern_server.result import Diagnostic, Severity
from discern_server.schema.normalize import SchemaError
from discern_server.sources.openapi.bodies import BodyDescriber
from discern_server.sources.openapi.bundling import Bundler, Part, Schemas
from discern_server.sources.openapi.description import Api, Operation, Parameter, Refusal
from discern_server.sources.openapi.documents import DescriptionError, Documents, Place
from discern_server.sources.openapi.names import argument_names, tool_names
from discern_server.sources.openapi.responses import Output, describe_output
from discern_server.sources.openapi.schemas import SchemaView
from discern_server.sources.openapi.selection import READING
from discern_server.upstream.binding import BodyBinding, OperationBinding, ParameterBinding, ResponseBinding

MAX_TITLE: Final = 120
MAX_DESCRIPTION: Final = 1024
"""How long a tool's description may be; what clients in wide use take."""
MAX_OUTPUT_BYTES: Final = 65_536
"""How large an ``outputSchema`` may be, as compact JSON. Larger ones cost every client more than they tell."""
_NULL: Final[Mapping[str, Any]] = MappingProxyType({"type": "null"})
_LISTED: Final = 5
_IDEMPOTENT: Final = frozenset({*READING, "PUT", "DELETE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One operation as a tool.

    Attributes:
        operation: The operation.
        definition: What clients are told.
        binding: How a call becomes a request.
    """

    operation: Operation
    definition: ToolDefinition
    binding: OperationBinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """All tools of an API.

    Attributes:
        tools: In the order of the document.
        refusals: The operations that could not be described.
        findings: What was left out of tools, or is odd.
    """

    tools: tuple[Tool, ...]
    refusals: tuple[Refusal, ...]
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """An operation on its way: its schemas converted, and still apart from what they refer to."""

    operation: Operation
    arguments: Mapping[str, Part]
    descriptions: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    parameters: tuple[ParameterBinding, ...]
    body: BodyBinding | None
    responses: tuple[ResponseBinding, ...]
    outputs: tuple[Part, ...]
    may_be_empty: bool


class ToolMaker:
    """Makes tools of operations."""

    def __init__(
        self,
        documents: Documents,
        api: Api,
        *,
        prefix: str = "",
        max_output_bytes: int = MAX_OUTPUT_BYTES,
        declare_output: bool = True,
    ) -> None:
        self._documents = documents
        self._api = api
        self._prefix = prefix
        self._max_output_bytes = max_output_bytes
        self._declare_output = declare_output
        self._view = SchemaView(documents, api.version)
        self._bodies = BodyDescriber(self._view)
        self._bundler = Bundler(documents, api.version)
        self._findings: list[Diagnostic] = []
        self._too_large: dict[str, int] = {}

    def make(self, operations: Iterable[Operation]) -> Toolset:
        """Tools for those `operations` of the API; names are those they have among all of its operations."""
        names = tool_names(self._api.operations, self._prefix)
        drafts: list[_Draft] = []
        refusals: list[Refusal] = []
        for operation in operations:
            try:
                drafts.append(self._draft(operation))
            except DescriptionError as error:
                refusals.append(Refusal(key=operation.key, findings=(self._documents.diagnose(error),)))
            except SchemaError as error:
                refusals.append(Refusal(key=operation.key, findings=error.diagnostics))
        inputs, outputs = self._bundler.finish("input"), self._bundler.finish("output")
        self._findings += [*inputs.findings, *outputs.findings]
        tools: list[Tool] = []
        for draft in drafts:
            try:
                tools.append(self._tool(names[draft.operation.key], draft, inputs, outputs))
            except SchemaError as error:
                refusals.append(Refusal(key=draft.operation.key, findings=error.diagnostics))
        if self._too_large:
            self._findings.append(self._left_out_as_too_large())
        return Toolset(tools=tuple(tools), refusals=tuple(refusals), findings=tuple(self._findings))

    # --- drafts ---------------------------------------------------------------------------------

    def _draft(self, operation: Operation) -> _Draft:
        names = argument_names(operation.parameters, has_body=operation.body is not None)
        named = list(zip(names, operation.parameters, strict=True))
        arguments = {name: self._parameter(parameter) for name, parameter in named}
        descriptions = {name: _said_of(parameter) for name, parameter in named}
        required = [name for name, parameter in named if parameter.required]
        body = None
        if operation.body is not None:
            schema, body = self._bodies.describe(operation.body)
            arguments[body.argument] = self._bundler.convert(schema, "input")
            said = operation.body.description
            descriptions[body.argument] = {"description": _sayable(said)} if said else {}
            required += [body.argument] if body.required else []
        output = describe_output(operation, self._view)
        converted = self._outputs(operation, output)
        return _Draft(
            operation=operation,
            arguments=arguments,
            descriptions=descriptions,
            required=tuple(required),
            parameters=tuple(_parameter_binding(name, parameter) for name, parameter in named),
            body=body,
            responses=output.responses,
            outputs=converted,
            may_be_empty=output.may_be_empty,
        )

    def _parameter(self, parameter: Parameter) -> Part:
        schema = parameter.schema or Place({}, parameter.place.uri, parameter.place.pointer)
        return self._bundler.convert(schema, "input")

    def _outputs(self, operation: Operation, output: Output) -> tuple[Part, ...]:
        """The schemas of the answers; none where one cannot be used, which is said."""
        try:
            return tuple(self._bundler.convert(place, "output") for place in output.schemas)
        except SchemaError as error:
            self._left_out(operation, error)
            return ()

    def _left_out(self, operation: Operation, error: SchemaError) -> None:
        """Tell that a tool is without the schema of its answer, since that cannot be used."""
        self._findings += [
            replace(
                finding,
                rule="openapi.no-output-schema",
                message=f"{operation.key} is without outputSchema: {finding.message}",
                severity=Severity.WARNING,
            )
            for finding in error.diagnostics
        ]

    def _left_out_as_too_large(self) -> Diagnostic:
        """One finding for all of them: in some descriptions they are hundreds."""
        listed = ", ".join(f"{key} ({size})" for key, size in list(self._too_large.items())[:_LISTED])
        more = f" and {len(self._too_large) - _LISTED} more" if len(self._too_large) > _LISTED else ""
        return Diagnostic(
            rule="openapi.no-output-schema",
            message=f"without outputSchema, which would be larger than {self._max_output_bytes} bytes: {listed}{more}",
            severity=Severity.INFO,
            path=self._documents.name(self._documents.root_uri),
            fix="raise max_output_schema_bytes to keep them",
        )

    # --- tools ----------------------------------------------------------------------------------

    def _tool(self, name: str, draft: _Draft, inputs: Schemas, outputs: Schemas) -> Tool:
        operation = draft.operation
        wire: dict[str, Any] = {"name": name}
        if title := _shortened(operation.summary, MAX_TITLE):
            wire["title"] = title
        wire |= {"description": _description(operation), "inputSchema": _input_schema(draft, inputs)}
        output = self._output_schema(draft, outputs)
        if output is not None:
            wire["outputSchema"] = output
        wire["annotations"] = _annotations(operation)
        return Tool(
            operation=operation,
            definition=_definition(wire),
            binding=_binding(draft, structured=output is not None),
        )

    def _output_schema(self, draft: _Draft, schemas: Schemas) -> Mapping[str, Any] | None:
        """The schema of the structured result; none where it would be too large, which is said, or is not wanted."""
        if not draft.outputs or not self._declare_output:
            return None
        try:
            parts = [schemas[part] for part in draft.outputs]
            used, size = schemas.used_by(parts)
        except SchemaError as error:
            self._left_out(draft.operation, error)
            return None
        size += sum(part.size for part in parts)
        if size > self._max_output_bytes:
            self._too_large[draft.operation.key] = size
            return None
        alternatives = [part.schema for part in parts] + ([_NULL] if draft.may_be_empty else [])
        schema = alternatives[0] if len(alternatives) == 1 else {"anyOf": tuple(alternatives)}
        return _with_definitions(schema, used)


def _definition(wire: dict[str, Any]) -> ToolDefinition:
    """The definition, made of parts that are checked and frozen already; tools share them."""
    return ToolDefinition(
        name=wire["name"],
        title=wire.get("title"),
        description=wire["description"],
        input_schema=wire["inputSchema"],
        output_schema=wire.get("outputSchema"),
        annotations=wire["annotations"],
        wire=MappingProxyType(wire),
    )


def _input_schema(draft: _Draft, schemas: Schemas) -> Mapping[str, Any]:
    """One property per parameter, one for the body, and no others."""
    parts = {name: schemas[part] for name, part in draft.arguments.items()}
    properties = {name: _described(part.schema, draft.descriptions[name]) for name, part in parts.items()}
    schema: dict[str, Any] = {"type": "object", "properties": MappingProxyType(properties)}
    if draft.required:
        schema["required"] = draft.required
    schema["additionalProperties"] = False
    used, _ = schemas.used_by(parts.values())
    return _with_definitions(schema, used)


def _described(schema: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType({**schema, **said}) if said else schema


def _with_definitions(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType({**schema, "$defs": definitions} if definitions else dict(schema))


def _said_of(parameter: Parameter) -> dict[str, Any]:
    """What a parameter says of itself; it goes before what its schema says."""
    said: dict[str, Any] = {}
    if parameter.description:
        said["description"] = _sayable(parameter.description)
    if parameter.deprecated:
        said["deprecated"] = True
    return said


def _parameter_binding(argument: str, parameter: Parameter) -> ParameterBinding:
    return ParameterBinding(
        argument=argument,
        name=parameter.name,
        location=parameter.location,
        style=parameter.style,
        explode=parameter.explode,
        allow_reserved=parameter.allow_reserved,
        content_type=parameter.content_type,
        required=parameter.required,
        nested=parameter.nested,
    )


# --- what an operation says -------------------------------------------------------------------------


def _binding(draft: _Draft, *, structured: bool) -> OperationBinding:
    operation = draft.operation
    return OperationBinding(
        method=operation.method,
        path=operation.path.partition("#")[0],
        server=operation.server,
        parameters=draft.parameters,
        body=draft.body,
        security=operation.security,
        responses=draft.responses,
        structured=structured,
    )


def _description(operation: Operation) -> str:
    said = operation.description or operation.summary or operation.key
    if operation.deprecated:
        said = f"Deprecated. {said}"
    return _shortened(said, MAX_DESCRIPTION) or operation.key


def _shortened(text: str | None, limit: int) -> str | None:
    """The text without space around it, cut at a word where it is too long; half a surrogate pair is a ``?``."""
    text = _sayable(text or "").strip()
    if len(text) <= limit:
        return text or None
    cut = text[: limit - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > limit // 2 else cut).rstrip() + "…"


def _sayable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _annotations(operation: Operation) -> Mapping[str, bool]:
    """What the method promises (RFC 9110, section 9.2); of POST and PATCH nothing is known, so the worst is said."""
    reading = operation.method in READING
    return MappingProxyType(
        {
            "readOnlyHint": reading,
            "destructiveHint": not reading,
            "idempotentHint": operation.method in _IDEMPOTENT,
            "openWorldHint": True,
        }
    )
