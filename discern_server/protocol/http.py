"""Serving over Streamable HTTP: an ASGI app that answers each request from a server built for it.

    app = http_app(factory, allowed_hosts=["mcp.example.com"])     # uvicorn module:app

One POST goes through these hands: `host_and_origin_check` (http_security), the bearer token where there is `auth`
(http_auth), its body (http_disconnect), the era policy and the envelope (http_eras), `ServerFactory.build`, and
the SDK's session manager (http_manager), which serves it. There is no session, no stream that outlives a request,
and nothing that a replica would have to share, except what the factory's lifespan opens.

The lifespan belongs to the app's own event loop. A server such as uvicorn enters it; an app that this one is mounted
in does not, so it must enter `HttpApp.lifespan` with its own.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.runner import modern_error_data
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from discern_server.protocol import eras
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.http_auth import BearerAuth, BearerGate, access_token
from discern_server.protocol.http_disconnect import (
    BodyTooLargeError,
    ClientLeftError,
    cancel_when_client_leaves,
    read_body,
    replay,
)
from discern_server.protocol.http_eras import Admitted, Answer, admit, refusal
from discern_server.protocol.http_manager import FreshServers
from discern_server.protocol.http_security import host_and_origin_check

logger = logging.getLogger(__name__)

DEFAULT_PATH: Final = "/mcp"
DEFAULT_HEALTH_PATH: Final = "/health"
DEFAULT_MAX_BODY_BYTES: Final = 4 << 20

_LISTEN: Final = "subscriptions/listen"
_STREAM_RANGES: Final = ("text/event-stream", "text/*", "*/*")
_NOT_STARTED: Final = (
    "The MCP app was called before its lifespan was entered. Mounted apps are not started by the app they are mounted "
    "in: pass lifespan=mcp.lifespan to it, or enter mcp.lifespan() within a lifespan of your own."
)


def http_app(
    factory: ServerFactory,
    *,
    path: str = DEFAULT_PATH,
    legacy: eras.LegacyPolicy = "reject",
    allowed_hosts: Sequence[str] | None = None,
    allowed_origins: Sequence[str] | None = None,
    auth: BearerAuth | None = None,
    json_response: bool | None = None,
    health_path: str | None = DEFAULT_HEALTH_PATH,
    max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
) -> HttpApp:
    """An ASGI app that serves `factory`.

    Args:
        factory: What to serve: one fresh server for each request.
        path: The MCP endpoint.
        legacy: Whether clients of the handshake revisions are refused or served too, without sessions.
        allowed_hosts: Values of the ``Host`` header that are served; loopback unless given.
        allowed_origins: Values of the ``Origin`` header that are served; loopback unless hosts are given.
        auth: Asks every request for a bearer token; None serves anyone who can reach the app.
        json_response: How requests are answered. None: with plain JSON, and with a stream of events where the
            request asked for progress or log messages. False: with a stream as soon as there is something to say or
            15 s have passed, which keeps a silent call alive behind a proxy and costs twice as much. True: with plain
            JSON always; progress is dropped. A subscription is a stream in any case.
        health_path: Where a load balancer asks whether the app serves; None for nowhere.
        max_body_bytes: A larger body is refused with 413.

    Raises:
        ValueError: An option could never work.
    """
    return HttpApp(
        _Endpoint(factory, legacy, json_response, max_body_bytes),
        path=path,
        auth=auth,
        health_path=health_path,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
    )


class HttpApp:
    """The ASGI app: made by `http_app`, run by a server or mounted in another app.

    Attributes:
        path: The MCP endpoint, below where the app is mounted.
        serves_loopback_only: Whether no hosts were given, so that only clients of the same machine are served.
        metadata_routes: The routes of the protected-resource metadata. An app that this one is mounted in below a
            path must have them at its root, where clients look for them.
    """

    def __init__(
        self,
        endpoint: _Endpoint,
        *,
        path: str,
        auth: BearerAuth | None,
        health_path: str | None,
        allowed_hosts: Sequence[str] | None,
        allowed_origins: Sequence[str] | None,
    ) -> None:
        self.path = _checked_path("path", path)
        self._endpoint = endpoint
        self.serves_loopback_only = allowed_hosts is None
        self._check = host_and_origin_check(allowed_hosts, allowed_origins)
        self._gated: ASGIApp = endpoint if auth is None else BearerGate(auth, endpoint)
        self.metadata_routes = [] if auth is None else auth.metadata_routes()
        health = [] if health_path is None else [Route(_checked_path("health_path", health_path), self._health)]
        self._rest = Starlette(routes=[*self.metadata_routes, *health], lifespan=self.lifespan)

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """Serve while this is entered; whatever runs the app, or mounts it, enters it once at a time.

        Its signature is the one that Starlette, FastAPI and Litestar ask of a lifespan.
        """
        async with self._endpoint.running():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        if scope["type"] != "http" or _path_in_app(scope) != self.path:
            await self._rest(scope, receive, send)
            return
        refused = await self._refusal(scope, receive)
        if refused is not None:
            await refused(scope, receive, send)
        else:
            await self._gated(scope, receive, send)

    async def _refusal(self, scope: Scope, receive: Receive) -> Response | None:
        is_post = scope["method"] == "POST"
        refused = await self._check.validate_request(Request(scope, receive), is_post=is_post)
        if refused is None and not is_post:
            return Response(status_code=405, headers={"Allow": "POST"})
        return refused

    async def _health(self, _request: Request) -> Response:
        if self._endpoint.is_running:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "starting"}, status_code=503)


def _checked_path(option: str, path: str) -> str:
    """`path`, without a slash at its end, which is no other place."""
    if not path.startswith("/"):
        raise ValueError(f'{option} must begin with "/", got {path!r}')
    return path.rstrip("/") or "/"


def _path_in_app(scope: Scope) -> str:
    """The path below where the app is mounted: servers and frameworks differ in whether ``path`` has it in front."""
    path, root = scope["path"], scope.get("root_path", "").rstrip("/")
    if root and (path == root or path.startswith(f"{root}/")):
        path = path[len(root) :]
    return path.rstrip("/") or "/"


class _Endpoint:
    """The MCP endpoint: one POST, one request, one fresh server."""

    def __init__(
        self, factory: ServerFactory, legacy: eras.LegacyPolicy, json_response: bool | None, max_body_bytes: int
    ) -> None:
        self._factory = factory
        self._legacy = eras.checked(legacy)
        self._json_response = json_response
        self._max_body_bytes = max_body_bytes
        self._manager: FreshServers | None = None

    @property
    def is_running(self) -> bool:
        """Whether requests can be served."""
        return self._manager is not None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Enter the factory's lifespan, and serve meanwhile."""
        if self._manager is not None:
            raise RuntimeError("The lifespan of this MCP app is entered already; an app is run once at a time")
        manager = FreshServers(self._factory, max_body_bytes=self._max_body_bytes)
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise RuntimeError(_NOT_STARTED)
        scope = _with_one_accept(scope)
        headers = _headers(scope)
        try:
            body = await read_body(receive, headers.get("content-length"), self._max_body_bytes)
        except BodyTooLargeError:
            message = f"The body is larger than the {self._max_body_bytes} bytes that are accepted"
            await Response(message, status_code=413)(scope, receive, send)
            return
        except ClientLeftError:
            return
        admitted = admit(body, headers, legacy=self._legacy, token=access_token(scope))
        if isinstance(admitted, Answer):
            await _response(admitted)(scope, receive, send)
        else:
            await self._serve(self._manager, admitted, body, scope, receive, send)

    async def _serve(
        self, manager: FreshServers, admitted: Admitted, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            server = self._factory.build(admitted.scope)
        except Exception as error:  # noqa: BLE001 - the caller's callable chose the surface; what it raised is logged
            await _response(refusal(admitted.id, modern_error_data(error)))(scope, receive, send)
            return
        if self._streams(admitted):
            await manager.serve(server, scope, replay(body, receive), send, json_response=False)
            return
        with cancel_when_client_leaves(receive):
            await manager.serve(server, scope, replay(body, receive), send, json_response=True)

    def _streams(self, admitted: Admitted) -> bool:
        if admitted.scope.method == _LISTEN:
            return True
        if self._json_response is None:
            return admitted.wants_stream and _accepts_stream(admitted.scope.headers)
        return not self._json_response


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, media_type="application/json" if answer.body else None)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; of a name that is repeated, the first value, as the SDK takes it."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def _with_one_accept(scope: Scope) -> Scope:
    """`scope` with ``Accept`` on one line, where the SDK looks for all of it (RFC 9110, section 5.3)."""
    accepts = [value for name, value in scope["headers"] if name == b"accept"]
    if len(accepts) < 2:
        return scope
    others = [header for header in scope["headers"] if header[0] != b"accept"]
    return {**scope, "headers": [*others, (b"accept", b", ".join(accepts))]}


def _accepts_stream(headers: Mapping[str, str]) -> bool:
    return any(media_range in headers.get("accept", "").lower() for media_range in _STREAM_RANGES)
