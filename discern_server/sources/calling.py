"""From the arguments of a call to a Python call, and from its result to JSON.

The arguments were validated against the definition before. What the annotations ask for beyond JSON (a
date, an enum, a dataclass, a model) is built from them here, and what the function returns is turned
back, both by pydantic, which is loaded for the first call that needs it: a tool whose types are JSON's
own never does.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from discern_server.handler import Handler, RequestContext, ToolOutput
from discern_server.result import Diagnostic, DiscernResult, failure
from discern_server.schema.pointer import pointer
from discern_server.sources.callables import NOTHING, ToolFunction

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError


def handler_of(tool: ToolFunction) -> Handler:
    """A handler that calls the function of `tool`; ``async`` where the function is."""
    call = _Call(tool)
    if inspect.iscoroutinefunction(tool.function):

        async def handle_async(args: dict[str, Any], ctx: RequestContext) -> Any:
            built = call.build(args, ctx)
            return built if isinstance(built, DiscernResult) else call.jsonable(await tool.function(**built))

        return handle_async

    def handle(args: dict[str, Any], ctx: RequestContext) -> Any:
        built = call.build(args, ctx)
        if isinstance(built, DiscernResult):
            return built
        value = tool.function(**built)
        return _when_done(value, call.jsonable) if inspect.isawaitable(value) else call.jsonable(value)

    return handle


async def _when_done(value: typing.Awaitable[Any], then: Callable[[Any], Any]) -> Any:
    return then(await value)


class _Call:
    """What calling one tool takes, prepared on first use and kept."""

    def __init__(self, tool: ToolFunction) -> None:
        self._tool = tool

    def build(self, args: Mapping[str, Any], ctx: RequestContext) -> dict[str, Any] | DiscernResult:
        """The keyword arguments of the Python call, or the refusal of values that cannot be built."""
        built = dict(args)
        faults: list[Diagnostic] = []
        for name, build in self._builders.items():
            if name in built:
                built[name] = build(built[name], faults)
        if faults:
            count = "one problem" if len(faults) == 1 else f"{len(faults)} problems"
            message = f"the arguments have {count}"
            return failure(self._tool.name, "invalid_arguments", message, diagnostics=tuple(faults))
        if self._tool.context is not None:
            built[self._tool.context] = ctx
        return built

    def jsonable(self, value: Any) -> Any:
        """What the function returned, as a JSON value; an envelope and a `ToolOutput` stay as they are."""
        if self._returns is None or isinstance(value, DiscernResult | ToolOutput):
            return value
        # A value that is not of its annotated type is left to the outputSchema to refuse.
        return self._returns.dump_python(value, mode="json", by_alias=True, warnings="none")

    @cached_property
    def _builders(self) -> Mapping[str, Callable[[Any, list[Diagnostic]], Any]]:
        return {
            parameter.name: _builder(parameter.name, parameter.annotation)
            for parameter in self._tool.parameters
            if not is_plain_json(parameter.annotation)
        }

    @cached_property
    def _returns(self) -> TypeAdapter[Any] | None:
        returns = self._tool.returns
        if returns is NOTHING or returns in (DiscernResult, ToolOutput) or is_plain_json(returns):
            return None
        from pydantic import TypeAdapter

        return TypeAdapter(returns)


def _builder(name: str, annotation: Any) -> Callable[[Any, list[Diagnostic]], Any]:
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(annotation)

    def build(value: Any, faults: list[Diagnostic]) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            faults += _findings(name, error)
            return None

    return build


def _findings(name: str, error: ValidationError) -> list[Diagnostic]:
    """Each thing wrong with the value of `name`; the value itself is not repeated."""
    return [
        Diagnostic(rule=found["type"], message=found["msg"], path=pointer((name, *found["loc"])))
        for found in error.errors(include_url=False, include_input=False, include_context=False)
    ]


# Numbers are not among them: JSON's 1.0 is an integer, and Python's is not.
_PLAIN: Final = (str, bool, None, types.NoneType, Any, object)
_CONTAINERS: Final = (list, dict, typing.Union, types.UnionType)


def is_plain_json(annotation: Any) -> bool:
    """Whether a value of this type is what the JSON decoder gives, so that nothing need be built."""
    if any(annotation is plain for plain in _PLAIN):
        return True
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return all(isinstance(part, str | bool | None) for part in parts)
    if annotation in (list, dict):
        return True
    return origin in _CONTAINERS and all(is_plain_json(part) for part in parts)
