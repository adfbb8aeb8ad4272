"""What outlives a request over HTTP: the lifespan, subscriptions, and how a process ends."""

from __future__ import annotations

import concurrent.futures
import signal
import time

import pytest

from discern_server.wire.http import HttpAnswer
from discern_server.wire.messages import modern_request
from tests.e2e.bounded import PATIENCE_S
from tests.e2e.http_serving import read_until, serving

LISTEN = modern_request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="listen")


@pytest.fixture
def served():
    with serving("lasting_server.py") as served:
        yield served


def call(name: str, **arguments: object) -> dict:
    return modern_request("tools/call", {"name": name, "arguments": arguments})


def text(answer: HttpAnswer) -> str:
    message = answer.response(1)
    assert message is not None
    words: str = message["result"]["content"][0]["text"]
    return words


def test_requests_share_what_the_lifespan_opened(served):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(served.http.ask, call("wait"))
        served.process.wait_for_stderr("waiting")
        assert text(served.http.ask(call("release"))) == "done"
        assert text(waiting.result(PATIENCE_S)) == "released"
    assert served.process.stderr.count("lifespan entered") == 1


def test_a_signal_lets_open_requests_end_and_leaves_the_lifespan(served):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        paused = pool.submit(served.http.ask, call("pause", seconds=0.5))
        served.process.wait_for_stderr("pausing")
        served.process.signal(signal.SIGTERM)
        assert text(paused.result(PATIENCE_S)) == "paused"
    assert served.process.wait() == -signal.SIGTERM
    served.process.wait_for_stderr("lifespan left")
    assert "Traceback" not in served.process.stderr


@pytest.mark.requirement(38, 39)
def test_a_subscription_is_told_of_a_change_that_another_request_made(served):
    with served.open(LISTEN) as connection:
        read_until(connection, b"notifications/subscriptions/acknowledged")
        assert text(served.http.ask(call("change"))) == "changed"
        assert b'"listen"' in read_until(connection, b"notifications/tools/list_changed")


def test_a_listener_that_leaves_ends_its_own_stream_alone_and_gives_its_place_back(served):
    with served.open(LISTEN) as staying:
        read_until(staying, b"notifications/subscriptions/acknowledged")
        for _ in range(3):  # more often than there are places
            deadline = time.monotonic() + PATIENCE_S
            while not listens_once(served):
                assert time.monotonic() < deadline, "the place of a listener that left is not given back"
        assert text(served.http.ask(call("change"))) == "changed"
        assert b'"listen"' in read_until(staying, b"notifications/tools/list_changed")


def listens_once(served) -> bool:
    """Whether there was a place to listen: it is taken and left."""
    with served.open(LISTEN) as leaving:
        return b"acknowledged" in read_until(leaving, b"}\r\n")


@pytest.mark.requirement(40, 41)
def test_a_signal_ends_subscriptions_with_their_result_and_the_process_with_them(served):
    with served.open(LISTEN) as connection:
        read_until(connection, b"notifications/subscriptions/acknowledged")
        served.process.signal(signal.SIGTERM)
        rest = read_until(connection)
    assert b'"id":"listen"' in rest
    assert b'"resultType":"complete"' in rest
    assert served.process.wait() == -signal.SIGTERM
    assert "Traceback" not in served.process.stderr


def test_a_surface_that_cannot_be_chosen_is_an_internal_error_that_tells_nothing(served):
    answer = served.http.ask(modern_request("tools/list"), headers={"X-Tenant": "broken"})
    assert (answer.status, answer.response(1)["error"]["code"]) == (200, -32603)
    assert b"tenant" not in answer.body
    served.process.wait_for_stderr("no such tenant")


def test_more_requests_than_may_be_open_are_told_to_come_later():
    with (
        serving("lasting_server.py", "--max-in-flight", "1") as served,
        served.open(LISTEN) as subscription,
        served.open(call("wait")) as waiting,
    ):
        read_until(subscription, b"notifications/subscriptions/acknowledged")
        served.process.wait_for_stderr("waiting")
        busy = served.http.ask(modern_request("tools/list"))
        assert (busy.status, busy.header("retry-after")) == (503, "1")
        assert served.at("/health").exchange("GET").status == 200
        waiting.close()
        while (answer := served.http.ask(modern_request("tools/list"))).status == 503:
            continue  # until the server has seen that the client is gone
        assert answer.status == 200


@pytest.mark.requirement(32, 43)
def test_a_client_that_leaves_within_a_round_can_take_the_same_round_again(served):
    meta: dict[str, object] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    parameters = {"name": "book", "arguments": {}, "_meta": meta}
    first = served.http.ask(modern_request("tools/call", parameters)).response(1)["result"]
    answers = {"sure": {"action": "accept", "content": {"sure": True}}}
    again = modern_request(
        "tools/call", {**parameters, "inputResponses": answers, "requestState": first["requestState"]}
    )
    with served.open(again):
        served.process.wait_for_stderr("booking, time 1")
    served.process.wait_for_stderr("booking cancelled")
    assert text(served.http.ask(again)) == "seat 7, True"
