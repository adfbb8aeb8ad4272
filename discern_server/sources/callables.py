"""What a marked function says of itself: its parameters, its result, and where it stands.

`read` looks at a signature, its annotations and its docstring; it makes no JSON Schema and loads no
pydantic. What cannot be described is a `SourceError` that names the function, file and line, with all
its faults at once.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from discern_server.handler import RequestContext, ToolOutput
from discern_server.result import Diagnostic, DiscernResult
from discern_server.sources import SourceError
from discern_server.sources.docstrings import Docstring, parse
from discern_server.sources.tool import ToolMark
from discern_server.toml import nearest

NOTHING: Final = inspect.Parameter.empty
"""Stands for "no annotation" and "no default", where None is an annotation and a default."""

# Names that a module may import for the type checker alone: they are resolved all the same.
_OWN_NAMES: Final[Mapping[str, Any]] = {kind.__name__: kind for kind in (RequestContext, DiscernResult, ToolOutput)}
_NAMEABLE: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a function stands: its file, as diagnostics show it, and the line of its definition where it is known."""

    file: str
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """One parameter that a caller of the tool fills in.

    Attributes:
        name: Its name, in Python and in the arguments.
        annotation: Its type, with what ``Annotated`` adds.
        default: Its default, or `NOTHING`.
        description: What the docstring says of it, or None.
    """

    name: str
    annotation: Any
    default: Any
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFunction:
    """A marked function, read.

    Attributes:
        function: The function itself.
        mark: What its mark says.
        place: Where it stands.
        doc: What its docstring says.
        parameters: What a caller fills in, in the order of the signature.
        context: The name of the parameter that takes the `RequestContext`, or None.
        returns: The type it returns, awaited, or `NOTHING`.
    """

    function: Callable[..., Any]
    mark: ToolMark
    place: Place
    doc: Docstring
    parameters: tuple[ToolParameter, ...]
    context: str | None
    returns: Any

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.mark.name or self.function.__name__

    def fault(self, rule: str, message: str, fix: str) -> Diagnostic:
        """A diagnostic about this function."""
        return _fault(self.name, self.place, rule, message, fix)


def read(function: Callable[..., Any], mark: ToolMark, place: Place) -> ToolFunction:
    """Read `function`.

    Raises:
        SourceError: It cannot be described; with every fault.
    """
    name = mark.name or str(getattr(function, "__name__", "a marked object"))
    faults: list[Diagnostic] = []

    def report(rule: str, message: str, fix: str) -> None:
        faults.append(_fault(name, place, rule, message, fix))

    if inspect.isclass(function) or not hasattr(function, "__name__"):
        report("python.function", "is not a function", "mark a function that makes or calls it")
        raise SourceError(faults)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        report("python.generator", "is a generator; a tool returns one result", "return the whole result")
    hints = _hints(function, report)
    doc = parse(function.__doc__)
    signature = inspect.signature(function).parameters
    _check_docstring(doc, signature, report)
    context = next((name for name in signature if _is_context(hints.get(name))), None)
    parameters = tuple(
        ToolParameter(
            name=parameter.name,
            annotation=hints[parameter.name],
            default=parameter.default,
            description=doc.parameters.get(parameter.name),
        )
        for parameter in signature.values()
        if parameter.name != context and _is_describable(parameter, hints, report)
    )
    if faults:
        raise SourceError(faults)
    return ToolFunction(
        function=function,
        mark=mark,
        place=place,
        doc=doc,
        parameters=parameters,
        context=context,
        returns=_awaited(hints.get("return", NOTHING)),
    )


_Report = Callable[[str, str, str], None]


def _fault(name: str, place: Place, rule: str, message: str, fix: str) -> Diagnostic:
    return Diagnostic(rule=rule, message=f"{name}: {message}", path=place.file, line=place.line, fix=fix)


def _hints(function: Callable[..., Any], report: _Report) -> Mapping[str, Any]:
    scope = {**_OWN_NAMES, **getattr(inspect.unwrap(function), "__globals__", {})}
    try:
        return typing.get_type_hints(function, globalns=scope, include_extras=True)
    except NameError as error:
        fix = f"import {error.name} where the module runs, not for the type checker alone"
        report("python.annotation", f"an annotation names {error.name}, which is not defined", fix)
    except Exception as error:  # noqa: BLE001 - an annotation is any expression, and may raise anything
        report("python.annotation", f"an annotation cannot be read: {error}", "write an annotation that is a type")
    return {}


def _is_context(annotation: Any) -> bool:
    return annotation is RequestContext or RequestContext in typing.get_args(annotation)


def _is_describable(parameter: inspect.Parameter, hints: Mapping[str, Any], report: _Report) -> bool:
    """Whether a caller can fill it in by name; says why not, unless `_hints` has said so."""
    if parameter.kind not in _NAMEABLE:
        fix = "name each parameter that callers give, without * and /"
        report("python.parameter", f"parameter {parameter.name} cannot be filled in by name", fix)
    elif parameter.annotation is NOTHING:
        fix = "annotate it (RequestContext for the context)"
        report("python.annotation", f"parameter {parameter.name} has no annotation", fix)
    elif type(parameter.default).__module__.startswith("pydantic.fields"):
        fix = f"write {parameter.name}: Annotated[TYPE, Field(...)] and a plain default"
        report("python.default", f"the default of {parameter.name} is a Field", fix)
    else:
        return parameter.name in hints
    return False


def _check_docstring(doc: Docstring, parameters: Mapping[str, Any], report: _Report) -> None:
    for told in doc.parameters:
        if told not in parameters:
            guess = nearest(told, parameters)
            fix = f"did you mean {guess}?" if guess else "remove it from the docstring"
            report("python.docstring", f"the docstring describes {told}, which is no parameter", fix)


def _awaited(annotation: Any) -> Any:
    """The type that awaiting gives, for a function that returns an awaitable without being ``async``."""
    origin = typing.get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Awaitable):
        return typing.get_args(annotation)[-1]
    return types.NoneType if annotation is None else annotation
