"""The API behind a source's tools: what a source makes once, opens in the lifespan, and calls through.

    upstream = Upstream(schemes, settings)
    handlers = {name: upstream.handler(name, binding, output_schema) for ...}
    async with upstream.open():
        ...

One `Upstream` is one pool of connections and one store of tokens. Whoever opens it closes it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio

from discern_server.handler import Handler, RequestContext, ToolOutput
from discern_server.result import Diagnostic, Severity
from discern_server.schema.validate import Validator, compile_validator
from discern_server.upstream.binding import OperationBinding, SecurityScheme
from discern_server.upstream.credentials import Credential, SecretError, SecretReference, read_secret
from discern_server.upstream.errors import CredentialsMissing, DeadlineExceeded, UpstreamError
from discern_server.upstream.limits import Limits, RetryPolicy
from discern_server.upstream.oauth import ClientAuthentication, Tokens
from discern_server.upstream.parameters import FRAMING_HEADERS
from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import (
    Header,
    UpstreamRequest,
    build_request,
    with_credentials,
)
from discern_server.upstream.results import Exchanged, render, render_error
from discern_server.upstream.security import Chosen, ReadSecret, bearer, choose, combine

if TYPE_CHECKING:
    import httpx2

    from discern_server.upstream.answer import Answer
    from discern_server.upstream.exchange import Exchange

_LARGEST_TOKEN_ANSWER: Final = 65_536

_PLACEHOLDER: Final = "user-not-set:secret-not-set"
"""Stands for a secret in a preview, which masks it; by its colon also for a user's name and password in one."""

NEVER_FORWARDED: Final = FRAMING_HEADERS | {"authorization", "cookie", "proxy-authorization", "mcp-session-id"}
"""Inbound fields that no allow-list can let through: a token for this server is not one for the API (MCP, "token
passthrough"), and what frames one message does not frame another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """How a source's API is called.

    Attributes:
        credentials: By security scheme: where its secret, or the secrets of its parts, are to be had.
        limits: What one call may cost.
        retry: When a request is tried again.
        forward_headers: Inbound fields that go on to the API; none by default, and never one of `NEVER_FORWARDED`.
        client_authentication: How an OAuth 2.0 client shows who it is to the token endpoint.
        invalid_output: What becomes of an answer that breaks the schema its description declares: ``error``, a
            result that says so and carries it, or ``deliver``, as if none were declared: the source's tools must
            then promise no ``outputSchema``.
    """

    credentials: Mapping[str, Credential] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    forward_headers: tuple[str, ...] = ()
    client_authentication: ClientAuthentication = "basic"
    invalid_output: Literal["error", "deliver"] = "error"

    def __post_init__(self) -> None:
        never = sorted(name for name in self.forward_headers if name.lower() in NEVER_FORWARDED)
        if never:
            raise ValueError(f"forward_headers cannot have {', '.join(never)}")


@dataclass(frozen=True, slots=True)
class Preview:
    """A request that is not sent, and what was not there to be presented with it."""

    request: UpstreamRequest
    unset: tuple[Diagnostic, ...] = ()


class Upstream:
    """The API behind a source's tools.

    Args:
        schemes: The description's security schemes by name.
        settings: How the API is called.
        environ: Where credentials' variables are read.
        transport: What carries the requests in place of the network, for tests.
    """

    def __init__(
        self,
        schemes: Mapping[str, SecurityScheme],
        settings: UpstreamSettings,
        *,
        environ: Mapping[str, str] = os.environ,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._schemes = schemes
        self._settings = settings
        self._environ = environ
        self._transport = transport
        self._tokens = Tokens(settings.client_authentication)
        self._exchange: Exchange | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Hold the connection pool; for the lifespan, entered once."""
        from discern_server.upstream.exchange import Exchange

        if self._exchange is not None:
            raise RuntimeError("the upstream is open already: it is opened once, in the server's lifespan")
        async with Exchange(transport=self._transport) as self._exchange:
            try:
                yield
            finally:
                self._exchange = None

    def handler(self, tool: str, binding: OperationBinding, output_schema: Mapping[str, Any] | None = None) -> Handler:
        """The handler of one tool; `output_schema` is its definition's, which every success must then keep."""
        promised = output_schema is not None and self._settings.invalid_output == "error"
        output = compile_validator(output_schema) if promised and output_schema is not None else None

        async def call(arguments: dict[str, Any], ctx: RequestContext) -> ToolOutput:
            return await self.call(tool, binding, arguments, output=output, inbound=ctx.scope.headers)

        return call

    async def call(
        self,
        tool: str,
        binding: OperationBinding,
        arguments: Mapping[str, Any],
        *,
        output: Validator | None = None,
        inbound: Mapping[str, str] = MappingProxyType({}),
    ) -> ToolOutput:
        """Call the API for `arguments`, which keep the tool's schema, and render what comes of it.

        Args:
            tool: The tool's name, for messages.
            binding: Its request.
            arguments: Its arguments.
            output: Judges what a success carries, or None where nothing is promised.
            inbound: The inbound request's header fields, names in lower case.
        """
        try:
            request, answer = await self._answer(binding, arguments, inbound)
        except UpstreamError as error:
            return render_error(tool, error)
        redactor = Redactor(request.secrets)
        return render(Exchanged(tool=tool, request=request, answer=answer, redactor=redactor, output=output))

    def preview(self, binding: OperationBinding, arguments: Mapping[str, Any]) -> Preview:
        """The request that `call` would send, without sending anything.

        A placeholder stands for a token, and for each secret that is named and cannot be read.

        Raises:
            NotSent: It would not be sent, were all secrets there.
        """
        unset: list[Diagnostic] = []
        try:
            chosen = self._choose(binding, self._read)
        except CredentialsMissing:
            chosen = self._choose(binding, lambda reference: self._stand_in(reference, unset))
        tokens = [f"token-for-{grant.scheme}" for grant in chosen.grants]
        return Preview(_complete(build_request(binding, arguments), chosen, tokens), tuple(dict.fromkeys(unset)))

    async def _answer(
        self, binding: OperationBinding, arguments: Mapping[str, Any], inbound: Mapping[str, str]
    ) -> tuple[UpstreamRequest, Answer]:
        draft = build_request(binding, arguments, forwarded=self._forwarded(inbound))
        chosen = self._choose(binding, self._read)
        timeout_s = self._settings.limits.timeout_s
        with anyio.move_on_after(timeout_s) as scope:
            return await self._exchange_within(draft, chosen, scope.deadline)
        raise DeadlineExceeded(timeout_s=timeout_s, method=draft.method, url=draft.public_url)

    async def _exchange_within(
        self, draft: UpstreamRequest, chosen: Chosen, deadline: float
    ) -> tuple[UpstreamRequest, Answer]:
        """Get tokens, send, and do both once more where the API no longer accepts a token (RFC 6750, section 3.1)."""
        tokens = await self._fetch_tokens(chosen)
        request = _complete(draft, chosen, tokens)
        answer = await self._send(request, deadline)
        if answer.status != HTTPStatus.UNAUTHORIZED or not tokens:
            return request, answer
        for grant, token in zip(chosen.grants, tokens, strict=True):
            self._tokens.discard(grant, token)
        request = _complete(draft, chosen, await self._fetch_tokens(chosen))
        return request, await self._send(request, deadline)

    async def _fetch_tokens(self, chosen: Chosen) -> list[str]:
        limits = replace(self._settings.limits, max_redirects=0, max_response_bytes=_LARGEST_TOKEN_ANSWER)

        async def send(request: UpstreamRequest) -> Answer:
            return await self._opened.send(request, limits)

        return [await self._tokens.token(grant, send) for grant in chosen.grants]

    async def _send(self, request: UpstreamRequest, deadline: float) -> Answer:
        from discern_server.upstream.retries import with_retries

        async def attempt() -> Answer:
            return await self._opened.send(request, self._settings.limits)

        return await with_retries(attempt, request.method, self._settings.retry, deadline=deadline)

    @property
    def _opened(self) -> Exchange:
        if self._exchange is None:
            raise RuntimeError("the upstream is not open: enter Upstream.open() in the server's lifespan")
        return self._exchange

    def _choose(self, binding: OperationBinding, read: ReadSecret) -> Chosen:
        return choose(binding.security, self._schemes, self._settings.credentials, read)

    def _read(self, reference: SecretReference) -> str:
        return read_secret(reference, self._environ)

    def _stand_in(self, reference: SecretReference, unset: list[Diagnostic]) -> str:
        """The secret, or a placeholder and a warning in `unset`."""
        try:
            return self._read(reference)
        except SecretError as error:
            message = f"{error.reason}: a placeholder stands for it"
            unset.append(
                Diagnostic(rule="credential.missing", severity=Severity.WARNING, message=message, fix=error.fix)
            )
            return _PLACEHOLDER

    def _forwarded(self, inbound: Mapping[str, str]) -> list[Header]:
        return [(name, inbound[name.lower()]) for name in self._settings.forward_headers if name.lower() in inbound]


def _complete(draft: UpstreamRequest, chosen: Chosen, tokens: Sequence[str]) -> UpstreamRequest:
    return with_credentials(draft, combine([*chosen.presented, *map(bearer, tokens)]))
