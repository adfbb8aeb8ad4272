"""Asking the client in the middle of a request (basic/patterns/mrtr).

A modern server sends no requests. Where a handler asks for input that is not there yet, the request ends
with an ``input_required`` result that lists the questions; the client calls again with the answers, and the
handler runs anew from its start, on a fresh server, on any replica. Nothing is kept in between: the answers of
earlier rounds, and what `Rounds.once` did, travel in ``requestState``, which is sealed (`SealedRounds`), since the
client could change it.

A handler's question raises `NeedsInput` once the questions asked at the same time have been put too. It is a
`BaseException`, so that a handler's ``except Exception`` does not take it for a failure of its own.

In a handshake revision there is a channel back to the client, and the question is asked over it.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import anyio.lowlevel
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageResult,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from mcp_types.methods import INPUT_REQUIRED_METHODS, is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from discern_server.protocol.state_keys import STATE_KEYS_VARIABLE
from discern_server.result import Diagnostic
from discern_server.schema.validate import compile_validator

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateBoundary

logger = logging.getLogger(__name__)

_TURNS_FOR_OTHERS: Final = 3
_MOST_ASKED: Final = 2


class NeedsInput(BaseException):
    """Raised through a handler whose question has no answer yet."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what is needed to ask it.

    Attributes:
        request: The request as the client is to see it: ``method`` and ``params``.
        capability: The client capability that it takes, as in ``("elicitation", "form")``.
        faults: What is wrong with an answer; a faulty one is asked for again.
    """

    request: Mapping[str, Any]
    capability: tuple[str, ...]
    faults: Callable[[Any], Sequence[Diagnostic]]


class Rounds:
    """The questions of one request and the answers that came with it."""

    def __init__(self, sdk: ServerRequestContext[Any, Any]) -> None:
        self._sdk = sdk
        self._open: dict[str, Mapping[str, Any]] = {}
        self._accepted: dict[str, Any] = {}
        self._done: dict[str, Any] = {}

    async def ask(self, key: str, question: Question) -> Any:
        """The client's answer to `question`, as the JSON value it sent.

        Raises:
            MCPError: -32021 where the client did not declare the capability; -32602 where, in a handshake revision,
                it answers with something else twice.
            RuntimeError: The method's result cannot ask for input.
            NeedsInput: The answer is not there yet.
        """
        if self._sdk.method not in INPUT_REQUIRED_METHODS:
            raise RuntimeError(f"a handler of {self._sdk.method} cannot ask the client")
        self._require(question.capability)
        if self._sdk.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return await self._ask_now(key, question)
        if key in self._answers:
            answer = self._answers[key]
            faults = question.faults(answer)
            if not faults:
                self._accepted[key] = answer
                return answer
            logger.info("the answer to %r is asked for again: %s", key, faults[0].message)
        self._open[key] = question.request
        for _ in range(_TURNS_FOR_OTHERS):
            await anyio.lowlevel.checkpoint()
        raise NeedsInput

    async def _ask_now(self, key: str, question: Question) -> Any:
        """Ask over the channel of a handshake revision, and once more where the answer is faulty."""
        for _ in range(_MOST_ASKED):
            answer = await _ask_now(self._sdk, question.request)
            faults = question.faults(answer)
            if not faults:
                return answer
        message = f"The client's answer to {key!r} is not what was asked for: {faults[0].message}"
        raise MCPError(code=INVALID_PARAMS, message=message)

    async def once(self, key: str, work: Callable[[], Any]) -> Any:
        """What `work` gave in the first round that came here; it is done in that one alone.

        Raises:
            TypeError: It gave what JSON cannot carry.
        """
        if key in self._earlier["done"]:
            value = self._earlier["done"][key]
        else:
            value = work()
            value = await value if inspect.isawaitable(value) else value
            value = json.loads(json.dumps(value))  # the same value in the round that did it as in those after
        self._done[key] = value
        return value

    def interim(self) -> dict[str, Any]:
        """The result that puts the open questions to the client."""
        result: dict[str, Any] = {"resultType": "input_required", "inputRequests": dict(self._open)}
        if self._accepted or self._done:
            state = {"answers": self._accepted, "done": self._done}
            result["requestState"] = json.dumps(state, separators=(",", ":"))
        return result

    @cached_property
    def _earlier(self) -> Mapping[str, Mapping[str, Any]]:
        """What the rounds before this one have left: sealed by us, so it has the form that `interim` gave it."""
        state = (self._sdk.params or {}).get("requestState")
        earlier: Mapping[str, Mapping[str, Any]] = (
            json.loads(state) if isinstance(state, str) else {"answers": {}, "done": {}}
        )
        return earlier

    @cached_property
    def _answers(self) -> Mapping[str, Any]:
        answers = (self._sdk.params or {}).get("inputResponses")
        return {**self._earlier["answers"], **(answers if isinstance(answers, Mapping) else {})}

    def _require(self, capability: tuple[str, ...]) -> None:
        declared = self._sdk.session.client_capabilities
        declared_wire = {} if declared is None else declared.model_dump(by_alias=True, exclude_none=True)
        if not _declares(declared_wire, capability):
            required: dict[str, Any] = {}
            for part in reversed(capability):
                required = {part: required}
            raise MCPError(
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                message=f"This needs a client that declares the capability {'.'.join(capability)}",
                data={"requiredCapabilities": required},
            )


def _declares(capabilities: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether `capabilities` has `path`. An empty ``elicitation`` means forms, as it did before there was a choice."""
    if path == ("elicitation", "form") and capabilities.get("elicitation") == {}:
        return True
    found: Any = capabilities
    for part in path:
        if not isinstance(found, Mapping) or part not in found:
            return False
        found = found[part]
    return True


# --- the questions ----------------------------------------------------------------------------------


def form(message: str, schema: Mapping[str, Any]) -> Question:
    """A form for the user (client/elicitation). `schema` is flat: an object of primitive properties."""
    validator = compile_validator({"type": "object", **schema})
    params = {"mode": "form", "message": message, "requestedSchema": {"type": "object", **schema}}

    def faults(answer: Any) -> Sequence[Diagnostic]:
        found = _ELICITED.diagnose(answer)
        if found or answer["action"] != "accept":
            return found
        return validator.diagnose(answer.get("content", {}))

    return Question({"method": "elicitation/create", "params": params}, ("elicitation", "form"), faults)


def page(message: str, url: str) -> Question:
    """A page for the user to open (client/elicitation, "URL mode")."""
    params = {"mode": "url", "message": message, "url": url}
    return Question({"method": "elicitation/create", "params": params}, ("elicitation", "url"), _ELICITED.diagnose)


def sampling(params: Mapping[str, Any]) -> Question:
    """A message for the client's model (client/sampling)."""
    return Question({"method": "sampling/createMessage", "params": dict(params)}, ("sampling",), _SAMPLED.diagnose)


def roots() -> Question:
    """The client's roots (client/roots)."""
    return Question({"method": "roots/list"}, ("roots",), _ROOTS.diagnose)


_ELICITED: Final = compile_validator(
    {
        "type": "object",
        "required": ["action"],
        "properties": {"action": {"enum": ["accept", "decline", "cancel"]}, "content": {"type": "object"}},
    }
)
_SAMPLED: Final = compile_validator(
    {
        "type": "object",
        "required": ["role", "content", "model"],
        "properties": {"role": {"enum": ["user", "assistant"]}, "model": {"type": "string"}},
    }
)
_ROOTS: Final = compile_validator(
    {
        "type": "object",
        "required": ["roots"],
        "properties": {
            "roots": {
                "type": "array",
                "items": {"type": "object", "required": ["uri"], "properties": {"uri": {"type": "string"}}},
            }
        },
    }
)


async def _ask_now(sdk: ServerRequestContext[Any, Any], request: Mapping[str, Any]) -> Any:
    """Ask over the channel that a handshake revision has."""
    method = request["method"]
    asked, answered = _LEGACY_MODELS[method]
    answer = await sdk.session.send_request(
        asked.model_validate(request),
        answered,
        metadata=ServerMessageMetadata(related_request_id=sdk.request_id),
    )
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


_LEGACY_MODELS: Final[Mapping[str, tuple[Any, Any]]] = {
    "elicitation/create": (ElicitRequest, ElicitResult),
    "sampling/createMessage": (CreateMessageRequest, CreateMessageResult),
    "roots/list": (ListRootsRequest, ListRootsResult),
}


# --- sealing ----------------------------------------------------------------------------------------


class SealedRounds:
    """A middleware that seals the ``requestState`` that goes out, and opens the one that comes back.

    The SDK's boundary does both: it encrypts, and binds the state to the request, its arguments, the caller and a
    time. It is made when the first request needs it, so that a server that never asks does not load the
    cryptography.

    Args:
        keys: The key ring that `key_ring` gave: the first seals, all open. Without one, a key is made that only this
            process has.
        audience: The name of the service that the state is for.
    """

    def __init__(self, keys: Sequence[bytes], audience: str) -> None:
        self._keys = keys
        self._audience = audience

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Serve one request."""
        if ctx.method not in INPUT_REQUIRED_METHODS or ctx.request_id is None:
            return await call_next(ctx)
        if (ctx.params or {}).get("requestState") is not None:
            return await self._boundary(ctx, call_next)
        result = await call_next(ctx)
        if not is_input_required(result):
            return result

        async def made_already(_ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            return result

        return await self._boundary(ctx, made_already)

    @cached_property
    def _boundary(self) -> RequestStateBoundary:
        from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

        if self._keys:
            security = RequestStateSecurity(keys=list(self._keys))
        else:
            logger.warning(
                "no keys for requestState: a key of this process alone is used, so a round of a request that lands on "
                "another process is refused; give state_keys, or %s, to share them",
                STATE_KEYS_VARIABLE,
            )
            security = RequestStateSecurity.ephemeral()
        return RequestStateBoundary(security, default_audience=self._audience)
