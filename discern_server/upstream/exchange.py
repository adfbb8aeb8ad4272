"""Sending one request and reading its answer, over httpx2: the only module that knows the HTTP library.

`Exchange` owns the connection pools. A request goes out exactly as it was built: no cookies are kept between
calls, no redirect is left to the library, nothing is added but Host and Content-Length. The answer
is read as it comes, up to the limit and not a chunk further.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, Self

import anyio
import anyio.to_thread
import httpx2

from discern_server.upstream.answer import Answer
from discern_server.upstream.codings import CodingError, Decoder
from discern_server.upstream.errors import (
    AddressRefused,
    AnswerUnreadable,
    ConnectFailed,
    ConnectionLost,
    RedirectRefused,
    RequestInvalid,
    ServerUnknown,
)
from discern_server.upstream.limits import Limits
from discern_server.upstream.network import GuardedBackend, GuardedTransport, check_literal
from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import UpstreamRequest

_POOL: Final = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BODY_HEADERS: Final = frozenset({"content-type", "content-encoding", "content-language", "content-location"})


class Exchange:
    """The connection pools of one process: an async context manager, entered once.

    Args:
        transport: What carries the requests in place of the network, for tests.
        backend: What makes the connections to servers that a description from the network names.
    """

    def __init__(
        self, *, transport: httpx2.AsyncBaseTransport | None = None, backend: GuardedBackend | None = None
    ) -> None:
        self._transport = transport
        self._backend = backend
        self._stack = AsyncExitStack()
        self._making = anyio.Lock()
        self._clients: dict[bool, httpx2.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        log, mask = logging.getLogger("httpx2"), _PublicUrls()
        log.addFilter(mask)
        self._stack.callback(log.removeFilter, mask)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def send(self, request: UpstreamRequest, limits: Limits) -> Answer:
        """Send `request`, follow redirects within its origin, and read the answer.

        Raises:
            ConnectFailed: No connection.
            ConnectionLost: The connection broke.
            AddressRefused: The request is guarded and its server's address is not public.
            RedirectRefused: A redirect to another origin, or one too many.
            AnswerUnreadable: The content encoding is broken.
            ServerUnknown: The URL is none that can be called.
        """
        for _ in range(limits.max_redirects + 1):
            answer = await self._send_once(request, limits)
            location = answer.header("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            request = _redirected(request, answer.status, location)
        raise _refusal(request, answer.status, location or "", f"there were more than {limits.max_redirects}")

    async def _send_once(self, request: UpstreamRequest, limits: Limits) -> Answer:
        with _as_upstream_errors(request), _logged_as(request):
            if request.guarded:
                check_literal(httpx2.URL(request.url).host)  # whatever carries the request, a stand-in too
            client = await self._client(guarded=request.guarded)
            response = await client.send(_for_httpx2(request, limits), stream=True, auth=None)
            try:
                body, cut = await _read(response, limits.max_response_bytes)
            except CodingError as error:
                raise AnswerUnreadable(
                    status=response.status_code, detail=str(error), method=request.method, url=request.public_url
                ) from error
            finally:
                await response.aclose()
        headers = tuple((name.lower(), text) for name, text in response.headers.multi_items())
        return Answer(status=response.status_code, headers=headers, body=body, cut=cut)

    async def _client(self, *, guarded: bool) -> httpx2.AsyncClient:
        """The client for guarded, or for other, requests: made on first use, since its certificates take a while."""
        async with self._making:
            if guarded not in self._clients:
                client = await self._make_client(guarded=guarded)
                self._stack.push_async_callback(client.aclose)
                self._clients[guarded] = client
            return self._clients[guarded]

    async def _make_client(self, *, guarded: bool) -> httpx2.AsyncClient:
        if self._transport is not None:
            return httpx2.AsyncClient(transport=self._transport, cookies=_no_cookies(), timeout=None)
        trusted = await anyio.to_thread.run_sync(_trusted)
        transport = GuardedTransport(trusted, _POOL, self._backend or GuardedBackend()) if guarded else None
        return httpx2.AsyncClient(
            transport=transport, verify=trusted, limits=_POOL, cookies=_no_cookies(), timeout=None
        )


@cache
def _trusted() -> ssl.SSLContext:
    """The system's certificates: loading them takes a tenth of a second, and nobody changes them afterwards."""
    return httpx2.create_ssl_context()


def _no_cookies() -> CookieJar:
    """A jar that takes no cookie: requests are sent as they were built, and what nobody reads must not grow."""
    return CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))


def _for_httpx2(request: UpstreamRequest, limits: Limits) -> httpx2.Request:
    made = httpx2.Request(
        request.method,
        request.url,
        headers=[(name.encode("utf-8"), text.encode("utf-8")) for name, text in request.headers],
        content=request.body,
        extensions={"timeout": {"connect": limits.connect_timeout_s, "read": None, "write": None, "pool": None}},
    )
    made.method = request.method  # as it is: methods are case-sensitive (RFC 9110, section 9.1)
    return made


async def _read(response: httpx2.Response, most_bytes: int) -> tuple[bytes, bool]:
    """The content, its encoding undone, up to `most_bytes`, and whether there was more.

    Raises:
        CodingError: The content encoding is broken, or not one that was asked for.
    """
    made_here = response.is_stream_consumed  # by a stand-in for the network, which holds the content itself
    codings = [] if made_here else response.headers.get_list("content-encoding", split_commas=True)
    decoder, body = Decoder(codings, most_bytes), bytearray()
    async for chunk in response.aiter_bytes() if made_here else response.aiter_raw():
        body += decoder.decode(chunk)
        if len(body) > most_bytes:
            return bytes(body[:most_bytes]), True
    decoder.finish()
    return bytes(body), False


# --- redirects ----------------------------------------------------------------------------------------


def _redirected(request: UpstreamRequest, status: int, location: str) -> UpstreamRequest:
    """The request that follows a redirect within the origin (RFC 9110, section 15.4)."""
    here = httpx2.URL(request.url)
    try:
        there = here.join(location)
        elsewhere = there.origin != here.origin
    except (httpx2.InvalidURL, ValueError):  # the latter for an address without a host, such as "data:,x"
        raise _refusal(request, status, location, "that is no URL") from None
    if elsewhere or there.userinfo:
        raise _refusal(request, status, location, "it leads to another origin")
    moved = replace(request, url=str(there), public_url=str(there.copy_with(query=None)))
    becomes_get = status == 303 or (status in (301, 302) and request.method == "POST")
    if not becomes_get or request.method == "HEAD":
        return moved
    kept = tuple((name, text) for name, text in request.headers if name.lower() not in _BODY_HEADERS)
    return replace(moved, method="GET", headers=kept, body=None)


def _refusal(request: UpstreamRequest, status: int, location: str, why: str) -> RedirectRefused:
    return RedirectRefused(
        status=status,
        location=Redactor(request.secrets).text(location.partition("?")[0].partition("#")[0]),
        why=why,
        method=request.method,
        url=request.public_url,
    )


# --- errors and logs ----------------------------------------------------------------------------------


@contextmanager
def _as_upstream_errors(request: UpstreamRequest) -> Iterator[None]:
    """Raise the library's errors as ours, with the request's method and public URL."""
    told = {"method": request.method, "url": request.public_url}
    try:
        yield
    except AddressRefused as error:
        raise replace(error, **told) from error
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        raise ConnectFailed(detail=_detail(request, error), **told) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise ServerUnknown(server=request.public_url, **told) from error
    except httpx2.LocalProtocolError as error:
        raise RequestInvalid(detail=_detail(request, error), **told) from error
    except (httpx2.TransportError, OSError) as error:
        raise ConnectionLost(detail=_detail(request, error), **told) from error


def _detail(request: UpstreamRequest, error: Exception) -> str:
    """The network's own words: those of the first cause that has any."""
    said = str(error) or str(error.__cause__ or "") or type(error).__name__
    return Redactor(request.secrets).text(said)


_sending: Final[ContextVar[UpstreamRequest | None]] = ContextVar("sending", default=None)


@contextmanager
def _logged_as(request: UpstreamRequest) -> Iterator[None]:
    token = _sending.set(request)
    try:
        yield
    finally:
        _sending.reset(token)


class _PublicUrls(logging.Filter):
    """Keeps credentials out of httpx2's log, which names the URL of every request: it shows the public one."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = _sending.get()
        if request is not None and isinstance(record.args, tuple):
            record.args = tuple(request.public_url if isinstance(arg, httpx2.URL) else arg for arg in record.args)
        return True
