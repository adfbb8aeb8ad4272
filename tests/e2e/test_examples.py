"""Each example is started, and does what it is an example of, in raw JSON-RPC."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.http import HttpServer
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e import petstore_api
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import discern, environment, served
from tests.e2e.http_serving import free_ports, uvicorn

EXAMPLES = Path(__file__).parents[2] / "examples"
CAN_ASK: dict[str, object] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def call(name: str, arguments: dict[str, Any], **params: Any) -> dict[str, Any]:
    return modern_request("tools/call", {"name": name, "arguments": arguments, "_meta": CAN_ASK, **params})


def result(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer["result"]
    return found


def test_every_example_has_a_test_and_a_place_in_the_guide():
    source = Path(__file__).read_text(encoding="utf-8")
    guide = (EXAMPLES.parent / "docs" / "guide" / "examples.md").read_text(encoding="utf-8")
    folders = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
    assert len(folders) == 5
    for folder in folders:
        assert f'"{folder}"' in source
        assert f"examples/{folder}/" in guide


# --- a library of definitions -------------------------------------------------------------------------


@pytest.fixture
def library() -> Iterator[StdioServer]:
    with StdioServer([sys.executable, str(EXAMPLES / "definitions" / "server.py")], limits=PATIENT) as server:
        yield server


def test_the_library_finds_a_book_and_lends_it_once(library: StdioServer):
    found = result(library.ask(call("find_books", {"words": ["dark"]})))["structuredContent"]
    assert found == {"books": [{"id": 1, "title": "The Left Hand of Darkness", "lent_to": None}]}
    assert not result(library.ask(call("lend_book", {"id": 1, "to": "Ada"}))).get("isError")
    again = result(library.ask(call("lend_book", {"id": 1, "to": "Bob"})))
    assert again["isError"] is True
    assert again["structuredContent"]["error"] == "lent"


def test_the_library_serves_its_files_as_they_stand(library: StdioServer):
    listed = result(library.ask(modern_request("tools/list")))["tools"]
    assert [tool["name"] for tool in listed] == ["find_books", "lend_book"]
    refused = result(library.ask(call("find_books", {"words": []})))
    assert refused["structuredContent"]["diagnostics"][0]["path"] == "/words"


# --- a FastAPI app ------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("fastapi") is None, reason="fastapi is not installed; nox -s e2e installs it")
def test_people_and_agents_see_the_same_orders():
    with uvicorn("app", EXAMPLES / "fastapi_app") as url:
        assert b'"1":"packed"' in HttpServer(f"{url}/orders", limits=PATIENT).exchange("GET").body
        server = HttpServer(f"{url}/mcp", limits=PATIENT)
        seen = result(server.ask(call("order_status", {"number": 2})).response(1))
        assert seen["structuredContent"] == {"status": "sent"}
        unknown = result(server.ask(call("order_status", {"number": 9})).response(1))
        assert unknown["structuredContent"]["error"] == "unknown_order"


# --- an HTTP API --------------------------------------------------------------------------------------


def test_a_tool_of_the_api_sends_its_request_with_the_key(tmp_path: Path):
    project = Path(shutil.copytree(EXAMPLES / "openapi", tmp_path / "weather"))
    assert discern("check", cwd=project).code == 0
    with petstore_api.serve() as api:
        file = project / "discern.toml"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("http://127.0.0.1:8080", api.url), encoding="utf-8")
        api.answer(200, {"city": "Bad Ischl", "celsius": [21, 19.5]})
        with served("serve", cwd=project, WEATHER_KEY="secret") as server:
            answer = result(server.ask(call("getForecast", {"city": "Bad Ischl", "days": 2})))
    assert answer["structuredContent"] == {"city": "Bad Ischl", "celsius": [21, 19.5]}
    (request,) = api.requests
    assert request.target == "/v1/forecast/Bad%20Ischl?days=2"
    assert request.headers["X-Api-Key"] == "secret"


# --- a tool that asks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "deleted"),
    [
        ({"action": "accept", "content": {"delete": True}}, ["draft.tmp", "old.tmp"]),
        ({"action": "accept", "content": {"delete": False}}, []),
        ({"action": "decline"}, []),
    ],
    ids=["yes", "no", "declined"],
)
def test_nothing_is_deleted_before_the_user_agrees(answer: dict[str, Any], deleted: list[str]):
    arguments = {"suffix": ".tmp"}
    with StdioServer([sys.executable, str(EXAMPLES / "asks_first" / "server.py")], limits=PATIENT) as server:
        question = result(server.ask(call("delete_files", arguments)))
        assert question["resultType"] == "input_required"
        assert question["inputRequests"]["consent"]["params"]["message"] == "Delete draft.tmp, old.tmp?"
        replies = {"inputResponses": {"consent": answer}, "requestState": question["requestState"]}
        done = result(server.ask(call("delete_files", arguments, **replies)))
        assert done["structuredContent"]["deleted"] == deleted
        left = result(server.ask(call("delete_files", arguments)))
        assert left["resultType"] == ("complete" if deleted else "input_required")


# --- replicas -----------------------------------------------------------------------------------------


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: nginx-light)")
def test_a_call_is_begun_by_one_replica_and_finished_by_any():
    first_port = free_ports(4)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", str(EXAMPLES / "replicas" / "run.sh"), str(first_port)]
    with StdioServer(command, env=environment(PATH=path), limits=PATIENT) as cluster:
        cluster.give_up()
        cluster.wait_for_stderr("start worker process ")
        for number in (1, 2, 3):
            cluster.wait_for_stderr(f"Serving MCP at http://127.0.0.1:{first_port + number}/mcp")
        server = HttpServer(f"http://127.0.0.1:{first_port}/mcp", limits=PATIENT)
        bookings = [book(server, f"{row}A") for row in range(1, 10)]
        cluster.signal(signal.SIGTERM)
        assert cluster.wait() == 128 + signal.SIGTERM
    for port in range(first_port, first_port + 4):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)
    assert all(booking["booked"] for booking in bookings)
    assert len({booking["asked_by"] for booking in bookings}) > 1
    assert any(booking["asked_by"] != booking["answered_by"] for booking in bookings)


def book(server: HttpServer, seat: str) -> dict[str, Any]:
    """Book a seat in two rounds."""
    question = result(server.ask(call("book_seat", {"seat": seat})).response(1))
    yes = {"consent": {"action": "accept", "content": {"book": True}}}
    replies = {"inputResponses": yes, "requestState": question["requestState"]}
    booking: dict[str, Any] = result(server.ask(call("book_seat", {"seat": seat}, **replies)).response(1))
    return booking["structuredContent"]
