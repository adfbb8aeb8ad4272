"""Serving over Streamable HTTP: an ASGI app that answers each request from a server built for it.

    app = http_app(factory, allowed_hosts=["mcp.example.com"])     # uvicorn module:app

One POST goes through these hands: its headers (http_headers), `host_and_origin_check` (http_security), the bearer
token where there is `auth` (http_auth), its body (http_disconnect), the era policy and the envelope (http_eras),
`ServerFactory.build`, and the SDK's session manager (http_manager), which serves it. There is no session, no stream
that outlives a request, and nothing that a replica would have to share, except what the factory's lifespan opens.

The lifespan belongs to the app's own event loop. A server such as uvicorn enters it; an app that this one is mounted
in does not, so it must enter `HttpApp.lifespan` with its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from discern_server.protocol import eras
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.http_auth import BearerAuth, BearerGate
from discern_server.protocol.http_endpoint import Endpoint, EndpointOptions
from discern_server.protocol.http_headers import tidy
from discern_server.protocol.http_security import host_and_origin_check

DEFAULT_PATH: Final = "/mcp"
DEFAULT_HEALTH_PATH: Final = "/health"
DEFAULT_MAX_BODY_BYTES: Final = 4 << 20
DEFAULT_BODY_TIMEOUT_S: Final = 30.0
DEFAULT_MAX_IN_FLIGHT: Final = 1024


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
    body_timeout_s: float = DEFAULT_BODY_TIMEOUT_S,
    max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
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
        body_timeout_s: A body that is not whole by then is refused with 408: it holds the place of a request.
        max_in_flight: How many requests may be open; further ones are refused with 503. Subscriptions are not counted:
            `Subscriptions` has a limit of its own.

    Raises:
        ValueError: An option could never work.
    """
    return HttpApp(
        Endpoint(factory, EndpointOptions(legacy, json_response, max_body_bytes, body_timeout_s, max_in_flight)),
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
        endpoint: Endpoint,
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

    def begin_shutdown(self) -> None:
        """Prepare for the end: subscriptions are ended, and the health endpoint says so; all else is still served.

        `serve_http` calls it at the signal. On another server, call it before that waits for open responses: a
        subscription is one that ends only when its client leaves.
        """
        self._endpoint.begin_shutdown()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI scope."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        path = _path_in_app(scope)
        if path != self.path:
            await self._rest({**scope, "path": path, "root_path": ""}, receive, send)
            return
        tidied = tidy(scope)
        refused = tidied if isinstance(tidied, Response) else await self._refusal(tidied, receive)
        if refused is not None:
            await refused(scope, receive, send)
        elif not isinstance(tidied, Response):
            await self._gated(tidied, receive, send)

    async def _refusal(self, scope: Scope, receive: Receive) -> Response | None:
        request = Request(scope, receive)
        is_post = scope["method"] == "POST"
        refused = await self._check.validate_request(request, is_post=is_post)
        if refused is not None:
            return refused
        if not is_post:
            return Response(status_code=405, headers={"Allow": "POST"})
        media_type = request.headers["content-type"].partition(";")[0].strip()
        return None if media_type.lower() == "application/json" else Response("Invalid Content-Type header", 400)

    async def _health(self, _request: Request) -> Response:
        status = self._endpoint.status
        return JSONResponse({"status": status}, 200 if status == "ok" else 503)


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
