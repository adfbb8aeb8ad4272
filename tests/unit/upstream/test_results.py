from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discern_server.handler import ABSENT
from discern_server.result import Diagnostic
from discern_server.schema.validate import compile_validator
from discern_server.upstream import errors
from discern_server.upstream.answer import Answer
from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import UpstreamRequest
from discern_server.upstream.results import EXCERPT_BYTES, META, Exchanged, render, render_error

SECRET = "t0p-secret-token"
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def rendered(body=b"", content_type="application/json", status=200, *, schema=None, method="GET", cut=False, **headers):
    fields = {"content-type": content_type} if content_type else {}
    fields |= {name.replace("_", "-"): text for name, text in headers.items()}
    request = UpstreamRequest(
        method=method,
        url="https://api.example.com/j?key=" + SECRET,
        public_url="https://api.example.com/j",
        headers=(),
        body=None,
        secrets=(SECRET,),
    )
    answer = Answer(
        status=status,
        headers=tuple(fields.items()),
        body=body if isinstance(body, bytes) else json.dumps(body).encode(),
        cut=cut,
    )
    output = None if schema is None else compile_validator(schema)
    result = render(Exchanged(tool="tool", request=request, answer=answer, redactor=Redactor([SECRET]), output=output))
    json.dumps([list(result.content), dict(result.meta)], allow_nan=False)
    return result


def text_of(result):
    return "\n".join(block["text"] for block in result.content)


def error_of(result):
    assert result.is_error
    assert result.structured is ABSENT
    return result.meta[META]["error"]


# --- successes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [{"a": 1}, [1, {"n": None}], None, True, 9007199254740993, "text"])
def test_json_is_structured_content_with_its_text(value):
    result = rendered(value)
    assert result.structured == value
    assert text_of(result) == (value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))
    assert not result.is_error


def test_what_is_no_json_under_a_json_type_is_text():
    result = rendered(b"oops")
    assert (text_of(result), result.structured, result.is_error) == ("oops", ABSENT, False)


def test_text_is_text():
    result = rendered("a,b\n1,é\n".encode(), "text/csv; charset=utf-8")
    assert (text_of(result), result.structured) == ("a,b\n1,é\n", ABSENT)


@pytest.mark.parametrize(("content_type", "kind"), [("image/png", "image"), ("Audio/MPEG; x=1", "audio")])
def test_images_and_audio_are_blocks_of_their_kind(content_type, kind):
    (block,) = rendered(b"\x00\xff", content_type).content
    assert block == {"type": kind, "data": "AP8=", "mimeType": content_type.partition(";")[0].lower()}


def test_other_binary_content_is_an_embedded_resource():
    data = b"\x00\x00\x00\x18ftypmp42\x00\xff\xfe"
    (block,) = rendered(data, "video/mp4").content
    assert block == {
        "type": "resource",
        "resource": {
            "uri": "https://api.example.com/j",
            "mimeType": "video/mp4",
            "blob": base64.b64encode(data).decode("ascii"),
        },
    }


@pytest.mark.parametrize("status", [200, 204, 205])
def test_no_content_is_said(status):
    result = rendered(status=status, location="/new")
    assert text_of(result).startswith(f"{status} ")
    assert "location: /new" in text_of(result)
    assert (result.structured, result.is_error) == (ABSENT, False)


def test_the_answer_to_head_is_its_header():
    result = rendered(method="HEAD", content_length="5", set_cookie="session=1")
    assert "content-length: 5" in text_of(result)
    assert "session" not in text_of(result)


def test_what_a_client_may_need_of_the_header_is_in_meta():
    link = '<https://api.example.com/j?page=2>; rel="next"'
    result = rendered({}, link=link, x_request_id="r1", server="nginx")
    assert result.meta == {META: {"status": 200, "request_id": "r1", "link": link}}


def test_credentials_are_masked_in_a_success_too():
    assert rendered({"echo": f"Bearer {SECRET}"}).structured == {"echo": "Bearer ***"}
    assert SECRET not in str(rendered(f"key={SECRET}".encode(), "text/plain"))
    assert SECRET not in str(rendered(status=201, location=f"/x?key={SECRET}"))


# --- a tool that promises structured content ----------------------------------------------------------


def test_what_keeps_the_schema_is_delivered():
    assert rendered({"a": 1}, schema=OBJECT).structured == {"a": 1}


def test_json_under_another_type_is_taken_where_it_keeps_the_schema():
    assert rendered({"a": 1}, "text/html", schema=OBJECT).structured == {"a": 1}


def test_text_is_structured_where_the_schema_says_so():
    result = rendered(b"12", "text/plain", schema={"type": "string"})
    assert (result.structured, text_of(result)) == ("12", "12")


def test_no_content_is_null_where_the_schema_admits_it():
    assert rendered(status=204, schema={"type": ["object", "null"]}).structured is None


@pytest.mark.parametrize(
    ("body", "content_type", "finding"),
    [
        ({"a": "x"}, "application/json", {"rule": "type", "path": "/a"}),
        ({"a": "x"}, "text/plain", {"rule": "type", "path": "/a"}),
        (b"oops", "application/json", {"rule": "json", "path": ""}),
        (b"oops", "text/plain", {"rule": "type", "path": ""}),
        (b"\x00", "image/png", {"rule": "json", "path": ""}),
        (b"", "application/json", {"rule": "empty", "path": ""}),
    ],
)
def test_what_breaks_the_schema_is_an_error_with_the_answer_and_the_findings(body, content_type, finding):
    result = rendered(body, content_type, schema=OBJECT)
    assert error_of(result) == "answer_breaks_schema"
    (found,) = result.meta[META]["diagnostics"]
    assert {name: found[name] for name in finding} == finding
    assert found["message"] in text_of(result)
    if body and content_type != "image/png":
        assert result.content[1]["text"] == (body.decode() if isinstance(body, bytes) else json.dumps(body))


def test_a_large_answer_that_breaks_the_schema_is_carried_whole():
    body = {"a": "x" * (2 * EXCERPT_BYTES)}
    assert rendered(body, schema=OBJECT).content[1]["text"] == json.dumps(body)


# --- errors -------------------------------------------------------------------------------------------


def test_an_error_status_tells_the_facts_and_carries_the_content():
    result = rendered({"message": "try tomorrow"}, status=429, retry_after="3600", x_request_id="r1", schema=OBJECT)
    assert error_of(result) == "http_status"
    assert result.meta[META]["data"] == {
        "method": "GET",
        "url": "https://api.example.com/j",
        "status": 429,
        "content_type": "application/json",
        "request_id": "r1",
        "retry_after_s": 3600,
    }
    for told in ("429 Too Many Requests", "GET", "https://api.example.com/j", "r1", "wait 3600 s", "try tomorrow"):
        assert told in text_of(result)


def test_problem_details_are_told_first():
    """RFC 9457."""
    problem = {
        "type": "about:blank",
        "title": "Bad limit",
        "detail": "must be below 10",
        "status": 400,
        "field": "limit",
    }
    result = rendered(problem, "application/problem+json", 400)
    assert "400 Bad Request (Bad limit: must be below 10)" in result.meta[META]["message"]
    assert result.meta[META]["data"]["problem"] == {name: problem[name] for name in problem if name != "field"}
    assert json.loads(result.content[1]["text"]) == problem


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"title": 5, "detail": ["x"]}', b""])
def test_broken_problem_details_are_an_ordinary_body(body):
    assert error_of(rendered(body, "application/problem+json", 500)) == "http_status"


@pytest.mark.parametrize("status", [300, 304, 400, 401, 404, 418, 500, 599])
def test_every_other_status_is_an_error(status):
    result = rendered(b"boom", "text/plain", status)
    assert str(status) in text_of(result)
    assert error_of(result) == "http_status"


def test_a_refused_credential_is_named_as_the_cause():
    assert "credential" in rendered(status=401).meta[META]["hints"][0]


def test_an_error_page_is_bounded_and_says_so():
    result = rendered(b"x" * 1_000_000, "text/html", 502)
    assert len(result.content[1]["text"]) == EXCERPT_BYTES
    assert result.meta[META]["data"]["content_bytes_shown"] == EXCERPT_BYTES


def test_a_binary_error_has_no_content_block():
    assert len(rendered(b"\x00\xff", "image/png", 500).content) == 1


def test_too_large_an_answer_is_an_error_with_its_beginning():
    result = rendered(b'["' + b"x" * 20_000, cut=True, schema={"type": "array"})
    assert error_of(result) == "answer_too_large"
    assert result.meta[META]["data"]["limit_bytes"] == 20_002
    assert result.content[1]["text"].startswith('["xxx')
    assert len(text_of(result)) < EXCERPT_BYTES + 1_000
    assert "smaller page" in text_of(result)


def test_credentials_are_masked_in_errors():
    body = {"title": f"bad key {SECRET}", "detail": f"Bearer {SECRET}"}
    result = rendered(body, "application/problem+json", 401, location=f"/login?key={SECRET}", x_request_id=SECRET)
    assert SECRET not in str(result)
    assert "***" in text_of(result)


FINDING = Diagnostic(rule="r", message="what is wrong", path="/p", fix="the mend")


@pytest.mark.parametrize(
    ("error", "word", "told"),
    [
        (
            errors.ArgumentsRefused(findings=(FINDING,)),
            "invalid_arguments",
            ["one argument", "what is wrong", "the mend"],
        ),
        (errors.ArgumentsRefused(findings=(FINDING, FINDING)), "invalid_arguments", ["2 arguments"]),
        (errors.CredentialsMissing(findings=(FINDING,)), "credentials_missing", ["what is wrong", "the mend"]),
        (errors.ServerUnknown(), "server_unknown", ["names no server", "base_url"]),
        (errors.ServerUnknown(server="ftp://x"), "server_unknown", ["ftp://x"]),
        (errors.RequestInvalid(detail="illegal header"), "request_invalid", ["illegal header"]),
        (errors.AddressRefused(host="h", address="10.0.0.1"), "address_refused", ["h leads to 10.0.0.1", "base_url"]),
        (
            errors.TokenRefused(scheme="o", status=400, oauth_error="invalid_client", description="no"),
            "token_refused",
            ["answered 400 (invalid_client: no)"],
        ),
        (errors.TokenRefused(scheme="o"), "token_refused", ["gave no usable token"]),
        (errors.ConnectFailed(detail="refused"), "connect_failed", ["no connection", "refused"]),
        (errors.ConnectionLost(detail="reset"), "connection_lost", ["broke", "reset", "may have acted"]),
        (errors.DeadlineExceeded(timeout_s=2.5), "timed_out", ["2.5 s", "may have acted"]),
        (
            errors.RedirectRefused(status=302, location="https://o/x", why="it leads to another origin"),
            "redirect_refused",
            ["302", "https://o/x", "another origin"],
        ),
        (errors.AnswerUnreadable(status=200, detail="bad header"), "answer_unreadable", ["200", "bad header"]),
        (errors.UpstreamError(), "upstream_failed", ["failed"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_failure_is_an_error_that_says_what_happened(error, word, told):
    error.method, error.url = "GET", "https://api.example.com/j"
    result = render_error("tool", error)
    assert error_of(result) == word
    assert all(text in text_of(result) for text in [*told, "https://api.example.com/j"])
    assert result.meta[META]["data"]["method"] == "GET"


BYTES = st.one_of(
    st.binary(max_size=60),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)
TYPES = st.one_of(
    st.sampled_from(
        ["", "application/json", "application/problem+json", "text/xml", "text/plain; charset=utf-16", "image/png", "x"]
    ),
    st.text(st.characters(codec="latin-1"), max_size=30),
)


@given(
    body=BYTES,
    content_type=TYPES,
    status=st.integers(min_value=100, max_value=999),
    retry_after=st.text(st.characters(codec="latin-1"), max_size=40),
    cut=st.booleans(),
    schema=st.sampled_from([None, OBJECT, True]),
)
def test_whatever_the_api_answers_the_output_can_be_written(body, content_type, status, retry_after, cut, schema):
    """JSON without NaN, in UTF-8; and where a schema is declared, a success keeps it."""
    result = rendered(body, content_type, status, schema=schema, cut=cut, retry_after=retry_after, x_request_id="é")
    structured = None if result.structured is ABSENT else result.structured
    whole = [list(result.content), dict(result.meta), structured]
    json.dumps(whole, allow_nan=False, ensure_ascii=False).encode("utf-8")
    assert result.is_error == ("error" in result.meta[META])
    assert result.is_error or 200 <= status < 300
    if schema is not None and not result.is_error:
        assert compile_validator(schema).is_valid(structured)
