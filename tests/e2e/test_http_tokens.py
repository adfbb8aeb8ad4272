"""Bearer tokens on the raw wire: who is let in, what the others are told, and what each token shows."""

from __future__ import annotations

import concurrent.futures
import json
import re

import pytest

from discern_server.wire.http import HttpAnswer, standard_headers
from discern_server.wire.messages import initialize, modern_request
from tests.e2e.http_serving import read_until, serving

METADATA = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.fixture(scope="module")
def served():
    with serving("auth_server.py") as served:
        yield served


@pytest.fixture
def server(served):
    return served.http


def bearer(token: str) -> dict[str, str | None]:
    return {"Authorization": f"Bearer {token}"}


def challenge(answer: HttpAnswer) -> dict[str, str]:
    told = answer.header("www-authenticate")
    assert told is not None
    assert told.startswith("Bearer ")
    return dict(re.findall(r'(\w+)="([^"]*)"', told))


def tools(server, token: str) -> list[str]:
    answer = server.ask(modern_request("tools/list"), headers=bearer(token))
    return [tool["name"] for tool in answer.response(1)["result"]["tools"]]


def call(server, tool: str, token: str) -> HttpAnswer:
    return server.ask(modern_request("tools/call", {"name": tool, "arguments": {}}), headers=bearer(token))


@pytest.mark.requirement(75, 88)
def test_without_a_token_401_says_where_to_get_one_and_for_what(server):
    answer = server.ask(modern_request("tools/list"))
    assert answer.status == 401
    assert challenge(answer) == {"scope": "mcp", "resource_metadata": METADATA}


@pytest.mark.parametrize("token", ["made-up", "expired", "foreign"])
@pytest.mark.requirement(88)
def test_a_token_that_is_not_good_gets_401_invalid_token(server, token):
    answer = server.ask(modern_request("tools/list"), headers=bearer(token))
    assert answer.status == 401
    told = challenge(answer)
    assert told.pop("error_description")
    assert told == {"error": "invalid_token", "scope": "mcp", "resource_metadata": METADATA}


def test_a_scheme_that_is_not_bearer_gets_401(server):
    answer = server.ask(modern_request("tools/list"), headers={"Authorization": "Basic cmVhZGVyOg=="})
    assert answer.status == 401


@pytest.mark.requirement(88)
def test_a_token_without_the_required_scope_gets_403_with_the_scope(server):
    answer = server.ask(modern_request("tools/list"), headers=bearer("stranger"))
    assert answer.status == 403
    told = challenge(answer)
    assert told.pop("error_description")
    assert told == {"error": "insufficient_scope", "scope": "mcp", "resource_metadata": METADATA}


def test_a_verifier_that_fails_is_503_and_its_reason_stays_in_the_log(served):
    answer = served.http.ask(modern_request("tools/list"), headers=bearer("unverifiable"))
    assert answer.status == 503
    assert answer.header("retry-after")
    assert answer.header("www-authenticate") is None
    assert b"introspection" not in answer.body
    served.process.wait_for_stderr("introspection endpoint is down")


def test_the_handshake_is_not_answered_without_a_token_either(server):
    assert server.ask(initialize()).status == 401


def test_a_token_in_the_query_is_no_token(served):
    assert served.at("/mcp?access_token=reader").ask(modern_request("tools/list")).status == 401


@pytest.mark.requirement(88)
def test_the_metadata_is_served_without_a_token(served):
    answer = served.at("/.well-known/oauth-protected-resource/mcp").exchange("GET")
    assert answer.status == 200
    assert json.loads(answer.body) == {
        "resource": "https://mcp.example.com/mcp",
        "authorization_servers": ["https://login.example.com"],
        "scopes_supported": ["mcp", "write"],
        "bearer_methods_supported": ["header"],
    }


def test_the_handler_sees_who_calls(server):
    result = call(server, "whoami", "reader").response(1)["result"]
    assert result["content"] == [{"type": "text", "text": "client of reader"}]


@pytest.mark.requirement(58)
def test_a_tool_is_neither_listed_nor_callable_without_its_scope(server):
    assert tools(server, "reader") == ["whoami"]
    answer = call(server, "write", "reader")
    assert answer.status == 400
    assert answer.response(1)["error"]["code"] == -32602
    unknown = call(server, "no-such-tool", "reader").response(1)["error"]["message"]
    assert answer.response(1)["error"]["message"] == unknown.replace("no-such-tool", "write")


def test_with_its_scope_a_tool_is_listed_and_callable(server):
    assert tools(server, "writer") == ["whoami", "write"]
    assert call(server, "write", "writer").response(1)["result"]["content"][0]["text"] == "written"


@pytest.mark.parametrize(
    ("token", "told"), [("reader", ["books://open"]), ("writer", ["books://open", "books://closed"])]
)
def test_a_resource_is_listened_to_only_with_its_scope_and_else_is_as_one_that_is_not_there(served, token, told):
    asked = ["books://open", "books://closed", "books://none"]
    message = modern_request("subscriptions/listen", {"notifications": {"resourceSubscriptions": asked}})
    headers = {**standard_headers(message), **bearer(token)}
    with served.open(message, "".join(f"{name}: {value}\r\n" for name, value in headers.items())) as connection:
        event = read_until(connection, b"}\r\n").rpartition(b"data: ")[2]
    acknowledged = json.loads(event)
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": told}


def test_callers_see_their_own_tools_at_the_same_time_by_scope_and_by_a_surface_of_their_own(server):
    shown = {"reader": ["whoami"], "writer": ["whoami", "write"], "guest": ["welcome"]}
    wanted = [*shown] * 15
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda token: tools(server, token), wanted))
    assert seen == [shown[token] for token in wanted]
