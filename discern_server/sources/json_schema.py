"""From annotations to JSON Schema: pydantic's work, asked for in the house's way.

The schemas are of 2020-12 and the same bytes on every run: pydantic sorts keywords and ``$defs``,
properties keep the order of the signature, and a default that is a set is sorted. Titles that pydantic
makes up from names are left out, since they tell a model nothing. What a caller sends is closed:
a dataclass, a typed dictionary or a model takes no members beyond its own unless it says so
(``extra="allow"`` or ``"ignore"``); in what a tool returns, nothing is closed that the type leaves open.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

from discern_server.handler import ToolOutput
from discern_server.result import Diagnostic, DiscernResult
from discern_server.sources import SourceError
from discern_server.sources.callables import NOTHING, ToolFunction, ToolParameter
from discern_server.sources.docstrings import parse
from discern_server.sources.envelope import envelope_schema

_SDK_PACKAGES: Final = frozenset({"mcp", "mcp_types"})


def input_schema(tool: ToolFunction) -> dict[str, Any]:
    """The schema of the arguments of `tool`: one property per parameter, and no others.

    Raises:
        SourceError: A type or a default cannot be described; with every fault.
    """
    faults: list[Diagnostic] = []
    described = [
        (parameter, adapter)
        for parameter in tool.parameters
        if (adapter := _adapter(tool, parameter.name, parameter.annotation, faults)) is not None
    ]
    properties, definitions = _schemas(tool, described, faults)
    for parameter in tool.parameters:
        if parameter.name in properties:
            _describe(tool, parameter, properties[parameter.name], faults)
    if faults:
        raise SourceError(faults)
    required = [parameter.name for parameter in tool.parameters if parameter.default is NOTHING]
    schema: dict[str, Any] = {"type": "object"}
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False, **({"$defs": definitions} if definitions else {})}


def output_schema(tool: ToolFunction) -> dict[str, Any] | None:
    """The schema of what `tool` returns; None where its annotation promises nothing that a schema could say.

    Raises:
        SourceError: The type cannot be described.
    """
    if tool.returns is DiscernResult:
        schema = _envelope(tool)
    elif tool.returns in (NOTHING, Any, type(None), ToolOutput) or _is_sdk_type(tool.returns):
        return None
    else:
        schema = _returned(tool, tool.returns)
    if tool.doc.returns and "description" not in schema:
        schema = {**schema, "description": tool.doc.returns}
    return schema


def _envelope(tool: ToolFunction) -> dict[str, Any]:
    if tool.mark.data is None:
        return envelope_schema()
    data = _returned(tool, tool.mark.data)
    definitions = data.pop("$defs", None)
    return {**envelope_schema(data), **({"$defs": definitions} if definitions else {})}


def _returned(tool: ToolFunction, annotation: Any) -> dict[str, Any]:
    faults: list[Diagnostic] = []
    adapter = _adapter(tool, "return", annotation, faults)
    if adapter is not None:
        try:
            schema = adapter.json_schema(mode="serialization", schema_generator=_Schema)
        except PydanticUserError as error:
            faults.append(_fault(tool, "return", error))
        else:
            definitions = schema.pop("$defs", None)
            return _untitled_enum(schema) | ({"$defs": _untitled_enums(definitions)} if definitions else {})
    raise SourceError(faults)


def _is_sdk_type(annotation: Any) -> bool:
    return str(getattr(annotation, "__module__", "")).partition(".")[0] in _SDK_PACKAGES


def _adapter(tool: ToolFunction, name: str, annotation: Any, faults: list[Diagnostic]) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(annotation)
    except Exception as error:  # noqa: BLE001 - building runs hooks of the annotated types, which may raise anything
        faults.append(_fault(tool, name, error))
        return None


_Described = Sequence[tuple[ToolParameter, TypeAdapter[Any]]]


def _schemas(
    tool: ToolFunction, described: _Described, faults: list[Diagnostic]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The schema of each parameter, and the ``$defs`` they share."""
    try:
        schemas, shared = TypeAdapter.json_schemas(
            [(parameter.name, "validation", adapter) for parameter, adapter in described], schema_generator=_Schema
        )
    except PydanticUserError:
        faults += [fault for parameter, adapter in described if (fault := _schema_fault(tool, parameter, adapter))]
        return {}, {}
    return {name: schema for (name, _), schema in schemas.items()}, _untitled_enums(shared.get("$defs", {}))


def _schema_fault(tool: ToolFunction, parameter: ToolParameter, adapter: TypeAdapter[Any]) -> Diagnostic | None:
    try:
        adapter.json_schema(schema_generator=_Schema)
    except PydanticUserError as error:
        return _fault(tool, parameter.name, error)
    return None


def _describe(tool: ToolFunction, parameter: ToolParameter, schema: dict[str, Any], faults: list[Diagnostic]) -> None:
    """Add to `schema` what the docstring and the signature say; what the annotation says itself comes first."""
    if parameter.description:
        schema.setdefault("description", parameter.description)
    if parameter.default is NOTHING or parameter.default is None:
        return
    try:
        schema["default"] = _jsonable(parameter.default)
    except (PydanticSerializationError, TypeError, ValueError):
        fix = f"give {parameter.name} a default that is a JSON value, or None"
        message = f"the default of {parameter.name} cannot be written as JSON"
        faults.append(tool.fault("python.default", message, fix))


def _jsonable(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((to_jsonable_python(item) for item in value), key=json.dumps)
    jsonable = to_jsonable_python(value)
    json.dumps(jsonable, allow_nan=False)
    return jsonable


def _fault(tool: ToolFunction, name: str, error: Exception) -> Diagnostic:
    what = "what it returns" if name == "return" else f"parameter {name}"
    said = str(error).strip().partition("\n")[0]
    return tool.fault("python.annotation", f"{what} cannot be described: {said}", "use a type that JSON can carry")


class _Schema(GenerateJsonSchema):
    """Pydantic's generator, without made-up titles, and closed where a caller sends."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False

    def emit_warning(self, kind: Any, detail: str) -> None:  # noqa: ARG002 - pydantic's signature
        # Pydantic would leave out what it cannot describe (a member of a union, a default) and go on.
        raise PydanticUserError(detail, code=None)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return self._plain(super().model_schema(schema), schema["cls"], schema.get("config"))

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return self._plain(super().dataclass_schema(schema), schema["cls"], schema.get("config"))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return self._plain(super().typed_dict_schema(schema), schema.get("cls"), schema.get("config"))

    def _plain(self, described: JsonSchemaValue, kind: Any, config: Any) -> JsonSchemaValue:
        described = _worded(_untitled(described, kind), kind)
        says_extra = (config or {}).get("extra_fields_behavior")
        if self.mode == "validation" and says_extra is None and described.get("type") == "object":
            described.setdefault("additionalProperties", False)
        return described


def _worded(described: JsonSchemaValue, kind: Any) -> JsonSchemaValue:
    """What the docstring of a class says of its attributes, as the descriptions of its properties."""
    if described.get("description") != inspect.cleandoc(getattr(kind, "__doc__", None) or ""):
        return described
    doc = parse(kind.__doc__)
    described.pop("description", None)
    if doc.description:
        described["description"] = doc.description
    for name, said in doc.parameters.items():
        if name in described.get("properties", {}):
            described["properties"][name].setdefault("description", said)
    return described


def _untitled(described: JsonSchemaValue, kind: Any) -> JsonSchemaValue:
    if described.get("title") == getattr(kind, "__name__", None):
        described.pop("title", None)
    return described


def _untitled_enums(definitions: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _untitled_enum(schema) for name, schema in definitions.items()}


def _untitled_enum(schema: dict[str, Any]) -> dict[str, Any]:
    # Pydantic adds an enum's title after `enum_schema`, where no override sees it; nobody can set one.
    return {key: value for key, value in schema.items() if key != "title"} if "enum" in schema else schema
