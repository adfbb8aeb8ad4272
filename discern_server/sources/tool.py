"""The mark that makes a function a tool: `tool`, and what it says, `ToolMark`.

A module's tools are the functions that carry the mark, and no others: a helper, an import, a
function that was public by accident must not become something an agent can call. The mark changes
nothing else about a function. Importing it loads neither pydantic nor the SDK.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

_MARK: Final = "__discern_tool__"

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMark:
    """What a function's mark says beyond its signature and docstring.

    A hint that is not given is left out of the definition; a client then assumes the worst of it, as
    the specification tells it to (schema, ``ToolAnnotations``).

    Attributes:
        name: The tool's name; the function's own where it is None.
        title: Its name for people.
        read_only: It changes nothing.
        destructive: It may delete or overwrite, rather than only add.
        idempotent: Calling it again with the same arguments changes nothing more.
        open_world: It reaches things outside, such as the network.
        data: The type of ``data`` in the `DiscernResult` that the function returns.
        icons: MCP icon objects.
        meta: The definition's ``_meta``.
    """

    name: str | None = None
    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    data: Any = None
    icons: Sequence[Mapping[str, Any]] | None = None
    meta: Mapping[str, Any] | None = None


@overload
def tool(function: FunctionT, /) -> FunctionT: ...


@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    data: Any = None,
    icons: Sequence[Mapping[str, Any]] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Callable[[FunctionT], FunctionT]: ...


def tool(function: Callable[..., Any] | None = None, /, **said: Any) -> Any:
    """Mark a function as a tool; ``@tool`` alone, or with what `ToolMark` lists."""

    def mark(function: FunctionT) -> FunctionT:
        setattr(function, _MARK, ToolMark(**said))
        return function

    return mark if function is None else mark(function)


def mark_of(value: Any) -> ToolMark | None:
    """The mark that `value` carries, or None."""
    found = getattr(value, _MARK, None)
    return found if isinstance(found, ToolMark) else None
