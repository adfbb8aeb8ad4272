"""References into the network: a resolver for those who ask for one, and what it refuses.

Nothing in the project fetches a reference by itself. A `NetworkResolver` fetches from the hosts that it was given
and from no other, and treats what it is told by others (names, addresses, redirects, bodies) as hostile:

1. The scheme is ``https``, unless another was allowed; a URI with a user name or password in it is refused.
2. Host and port are on the list.
3. Every address that the name resolves to is public: no loopback, link-local, private, shared, reserved or
   multicast address, also not one inside an IPv6 address. The connection goes to the very address that was
   looked at, so that a name cannot resolve to another one in between.
4. A redirect stays on its host and port and is looked at in the same way.
5. All of it together has to be done within a time, and the body within a size.

Proxies from the environment are not used: they would resolve names where nobody checks.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import logging
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import SplitResult, urljoin, urlsplit

from discern_server.schema.errors import UnresolvableError
from discern_server.schema.files import Parse, parsed

logger = logging.getLogger(__name__)

Lookup = Callable[[str, int], Iterable[str]]
"""From a host name and port to the addresses that it stands for."""
Dial = Callable[[str, int, float], socket.socket]
"""From an address, a port and a time limit in seconds to a connected socket."""

_PORTS: Final = {"https": 443, "http": 80}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_HEADERS: Final = {
    "Accept": "application/schema+json, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "discern-server",
}


def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host, as the operating system resolves its name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """A connection to an address."""
    return socket.create_connection((address, port), timeout=timeout_s)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public network; one that holds another is judged by that."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # such as an address with a zone, which is link-local
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip.teredo is not None:  # tunnels through a relay of someone's choosing
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    location: str | None
    body: bytes


class NetworkResolver:
    """Fetches documents from the hosts it was given; see the module's text for what it refuses.

    Args:
        hosts: The hosts, each as ``example.com`` or ``example.com:8443``; nothing else is ever asked.
        schemes: The schemes allowed.
        timeout_s: How long one document may take, names and redirects included.
        max_bytes: How large one document may be.
        max_redirects: How many redirects one document may take.
        parse: Reads the text of a document; JSON unless told otherwise.
        context: How TLS is spoken; certificates are checked by default.
        lookup: Resolves names; replaced in tests, or by those who resolve them elsewhere.
        dial: Opens connections; likewise.
    """

    def __init__(
        self,
        hosts: Iterable[str],
        *,
        schemes: Iterable[str] = ("https",),
        timeout_s: float = 10.0,
        max_bytes: int = 4 * 1024 * 1024,
        max_redirects: int = 3,
        parse: Parse = json.loads,
        context: ssl.SSLContext | None = None,
        lookup: Lookup = look_up,
        dial: Dial = dial,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._schemes = frozenset(schemes) & _PORTS.keys()
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._max_redirects = max_redirects
        self._parse = parse
        self._context = context
        self._lookup = lookup
        self._dial = dial

    def __call__(self, uri: str) -> Any:
        """The document at `uri`.

        Raises:
            UnresolvableError: It is refused, or cannot be had.
        """
        return parsed(self._fetch(uri, time.monotonic() + self._timeout_s), self._parse, _loggable(uri))

    def _fetch(self, uri: str, deadline: float) -> bytes:
        for _ in range(self._max_redirects + 1):
            parts = self._checked(uri)
            answer = self._get(parts, deadline)
            if answer.status == http.HTTPStatus.OK:
                return answer.body
            if answer.status not in _REDIRECTS or answer.location is None:
                raise UnresolvableError(f"was answered with status {answer.status}: {_loggable(uri)}")
            target = urljoin(uri, answer.location)
            if urlsplit(target)[:2] != parts[:2]:
                raise UnresolvableError(f"is redirected to another host: {_loggable(target)}")
            uri = target
        raise UnresolvableError(f"is redirected more than {self._max_redirects} times: {_loggable(uri)}")

    def _checked(self, uri: str) -> SplitResult:
        """The parts of a URI that may be fetched."""
        try:
            parts = urlsplit(uri)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            raise UnresolvableError("is no URL") from None
        if parts.scheme not in self._schemes:
            allowed = " or ".join(sorted(self._schemes))
            raise UnresolvableError(
                f"is not fetched over {parts.scheme or 'no scheme'}: {_loggable(uri)}", f"Use {allowed}."
            )
        if parts.username is not None or parts.password is not None:
            raise UnresolvableError(
                "holds a user name or password", "Fetch the document by hand and refer to the copy."
            )
        host = (parts.hostname or "").lower()
        if f"{host}:{port}" not in self._hosts and (host not in self._hosts or port != _PORTS[parts.scheme]):
            raise UnresolvableError(
                f"is on a host that is not on the list: {_loggable(uri)}",
                f"Allow {parts.netloc}, if it is to be trusted.",
            )
        return parts

    def _get(self, parts: SplitResult, deadline: float) -> _Answer:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        started = time.monotonic()
        try:
            addresses = self._addresses(host, port, deadline)
            with _Connection(deadline) as connection:
                connection.stream = self._reach(addresses, port, deadline)
                if parts.scheme == "https":
                    self._encrypt(connection, host)
                answer = self._exchange(connection.stream, parts, deadline)
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            late = time.monotonic() >= deadline
            why = f"took more than {self._timeout_s:g} seconds" if late else f"failed: {error}"
            raise UnresolvableError(f"cannot be fetched: {_loggable(parts.geturl())}: {why}") from error
        logger.info(
            "fetched %s from %s: status %d, %d bytes, %.0f ms",
            _loggable(parts.geturl()),
            addresses[0],
            answer.status,
            len(answer.body),
            (time.monotonic() - started) * 1000,
        )
        return answer

    def _addresses(self, host: str, port: int, deadline: float) -> list[str]:
        """The addresses of a host, all of them public."""
        addresses = list(dict.fromkeys(_within(deadline, lambda: list(self._lookup(host, port)))))
        hidden = [address for address in addresses if not is_public(address)]
        if hidden or not addresses:
            raise UnresolvableError(f"is on the host {host}, which is not on the public network")
        return addresses

    def _reach(self, addresses: list[str], port: int, deadline: float) -> socket.socket:
        """A connection to the first of `addresses` that takes one."""
        for address in addresses[:-1]:
            with suppress(OSError):
                return self._dial(address, port, _left(deadline))
        return self._dial(addresses[-1], port, _left(deadline))

    def _encrypt(self, connection: _Connection, host: str) -> None:
        context = self._context or ssl.create_default_context()
        encrypted = context.wrap_socket(connection.stream, server_hostname=host, do_handshake_on_connect=False)
        connection.stream = encrypted
        encrypted.do_handshake()

    def _exchange(self, stream: socket.socket, parts: SplitResult, deadline: float) -> _Answer:
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        with closing(http.client.HTTPConnection(parts.hostname or "", parts.port)) as client:
            client.sock = stream
            client.request("GET", target, headers=_HEADERS)
            return self._answer(client.getresponse(), parts, deadline)

    def _answer(self, response: http.client.HTTPResponse, parts: SplitResult, deadline: float) -> _Answer:
        with closing(response):
            if response.getheader("Content-Encoding", "identity") != "identity":
                raise UnresolvableError(f"is compressed, which was not asked for: {_loggable(parts.geturl())}")
            body = response.read(self._max_bytes + 1)
        if time.monotonic() >= deadline:
            raise TimeoutError
        if len(body) > self._max_bytes:
            raise UnresolvableError(f"is larger than {self._max_bytes} bytes: {_loggable(parts.geturl())}")
        return _Answer(status=response.status, location=response.getheader("Location"), body=body)


class _Connection:
    """A connection that ends with its time, whatever the peer does: a socket's timeout bounds each read alone."""

    stream: socket.socket

    def __init__(self, deadline: float) -> None:
        self._timer = threading.Timer(_left(deadline), self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if hasattr(self, "stream"):
            self.stream.close()

    def _end(self) -> None:
        # Not by the method of an encrypted socket, which would pull the ground from under the thread that reads.
        with suppress(OSError, AttributeError):
            socket.socket.shutdown(self.stream, socket.SHUT_RDWR)


def _left(deadline: float) -> float:
    """The seconds left, which are never none: zero would mean no waiting at all."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _within(deadline: float, work: Callable[[], list[str]]) -> list[str]:
    """What `work` returns or raises; `TimeoutError` once the time is up. Resolving a name cannot be told to stop."""
    outcome: queue.SimpleQueue[list[str] | OSError | UnicodeError] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(work())
        except (OSError, UnicodeError) as error:
            outcome.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = outcome.get(timeout=_left(deadline))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(result, list):
        return result
    raise result


def _loggable(uri: str) -> str:
    """The URI without what may be a secret in it: user, password, query."""
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
