"""The ASGI app by itself: its lifespan, its paths, its options."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from discern_server.catalog import Catalog
from discern_server.protocol.events import Subscriptions
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.http import HttpApp, http_app
from discern_server.protocol.surface import Surface
from discern_server.wire.http import standard_headers
from discern_server.wire.messages import modern_request

pytestmark = pytest.mark.anyio
DISCOVER = modern_request("server/discover")


@pytest.fixture
def anyio_backend():
    return "asyncio"


def app(lifespan=None, **options: object) -> HttpApp:
    return http_app(ServerFactory(Surface("s", "1", Catalog.of([])), lifespan=lifespan), **options)


def client(app) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")


async def discover(app, path: str = "/mcp") -> int:
    async with client(app) as http:
        answer = await http.post(path, json=DISCOVER, headers=standard_headers(DISCOVER))
        return answer.status_code


async def test_an_app_that_was_not_started_says_how_to_start_it():
    with pytest.raises(RuntimeError, match=r"lifespan=mcp\.lifespan"):
        await discover(Starlette(routes=[Mount("/", app())]))


async def test_a_host_starts_the_app_with_its_own_lifespan():
    mcp = app()
    async with mcp.lifespan():
        assert await discover(Starlette(routes=[Mount("/", mcp)])) == 200
        assert await discover(Starlette(routes=[Mount("/tools", mcp)]), "/tools/mcp") == 200
        assert await discover(Starlette(routes=[Route("/mcp", mcp)])) == 200
    with pytest.raises(RuntimeError):
        await discover(mcp)


async def test_an_app_at_the_root_of_its_mount_is_found_with_a_slash():
    mcp = app(path="/")
    async with mcp.lifespan():
        assert await discover(Starlette(routes=[Mount("/mcp", mcp)]), "/mcp/") == 200


async def test_an_app_can_be_run_again_but_not_twice_at_once():
    entered = []

    @asynccontextmanager
    async def lifespan():
        entered.append(True)
        yield

    mcp = app(lifespan)
    async with mcp.lifespan():
        with pytest.raises(RuntimeError, match="once at a time"):
            async with mcp.lifespan():
                pass
        assert await discover(mcp) == 200
    async with mcp.lifespan():
        assert await discover(mcp) == 200
    assert len(entered) == 2


async def test_a_server_that_runs_the_app_is_told_why_it_cannot_start():
    async def connect():
        raise ConnectionError("the database is down")

    @asynccontextmanager
    async def lifespan():
        await connect()
        yield

    sent = []

    async def receive():
        return {"type": "lifespan.startup"}

    async def send(message):
        sent.append(message)

    with pytest.raises(ConnectionError):
        await app(lifespan)({"type": "lifespan", "app": None}, receive, send)
    assert sent[0]["type"] == "lifespan.startup.failed"
    assert "the database is down" in sent[0]["message"]


async def test_the_health_endpoint_follows_the_lifespan():
    mcp = app(health_path="/up/")

    async def health() -> tuple[int, str]:
        async with client(mcp) as http:
            answer = await http.get("/up")
            return answer.status_code, answer.json()["status"]

    assert await health() == (503, "starting")
    async with mcp.lifespan():
        assert await health() == (200, "ok")
        mcp.begin_shutdown()
        assert await health() == (503, "stopping")
        assert await discover(mcp) == 200
    assert await health() == (503, "stopped")


async def test_without_a_health_path_there_is_none():
    async with client(app(health_path=None)) as http:
        assert (await http.get("/health")).status_code == 404


async def test_a_body_that_does_not_come_is_refused_and_its_place_given_back():
    mcp = app(body_timeout_s=0.05, max_in_flight=1)
    headers = [(name.lower().encode(), value.encode()) for name, value in standard_headers(DISCOVER).items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"host", b"localhost"), *headers]}
    parts = iter([{"type": "http.request", "body": b"{", "more_body": True}])
    sent = []

    async def receive():
        part = next(parts, None)
        if part is None:
            await anyio.sleep_forever()
        return part

    async def send(message):
        sent.append(message)

    async with mcp.lifespan():
        with anyio.fail_after(30):
            await mcp(scope, receive, send)
        assert sent[0]["status"] == 408
        assert (b"connection", b"close") in sent[0]["headers"]
        assert b"not whole within 0.05 seconds" in sent[1]["body"]
        assert await discover(mcp) == 200


async def test_the_app_that_shuts_down_ends_its_own_streams_and_not_those_of_another_app():
    factory = ServerFactory(Surface("s", "1"), subscriptions=Subscriptions())
    stopping, staying = http_app(factory), http_app(factory)
    listen = modern_request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})

    async def listens(mcp: HttpApp) -> str:
        async with client(mcp) as http:
            answer = await http.post("/mcp", json=listen, headers=standard_headers(listen))
            return answer.text

    async with stopping.lifespan(), staying.lifespan(), anyio.create_task_group() as tasks:
        told: list[str] = []
        tasks.start_soon(lambda: _append(told, listens(staying)))
        await anyio.wait_all_tasks_blocked()
        stopping.begin_shutdown()
        assert "about to end" in await listens(stopping)
        await anyio.wait_all_tasks_blocked()
        assert told == []
        staying.begin_shutdown()
    assert "resultType" in told[0]


async def _append(told: list[str], answer) -> None:
    told.append(await answer)


async def test_a_websocket_is_closed():
    sent = []

    async def receive():
        await anyio.sleep_forever()

    async def send(message):
        sent.append(message["type"])

    await app()({"type": "websocket", "path": "/mcp", "root_path": "", "headers": []}, receive, send)
    assert sent == ["websocket.close"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"path": "mcp"}, "path must begin"),
        ({"health_path": "up"}, "health_path must begin"),
        ({"legacy": "maybe"}, "legacy must be"),
        ({"max_body_bytes": 0}, "max_body_bytes must be at least 1"),
        ({"max_in_flight": 0}, "max_in_flight must be at least 1"),
        ({"body_timeout_s": 0}, "body_timeout_s must be more than 0"),
        ({"allowed_hosts": ["https://a.example"]}, "allowed_hosts"),
    ],
)
async def test_an_option_that_could_never_work_is_refused(options, told):
    with pytest.raises(ValueError, match=told):
        app(**options)
