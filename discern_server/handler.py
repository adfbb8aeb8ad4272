"""What a handler is, and what it is told of the request it serves: types alone, without the SDK.

A handler is a callable of two arguments, ``(args, ctx)``: the validated arguments of the call and a
`RequestContext`. It may be ``async``; a plain function runs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias

Era: TypeAlias = Literal["modern", "legacy"]
Transport: TypeAlias = Literal["stdio", "http", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestScope:
    """What is known of one request before its server is built.

    Everything in it comes from the request itself, never from an earlier one (basic/index,
    "statelessness"). What a client says of itself decides nothing: it is for logs.

    Attributes:
        era: ``modern`` where the request carried its own envelope, ``legacy`` after a handshake.
        revision: The protocol revision it is served in, such as ``2026-07-28``.
        transport: What it came over.
        method: The JSON-RPC method, such as ``tools/call``.
        client: The client's ``name`` and ``version`` as it gave them, or None.
        capabilities: The client's capabilities for this request.
        headers: HTTP request headers by lower-case name; empty where there are none.
        token: The verified access token, or None.
    """

    era: Era
    revision: str
    transport: Transport
    method: str
    client: Mapping[str, Any] | None = None
    capabilities: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    token: Any = None


LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The severities of RFC 5424, least first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a user did with a question.

    Attributes:
        action: ``accept``, ``decline`` (said no) or ``cancel`` (went away without saying).
        content: The input, where it was accepted and there is any; it satisfies the schema that was asked with.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def accepted(self) -> bool:
        """Whether the user gave what was asked for."""
        return self.action == "accept"


class RequestContext(Protocol):
    """What a handler may ask for, and do, while it serves one request."""

    @property
    def scope(self) -> RequestScope:
        """What is known of the request."""

    @property
    def request_id(self) -> str | int:
        """The JSON-RPC id of the request."""

    @property
    def state(self) -> Any:
        """What the lifespan yielded: shared by all requests of the process."""

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; silent unless the client asked for it, and for a value that does not grow."""

    async def log(self, level: LogLevel, data: Any, logger: str | None = None) -> None:
        """Send a log entry to the client; silent unless this request asked for this level."""

    async def elicit(self, key: str, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the user for input that satisfies `schema`; `key` names the question within the call.

        In the modern era the call ends here and the client calls again with the answer: the handler then runs from
        its start, and gets it at this place. What comes before must bear being done twice. Questions asked
        at the same time, in tasks of one task group, are put to the client in one round.
        """

    async def once(self, key: str, work: Callable[[], Any]) -> Any:
        """Do `work`, a function or a coroutine function, in one round of a call alone, and give what it gave.

        For what must not be done twice because a question follows, such as a quote that is fetched. The value
        is a JSON value; it travels to the client and back, sealed, and `key` names it within the call.
        """

    async def elicit_url(self, key: str, message: str, url: str) -> Answer:
        """Ask the user to open `url`, for what must not pass through the client. As `elicit` otherwise."""

    async def sample(self, key: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the client's model: ``sampling/createMessage`` params in, its result out. As `elicit` otherwise."""

    async def roots(self, key: str = "roots") -> Sequence[Mapping[str, Any]]:
        """Ask for the client's roots, each with ``uri`` and maybe ``name``. As `elicit` otherwise."""


class Absent(Enum):
    """The type of `ABSENT`: "there is no value", where null is a value."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """A tool's answer given block by block: for what a JSON value or a `DiscernResult` cannot say.

    Attributes:
        content: MCP content blocks as JSON objects (server/tools, "tool result"), in order.
        structured: The structured content, any JSON value (null too), or `ABSENT`.
        is_error: Whether the answer says that the tool failed.
        meta: The result's ``_meta``.
    """

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = ABSENT
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


Handler: TypeAlias = Callable[[dict[str, Any], RequestContext], Any]
"""``(args, ctx)`` to any JSON value, a `DiscernResult`, a `ToolOutput`, or an SDK result object; or an awaitable."""
