"""A server behind a URL, spoken to in raw HTTP exchanges, each on a connection of its own.

`HttpServer.exchange` sends one request and reads until the answer is there: a JSON body, or an event
stream up to the response (or up to its headers, where nothing more is wanted). Redirects are not
followed, nothing is decompressed, and one deadline covers all of it, name lookup to last byte: a server
that drips a byte a second meets the same bound as one that is silent. What goes wrong is part of the
`HttpAnswer`, since a status without a body is evidence too.

    server = HttpServer("http://127.0.0.1:8000/mcp")
    answer = server.ask(modern_request("server/discover"))
    answer.status, answer.response(1)
"""

from __future__ import annotations

import base64
import re
import ssl
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from discern_server.wire.errors import AnswerError, ConnectError, EndedError, SilenceError, TooMuchError, WireError
from discern_server.wire.events import Event, split_events
from discern_server.wire.limits import Limits
from discern_server.wire.messages import Message, RequestId, answers, decode, encode
from discern_server.wire.revisions import METHOD_HEADER, NAME_HEADER, VERSION_HEADER, VERSION_KEY
from discern_server.wire.transcript import Direction, Transcript
from discern_server.wire.urls import shown_url

if TYPE_CHECKING:
    import httpx2

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_GRACE_S: Final = 5.0
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back from one exchange.

    Attributes:
        status: The status code, or None where no response came.
        headers: The response's headers in order, names in lower case.
        body: The body as far as it was read.
        messages: The JSON-RPC messages in it: the body itself, or the data of each event.
        events: The events of a stream.
        fault: Why there is no more, where the exchange did not end well.
    """

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    messages: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    fault: WireError | None = None

    def header(self, name: str) -> str | None:
        """The value of the first header called `name`, in any case."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    @property
    def is_event_stream(self) -> bool:
        """Whether the response is a stream of events."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower() == "text/event-stream"

    def response(self, id: RequestId) -> Message | None:  # noqa: A002 - JSON-RPC's word
        """The response to the request `id`, where it came."""
        return next((message for message in self.messages if answers(message, id)), None)


def standard_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers that Streamable HTTP asks for beside this message.

    A message with an envelope gets the version, method and name mirrored; any other one gets what a
    legacy client sends (basic/transports/streamable-http, "Standard Request Headers").
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    if not isinstance(params, Mapping) or not isinstance(meta, Mapping) or VERSION_KEY not in meta:
        return headers
    method = str(message.get("method", ""))
    headers |= {VERSION_HEADER: header_value(str(meta[VERSION_KEY])), METHOD_HEADER: header_value(method)}
    name = params.get(_NAMED.get(method, ""))
    if isinstance(name, str):
        headers[NAME_HEADER] = header_value(name)
    return headers


def header_value(text: str) -> str:
    """`text` as a header's value; in the Base64 form where plain ASCII cannot carry it ("Value Encoding")."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


class HttpServer:
    """A URL that should speak MCP.

    Attributes:
        url: The endpoint.
        transcript: What went over the wire. Values of the caller's own headers are not in it.
    """

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, limits: Limits | None = None) -> None:
        """Prepare; nothing is sent yet.

        Args:
            url: The endpoint, ``http`` or ``https``.
            headers: Sent with every exchange, such as ``Authorization``.
            limits: Bounds on time and size.
        """
        self.url = url
        self.limits = limits or Limits()
        self.transcript = Transcript()
        self._headers = dict(headers or {})
        self._parts = _split(url)
        self._read_bytes = 0
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None

    def ask(
        self,
        message: Mapping[str, Any],
        *,
        headers: Mapping[str, str | None] | None = None,
        timeout_s: float | None = None,
    ) -> HttpAnswer:
        """Post one message with its `standard_headers`; `headers` replaces them by name, None drops one."""
        replaced = {name.lower() for name in headers or {}}
        chosen = {name: value for name, value in standard_headers(message).items() if name.lower() not in replaced}
        chosen |= {name: value for name, value in (headers or {}).items() if value is not None}
        awaited = message.get("id")
        return self.exchange("POST", encode(message), headers=chosen, awaited=awaited, timeout_s=timeout_s)

    def exchange(
        self,
        method: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        awaited: RequestId | None = None,
        max_events: int | None = None,
        timeout_s: float | None = None,
    ) -> HttpAnswer:
        """Send one request and read its answer; never raises for what the server does.

        Args:
            method: The HTTP method.
            body: Sent as it is.
            headers: The request's headers; ``Host`` and ``Content-Length`` are added.
            awaited: The request id whose response ends the reading of an event stream.
            max_events: The number of events that ends it as well.
            timeout_s: Bound on the whole exchange (default: the limit for an answer).
        """
        import httpx2  # noqa: F401 - the first import takes a while, which is no part of the exchange

        timeout_s = self.limits.answer_s if timeout_s is None else timeout_s
        chosen = {"Accept-Encoding": "identity", **(headers or {}), **self._headers}
        self._record_request(method, headers or {}, body)
        budget_bytes = min(self.limits.line_bytes, self.limits.output_bytes - self._read_bytes)
        exchange = _Exchange(awaited, max_events, budget_bytes)

        done: Future[None] = Future()

        def run() -> None:
            import anyio

            try:
                anyio.run(self._run, exchange, method, chosen, body, timeout_s)
            except Exception as bug:  # noqa: BLE001 - raised again where the caller is
                done.set_exception(bug)
            else:
                done.set_result(None)

        # A thread of its own: the caller may be inside an event loop, and a name lookup cannot be cancelled.
        threading.Thread(target=run, daemon=True, name="HTTP exchange").start()
        try:
            done.result(timeout_s + _GRACE_S)
        except TimeoutError:
            exchange.fault = SilenceError(timeout_s + _GRACE_S)
        answer = exchange.answer()
        self._read_bytes += len(answer.body)
        self._record_answer(answer)
        return answer

    async def _run(
        self, exchange: _Exchange, method: str, headers: dict[str, str], body: bytes, timeout_s: float
    ) -> None:
        import anyio
        import httpx2

        try:
            if self._parts.port == 0:
                raise ValueError("there is no port 0 to connect to")
            _refuse_headers(self._headers)
            request = httpx2.Request(method, self.url, headers=headers, content=body)
        except (httpx2.InvalidURL, ValueError) as error:
            exchange.fault = ConnectError(shown_url(self.url), str(error))
            return
        with anyio.move_on_after(timeout_s) as scope:
            try:
                async with httpx2.AsyncClient(
                    verify=self._tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                    trust_env=self._parts.hostname not in _LOOPBACK,
                    timeout=None,  # the scope bounds the whole, which a timeout per read does not
                ) as client:
                    response = await client.send(request, stream=True)
                    try:
                        await exchange.read(response)
                    finally:
                        await response.aclose()
            except httpx2.TransportError as error:
                exchange.fault = self._fault(error)
            except AnswerError as error:
                exchange.fault = error
        if scope.cancelled_caught:
            exchange.fault = SilenceError(timeout_s, "the response" if exchange.status is None else "the rest")

    def _fault(self, error: Exception) -> WireError:
        import httpx2

        reason = str(error) or type(error).__name__
        if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.ProxyError):
            return ConnectError(shown_url(self.url), reason)
        return EndedError(reason=reason)

    def _record_request(self, method: str, headers: Mapping[str, str], body: bytes) -> None:
        lines = [f"{method} {self._parts.path or '/'}", *(f"{name}: {value}" for name, value in headers.items())]
        lines += [f"{name}: (not shown)" for name in self._headers]
        self.transcript.add(Direction.SENT, ", ".join(lines))
        if body:
            self.transcript.add(Direction.SENT, body)

    def _record_answer(self, answer: HttpAnswer) -> None:
        if answer.status is not None:
            lines = [f"HTTP {answer.status}", *(f"{name}: {value}" for name, value in _told(answer.headers))]
            self.transcript.add(Direction.RECEIVED, ", ".join(lines))
        if answer.body:
            self.transcript.add(Direction.RECEIVED, answer.body)
        if answer.fault:
            self.transcript.add(Direction.EVENT, str(answer.fault))


def _told(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The response's headers that say something about it."""
    for name, value in headers:
        if name == "location":
            yield name, shown_url(value)
        elif name in ("content-type", "mcp-session-id", "allow", "www-authenticate"):
            yield name, value


def _refuse_headers(headers: Mapping[str, str]) -> None:
    """Refuse a header that cannot be sent, without its value, which the HTTP library would tell.

    Raises:
        ValueError: A name is no token, or a value holds a control character or is no ASCII (RFC 9110, section 5).
    """
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a header")
        if not _VALUE.fullmatch(value):
            raise ValueError(
                f"the value of the header {name} has a character that no header may have, such as a newline at its end"
            )


def _split(url: str) -> SplitResult:
    """The parts of a URL; of nothing, where it is none: sending the request tells what is wrong with it."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


@dataclass(slots=True)
class _Exchange:
    """What was read so far; kept outside the task that reads, so that a deadline loses nothing."""

    awaited: RequestId | None
    max_events: int | None
    max_bytes: int
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytearray = field(default_factory=bytearray)
    events: list[Event] = field(default_factory=list)
    fault: WireError | None = None

    def answer(self) -> HttpAnswer:
        bodies = [event.data for event in self.events] or [bytes(self.body)]
        return HttpAnswer(
            status=self.status,
            headers=self.headers,
            body=bytes(self.body),
            messages=tuple(message for message in map(decode, bodies) if message is not None),
            events=tuple(self.events),
            fault=self.fault,
        )

    async def read(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers = tuple((name.lower(), value) for name, value in response.headers.multi_items())
        if self.answer().is_event_stream:
            await self._read_events(response)
        else:
            async for chunk in self._chunks(response):
                self.body += chunk

    async def _read_events(self, response: httpx2.Response) -> None:
        rest = b""
        if self.max_events == 0:
            return
        async for chunk in self._chunks(response):
            self.body += chunk
            events, rest = split_events(rest + chunk)
            self.events += events
            if self._has_enough(events):
                return

    def _has_enough(self, fresh: list[Event]) -> bool:
        if self.max_events is not None and len(self.events) >= self.max_events:
            return True
        messages = (decode(event.data) for event in fresh)
        return self.awaited is not None and any(message and answers(message, self.awaited) for message in messages)

    async def _chunks(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        async for chunk in response.aiter_raw():
            if len(self.body) + len(chunk) > self.max_bytes:
                raise TooMuchError("body", self.max_bytes)
            yield chunk
