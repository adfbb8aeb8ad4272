"""What is wrong with the params of a request, told to who sent them.

The SDK checks params against its models and says only that they are invalid: what the models say is of their own
classes, and echoes what was sent. Here it is put into the words of the wire: where, as a JSON Pointer into the params,
and what belongs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from discern_server.schema.pointer import pointer

_SHOWN: Final = 5
_SHOWN_POINTER: Final = 200
_WANTED: Final = (
    ("string", "a string"),
    ("int", "an integer"),
    ("float", "a number"),
    ("bool", "true or false"),
    ("list", "an array"),
    ("dict", "an object"),
    ("model", "an object"),
)
"""What belongs in the place of a finding of the models, by how the name of its type begins."""


async def name_faults(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """A middleware that refuses params which break the schema of their method, saying how.

    Raises:
        MCPError: -32602.
    """
    try:
        return await call_next(ctx)
    except ValidationError as error:
        faults = params_faults(error, ctx.params)
        message = f"Invalid params: {'; '.join(faults)}" if faults else "Invalid params"
        raise MCPError(code=INVALID_PARAMS, message=message) from None


def params_faults(error: ValidationError, params: Mapping[str, Any] | None) -> Sequence[str]:
    """What is wrong with `params`, each place once; of a value that may have several forms, what each of them asks."""
    wanted: dict[str, list[str]] = {}
    for finding in error.errors(include_url=False, include_input=False):
        place = _place(finding["loc"], params, ends_missing=finding["type"] == "missing")
        forms = wanted.setdefault(place, [])
        form = _wanted(finding)
        if form not in forms:
            forms.append(form)
    faults = [f"{place or 'params'} {_saying(forms)}" for place, forms in wanted.items()]
    return faults if len(faults) <= _SHOWN else [*faults[:_SHOWN], "and more"]


def _place(location: Sequence[int | str], params: Any, *, ends_missing: bool) -> str:
    """The place within the params. The models put the names of their own classes in between, which lead nowhere."""
    steps: list[int | str] = []
    value = params
    for step in location:
        if _leads(step, value):
            value = value[step]
        elif not (ends_missing and step is location[-1] and isinstance(value, Mapping)):
            continue
        steps.append(step)
    return pointer(steps)[:_SHOWN_POINTER]


def _leads(step: int | str, value: Any) -> bool:
    if isinstance(value, Mapping):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _wanted(finding: Mapping[str, Any]) -> str:
    kind = finding["type"]
    if kind == "missing":
        return ""
    if kind == "literal_error":
        return str(finding["ctx"]["expected"])
    return next((form for prefix, form in _WANTED if kind.startswith(prefix)), "another value")


def _saying(forms: Sequence[str]) -> str:
    named = [form for form in forms if form]
    return f"must be {' or '.join(named)}" if named else "is missing"
