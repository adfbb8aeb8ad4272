"""Which hosts and origins may speak to the server: protection against DNS rebinding (streamable-http, "Security").

The check is the SDK's; here its settings are made, on by default and for loopback alone, and a bad entry is
refused when the app is made instead of refusing every request later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings

_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
LOOPBACK_HOSTS: Final = (*_LOOPBACK, *(f"{host}:*" for host in _LOOPBACK))
LOOPBACK_ORIGINS: Final = tuple(f"http://{host}" for host in LOOPBACK_HOSTS)


def host_and_origin_check(
    allowed_hosts: Sequence[str] | None, allowed_origins: Sequence[str] | None
) -> TransportSecurityMiddleware:
    """The check of ``Host``, ``Origin`` and ``Content-Type``.

    Args:
        allowed_hosts: Values of ``Host`` that are served, such as ``mcp.example.com`` or, with any port,
            ``mcp.example.com:*``. None: loopback.
        allowed_origins: Values of ``Origin`` that are served, such as ``https://app.example.com``. A request
            without one comes from no browser and is served. None: loopback where the hosts are, else no origin.

    Raises:
        ValueError: An entry could never match; all of them are named.
    """
    if allowed_origins is None:
        allowed_origins = LOOPBACK_ORIGINS if allowed_hosts is None else ()
    if allowed_hosts is None:
        allowed_hosts = LOOPBACK_HOSTS
    faults = [*filter(None, map(_host_fault, allowed_hosts)), *filter(None, map(_origin_fault, allowed_origins))]
    if faults:
        raise ValueError("; ".join(faults))
    settings = TransportSecuritySettings(allowed_hosts=list(allowed_hosts), allowed_origins=list(allowed_origins))
    return TransportSecurityMiddleware(settings)


def _host_fault(host: str) -> str | None:
    if not host or "/" in host or host.removesuffix(":*").count("*"):
        return f'allowed_hosts: {host!r} is no value of a Host header; write it as "mcp.example.com" or with ":*"'
    return None


def _origin_fault(origin: str) -> str | None:
    scheme, separator, rest = origin.partition("://")
    if not separator or not scheme or not rest or "/" in rest or rest.removesuffix(":*").count("*"):
        return f'allowed_origins: {origin!r} is no origin; write it as "https://app.example.com", without a path'
    return None
