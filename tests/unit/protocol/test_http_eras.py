"""What becomes of one POST: each rung, from bytes and headers alone."""

from __future__ import annotations

import json

import pytest

from discern_server.protocol.http_eras import Admitted, Answer, admit
from discern_server.wire.http import standard_headers
from discern_server.wire.messages import initialize, modern_request, notification, request


def post(message: object, headers: dict[str, str | None] | None = None, **options: str) -> Admitted | Answer:
    told = standard_headers(message) if isinstance(message, dict) else {}
    told = {name.lower(): value for name, value in told.items()}
    for name, value in (headers or {}).items():
        if value is None:
            told.pop(name)
        else:
            told[name] = value
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return admit(body, told, **options)


def error(answer: Admitted | Answer) -> dict:
    assert isinstance(answer, Answer)
    assert answer.status == 400
    return json.loads(answer.body)


def test_a_modern_request_is_admitted_with_what_its_envelope_says():
    admitted = post(modern_request("tools/call", {"name": "echo"}, id="a"), {"x-region": "eu"})
    assert isinstance(admitted, Admitted)
    assert (admitted.id, admitted.wants_stream) == ("a", False)
    scope = admitted.scope
    assert (scope.era, scope.revision, scope.transport, scope.method) == ("modern", "2026-07-28", "http", "tools/call")
    assert scope.client == {"name": "discern-era", "version": "1"}
    assert scope.headers["x-region"] == "eu"


@pytest.mark.requirement(12, 16)
def test_an_envelope_may_lack_the_client_and_hold_keys_of_others():
    message = modern_request("tools/list", {"_meta": {"com.example/trace": [1]}})
    del message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]
    admitted = post(message)
    assert isinstance(admitted, Admitted)
    assert admitted.scope.client is None


@pytest.mark.parametrize("meta", [{"progressToken": 0}, {"io.modelcontextprotocol/logLevel": "info"}])
def test_a_request_that_asks_for_messages_wants_a_stream(meta):
    admitted = post(modern_request("tools/list", {"_meta": meta}))
    assert isinstance(admitted, Admitted)
    assert admitted.wants_stream


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b'{"a":NaN}', b"[" * 100_000, b"9" * 5000 + b"x", b'\xef\xbb\xbf{"jsonrpc":"2.0"}'],
    ids=["empty", "cut", "no UTF-8", "NaN", "deep", "a number of 5000 digits", "byte order mark"],
)
@pytest.mark.requirement(1, 3)
def test_a_body_that_is_no_json_is_a_parse_error_without_an_id(body):
    answer = error(post(body))
    assert answer["error"]["code"] == -32700
    assert answer["id"] is None


@pytest.mark.parametrize(
    ("message", "told_id"),
    [
        ([], None),
        (42, None),
        ([modern_request("tools/list")], None),
        ({"jsonrpc": "1.0", "id": 7, "method": "tools/list"}, 7),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, 7),
        ({"jsonrpc": "2.0", "id": None, "method": "tools/list"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "tools/list"}, None),
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": []}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": None}, 7),
    ],
)
@pytest.mark.requirement(1, 3)
def test_json_that_is_no_single_message_is_an_invalid_request_with_the_id_that_can_be_read(message, told_id):
    answer = error(post(message))
    assert answer["error"]["code"] == -32600
    assert answer["id"] == told_id


@pytest.mark.requirement(7, 77)
def test_a_notification_of_a_served_version_is_acknowledged():
    version = {"mcp-protocol-version": "2026-07-28"}
    assert post(notification("notifications/cancelled", {"requestId": 1}), version) == Answer(202)


@pytest.mark.requirement(77)
def test_a_notification_of_another_version_is_refused_without_an_id():
    answer = error(post(notification("notifications/initialized"), {"mcp-protocol-version": "2025-11-25"}))
    assert answer["id"] is None
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


@pytest.mark.requirement(25)
def test_initialize_is_refused_with_the_versions_and_the_mend():
    answer = error(post(initialize()))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert "--legacy serve" in answer["error"]["message"]


def test_initialize_is_refused_behind_modern_headers_too_even_where_legacy_is_served():
    for legacy in ("reject", "serve"):
        answer = error(post(initialize(), {"mcp-protocol-version": "2026-07-28"}, legacy=legacy))
        assert answer["error"]["code"] == -32022


@pytest.mark.parametrize("legacy", ["reject", "serve"])
@pytest.mark.requirement(25, 79)
def test_initialize_within_an_envelope_is_a_method_that_does_not_exist(legacy):
    answer = post(modern_request("initialize", {"protocolVersion": "2025-11-25"}), legacy=legacy)
    assert isinstance(answer, Answer)
    assert answer.status == 404
    told = json.loads(answer.body)["error"]
    assert (told["code"], told["data"]) == (-32601, {"supported": ["2026-07-28"]})


@pytest.mark.parametrize("message", [request("tools/list", {}), request("tools/list") | {"params": None}], ids=str)
@pytest.mark.requirement(11)
def test_a_request_without_headers_or_envelope_is_told_what_is_missing(message):
    answer = error(post(message))
    assert answer["error"]["code"] == -32602
    assert "_meta" in answer["error"]["message"]
    assert answer["error"]["data"] == {"supported": ["2026-07-28"]}


@pytest.mark.requirement(78)
def test_a_version_that_only_the_header_names_and_that_is_not_served_is_unsupported():
    answer = error(post(request("tools/list"), {"mcp-protocol-version": "2025-06-18"}))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-06-18"}


@pytest.mark.requirement(22, 78)
def test_an_unserved_version_in_header_and_envelope_is_unsupported():
    answer = error(post(modern_request("tools/list", revision="1900-01-01")))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"]["requested"] == "1900-01-01"


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-protocol-version": None},
        {"mcp-protocol-version": "2025-11-25"},
        {"mcp-method": None},
        {"mcp-method": "tools/list"},
        {"mcp-name": None},
        {"mcp-name": "Echo"},
    ],
    ids=str,
)
@pytest.mark.requirement(80, 81, 83)
def test_headers_that_do_not_repeat_the_envelope_are_a_mismatch_under_both_policies(headers):
    message = modern_request("tools/call", {"name": "echo"})
    assert error(post(message, headers))["error"]["code"] == -32020
    assert error(post(message, headers, legacy="serve"))["error"]["code"] == -32020


@pytest.mark.requirement(11)
def test_an_envelope_that_is_not_whole_is_told_what_is_missing_and_what_is_served():
    message = modern_request("tools/list")
    del message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    answer = error(post(message))
    assert answer["error"]["code"] == -32602
    assert "clientCapabilities" in answer["error"]["message"]
    assert answer["error"]["data"] == {"supported": ["2026-07-28"]}


def test_where_legacy_is_served_the_handshake_is_admitted_in_the_revision_it_offers():
    admitted = post(initialize("2025-06-18"), legacy="serve")
    assert isinstance(admitted, Admitted)
    assert (admitted.scope.era, admitted.scope.revision) == ("legacy", "2025-06-18")
    assert admitted.scope.client == {"name": "discern-era", "version": "1"}


@pytest.mark.parametrize("offered", ["1900-01-01", None, 7])
def test_an_offer_that_is_not_known_is_answered_with_the_newest_handshake_revision(offered):
    message = initialize()
    message["params"]["protocolVersion"] = offered
    admitted = post(message, legacy="serve")
    assert isinstance(admitted, Admitted)
    assert admitted.scope.revision == "2025-11-25"


@pytest.mark.parametrize(("version", "revision"), [("2025-11-25", "2025-11-25"), (None, "2025-03-26")])
def test_a_legacy_request_is_admitted_in_the_revision_of_its_header(version, revision):
    headers = {} if version is None else {"mcp-protocol-version": version}
    admitted = post(request("tools/list", {"_meta": {"progressToken": 1}}), headers, legacy="serve")
    assert isinstance(admitted, Admitted)
    assert (admitted.scope.era, admitted.scope.revision) == ("legacy", revision)
    assert admitted.wants_stream


def test_a_legacy_notification_is_acknowledged_where_legacy_is_served():
    assert post(notification("notifications/initialized"), legacy="serve") == Answer(202)
