"""Connections to public addresses alone: for servers that a description from the network names.

A description may name ``http://10.0.0.1`` or a host that resolves to it. The name is resolved here, every
address it has is checked, and the connection goes to a checked address: a name that resolves
differently the second time (DNS rebinding) is never asked a second time.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM, gaierror, inet_aton, inet_ntoa
from typing import Any, Final, TypeAlias

import anyio
import httpcore2
import httpx2

from discern_server.upstream.errors import AddressRefused

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, in the order in which they are tried. Raises `OSError` where there are none."""

_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet; an IPv4 address inside an IPv6 one counts too."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        embedded = _embedded(parsed)
        if embedded is not None:
            return is_public(str(embedded))
    return parsed.is_global and not parsed.is_multicast


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def check_literal(host: str) -> None:
    """Refuse a host that names an address which is not public without a look at any resolver.

    Raises:
        AddressRefused: It is such an address in any spelling that `inet_aton` reads, or ``localhost`` (RFC 6761).
    """
    name = host.removesuffix(".").lower()  # a name may end in the dot of the root (RFC 3986, section 3.2.2)
    if name == "localhost" or name.endswith(".localhost"):
        raise AddressRefused(host=host, address="this machine")
    try:
        address = name if ":" in name else inet_ntoa(inet_aton(name))
        public = is_public(address)
    except (OSError, ValueError):
        return
    if not public:
        raise AddressRefused(host=host, address=address)


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of `host` as the system knows them."""
    found = await anyio.getaddrinfo(host, port, type=SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Makes connections to public addresses, and to no others."""

    def __init__(self, resolve: Resolve = resolve, permits: Callable[[str], bool] = is_public) -> None:
        self._resolve = resolve
        self._permits = permits
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address of `host` that answers.

        Raises:
            AddressRefused: One of its addresses is not public.
            httpcore2.ConnectError: It has no address, or none answers.
        """
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in await self._checked(host, port):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        """Refuse: a URL cannot name a socket of this machine."""
        raise AddressRefused(host=path, address="unix")

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await anyio.sleep(seconds)

    async def _checked(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolve(host, port)
        except gaierror as error:
            raise httpcore2.ConnectError(f"{host}: {error.strerror}") from error
        for address in addresses:
            if not self._permits(address):
                raise AddressRefused(host=host, address=address)
        return addresses


class GuardedTransport(httpx2.AsyncBaseTransport):
    """httpx2 over a `GuardedBackend`, which its own transport has no parameter for. Proxies are not used."""

    def __init__(self, ssl_context: ssl.SSLContext, limits: httpx2.Limits, backend: GuardedBackend) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send `request` and return its answer, to be read by the caller."""
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        inner = httpcore2.Request(
            method=request.method,
            url=target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx2():
            response = await self._pool.handle_async_request(inner)
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Stream(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


class _Stream(httpx2.AsyncByteStream):
    """An answer's content as it comes."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx2():
            async for chunk in self._inner:
                yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    """Raise httpcore2's errors as httpx2's of the same name, as httpx2's own transport does."""
    try:
        yield
    except _NETWORK_ERRORS as error:
        mapped: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__, httpx2.TransportError)
        raise mapped(str(error)) from error


_NETWORK_ERRORS: Final = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
)
