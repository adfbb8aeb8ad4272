"""The examples of the HTTP guides run, and the guides show what is in them."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from discern_server.wire.http import HttpServer
from discern_server.wire.messages import modern_request
from tests.e2e.bounded import PATIENT
from tests.e2e.http_serving import uvicorn

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
EXAMPLES = GUIDE / "examples" / "http"
PAGES = ["http.md", "auth.md", "asking.md", "deploying.md"]
BLOCK = re.compile(r"^```(?:python|nginx)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def refund(server: HttpServer, token: str | None = None) -> dict:
    message = modern_request("tools/call", {"name": "refund", "arguments": {"amount": 5}})
    headers: dict[str, str | None] = {"Authorization": f"Bearer {token}"} if token else {}
    answer = server.ask(message, headers=headers).response(1)
    assert answer is not None
    return answer


def test_the_app_runs_by_itself():
    with uvicorn("standalone", EXAMPLES) as url:
        for count in (1, 2):
            result = refund(HttpServer(f"{url}/mcp", limits=PATIENT))["result"]
            assert result["structuredContent"] == {"refunded": 5, "refunds": count}


@pytest.mark.parametrize("framework", ["starlette", "fastapi", "litestar"])
def test_the_app_is_mounted_in_another_one(framework):
    if find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed; nox -s e2e installs it")
    with uvicorn(f"{framework}_host", EXAMPLES) as url:
        assert refund(HttpServer(f"{url}/tools/mcp", limits=PATIENT))["result"]["structuredContent"]["refunds"] == 1
        assert HttpServer(f"{url}/tools/health", limits=PATIENT).exchange("GET").status == 200
        assert b"hello" in HttpServer(f"{url}/hello", limits=PATIENT).exchange("GET").body


def test_tokens_decide_who_may_refund():
    with uvicorn("tokens", EXAMPLES) as url:
        server = HttpServer(f"{url}/mcp", limits=PATIENT)
        assert server.ask(modern_request("tools/list")).status == 401
        assert refund(server, "token-of-ann")["error"]["code"] == -32602
        metadata = HttpServer(f"{url}/.well-known/oauth-protected-resource/mcp", limits=PATIENT).exchange("GET")
        assert json.loads(metadata.body)["scopes_supported"] == ["mcp", "billing:refund"]


def test_a_booking_asks_twice_and_keeps_its_price():
    capabilities: dict[str, object] = {"_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}

    def call(tool: str, arguments: dict, **round_: object) -> dict:
        params = {"name": tool, "arguments": arguments, **capabilities, **round_}
        answer = server.ask(modern_request("tools/call", params)).response(1)
        assert answer is not None
        result: dict = answer["result"]
        return result

    def accept(**content: object) -> dict:
        return {"action": "accept", "content": content}

    with uvicorn("booking", EXAMPLES) as url:
        server = HttpServer(f"{url}/mcp", limits=PATIENT)
        flight = {"flight": "X1"}
        first = call("book", flight)
        assert list(first["inputRequests"]) == ["seat"]
        second = call("book", flight, inputResponses={"seat": accept(seat="aisle")}, requestState=first["requestState"])
        assert second["inputRequests"]["consent"]["params"]["message"] == "Pay 99.5 for a seat at the aisle?"
        last = call(
            "book", flight, inputResponses={"consent": accept(agreed=True)}, requestState=second["requestState"]
        )
        assert last["structuredContent"] == {"booked": True, "flight": "X1", "price": 99.5}
        assert list(call("plan", {})["inputRequests"]) == ["from", "to"]


@pytest.mark.parametrize("page", PAGES)
def test_a_guide_shows_what_is_in_the_examples(page):
    sources = [path.read_text(encoding="utf-8") for path in EXAMPLES.iterdir() if path.is_file()]
    for shown in BLOCK.findall((GUIDE / page).read_text(encoding="utf-8")):
        assert any(shown in source for source in sources), f"in no example: {shown}"
