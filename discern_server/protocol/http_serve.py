"""Running the HTTP app in a process of its own, with uvicorn: what ``discern serve --http`` does.

uvicorn is an extra: who mounts the app in another one, or runs it on another ASGI server, needs none of this.
"""

from __future__ import annotations

import gc
import ipaddress
import socket
import sys
from types import ModuleType
from typing import Any, Final

from discern_server.protocol.http import HttpApp
from discern_server.protocol.http_guard import guarded

DEFAULT_SHUTDOWN_TIMEOUT_S: Final = 10
_KEEP_ALIVE_S: Final = 75
"""Longer than a proxy keeps an idle connection (nginx: 60 s), which would else post on one that is being closed."""


def parse_address(address: str) -> tuple[str, int]:
    """The host and the port of ``HOST:PORT``, ``[IPV6]:PORT``, ``:PORT`` or ``PORT``; no host is 127.0.0.1.

    Raises:
        ValueError: It is none of these.
    """
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdecimal() and int(port) < 65536):
        raise ValueError('an address is written as HOST:PORT, such as "127.0.0.1:8000"')
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def serve_http(
    app: HttpApp,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    shutdown_timeout_s: int = DEFAULT_SHUTDOWN_TIMEOUT_S,
) -> None:
    """Serve `app` until SIGTERM or SIGINT.

    At the signal no new request is taken, and those that are open are answered, for as long as the timeout allows.

    Args:
        app: What `http_app` made.
        host: The address to listen on.
        port: The port; 0 for any free one, which standard error tells.
        shutdown_timeout_s: How long open requests may still run, in seconds.

    Raises:
        ImportError: uvicorn is not installed.
        ValueError: `host` can be reached from elsewhere, but the app serves none but loopback names.
        OSError: The address cannot be listened on.
    """
    uvicorn = _uvicorn()
    if app.serves_loopback_only and not _is_loopback(host):
        raise ValueError(
            f"listening on {host} would refuse every client: say by which names they reach the server, such as "
            '--allowed-host mcp.example.com (or http_app(allowed_hosts=["mcp.example.com"]))'
        )
    config = uvicorn.Config(
        app,
        http=guarded(_http_protocol()),
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=shutdown_timeout_s,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    gc.collect()
    gc.freeze()  # what was imported lives as long as the process: no need to look through it again
    with _listen(host, port) as listener:
        sys.stderr.write(f"Serving MCP at {_url(listener, app.path)}; Ctrl-C ends it.\n")
        sys.stderr.flush()
        _server(uvicorn, config, app).run(sockets=[listener])


def _server(uvicorn: ModuleType, config: Any, app: HttpApp) -> Any:
    """A server that tells the app of its end before it waits for open responses."""

    class Server(uvicorn.Server):  # type: ignore[misc, name-defined]
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            app.begin_shutdown()
            await super().shutdown(sockets)

    return Server(config)


def _uvicorn() -> ModuleType:
    try:
        import uvicorn
    except ImportError as error:
        raise ImportError('serving over HTTP needs uvicorn: pip install "discern-server[http]"') from error
    return uvicorn


def _http_protocol() -> type[Any]:
    """The one that uvicorn takes by itself: of httptools where that is installed."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    return AutoHTTPProtocol


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # Connections inherit it. asyncio sets it for sockets of `asyncio.start_server` alone; without it a body that is
    # written after its head waits 40 ms for the client's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _url(listener: socket.socket, path: str) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{path}"
