from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discern_server.upstream.binding import BodyBinding, OperationBinding, ParameterBinding, ResponseBinding, Server
from discern_server.upstream.errors import ArgumentsRefused, ServerUnknown
from discern_server.upstream.request import Presented, build_request, with_credentials


def parameter(name, location, **changes):
    style = changes.pop("style", "simple" if location in ("path", "header") else "form")
    return ParameterBinding(argument=name, name=name, location=location, style=style, **changes)


def operation(*parameters, path="/r", method="GET", **changes):
    changes.setdefault("server", Server(url="https://api.example.com/v1"))
    return OperationBinding(method=method, path=path, parameters=parameters, **changes)


def build(binding, **arguments):
    return build_request(binding, arguments)


def headers_of(request):
    return {name: text for name, text in request.headers if name not in ("Accept", "Accept-Encoding", "User-Agent")}


def rules(binding, **arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        build(binding, **arguments)
    return [(finding.rule, finding.path) for finding in caught.value.diagnostics]


# --- the path -----------------------------------------------------------------------------------------


def test_the_path_is_appended_to_the_server_and_every_expression_is_replaced_in_one_pass():
    binding = operation(parameter("a", "path"), parameter("ab", "path"), path="/{a}/x y/{ab}")
    assert build(binding, a="{ab}", ab="{a}").url == "https://api.example.com/v1/%7Bab%7D/x%20y/%7Ba%7D"


def test_one_slash_stands_between_server_and_path():
    assert build(operation(path="/a/", server=Server(url="https://h/v1/"))).url == "https://h/v1/a/"


def test_a_value_stays_in_its_segment():
    binding = operation(parameter("id", "path"), path="/r/{id}/detail")
    assert build(binding, id="a/b?c#d").url.endswith("/r/a%2Fb%3Fc%23d/detail")


@pytest.mark.parametrize("value", ["..", ".", "../x", "a/../b", "a\\..\\b", "x/."])
def test_a_value_that_would_climb_is_refused(value):
    assert rules(operation(parameter("id", "path"), path="/r/{id}"), id=value) == [("argument.dot_segment", "/id")]


@pytest.mark.parametrize("value", ["%2e%2e", "%2E", "a%2f..%2fb"])
def test_an_encoded_climb_is_refused_where_triplets_stay(value):
    binding = operation(parameter("id", "path", allow_reserved=True), path="/r/{id}")
    assert rules(binding, id=value) == [("argument.dot_segment", "/id")]


def test_values_that_climb_together_are_refused():
    binding = operation(parameter("a", "path"), parameter("b", "path", style="label"), path="/r/{a}{b}")
    assert rules(binding, a="", b="x") == [("argument.empty_path", "/a")]
    dots = operation(parameter("ext", "path"), path="/r/.{ext}")
    assert build(dots, ext="a").url.endswith("/r/.a")
    both = operation(parameter("a", "path"), parameter("b", "path"), path="/r/{a}{b}")
    assert ("argument.dot_segment", "/a") in rules(both, a=".", b=".")
    label = operation(parameter("a", "path", style="label"), path="/r/{a}")
    assert rules(label, a="") == [("argument.dot_segment", "/a")]


@pytest.mark.parametrize("value", ["", None, [], {}, [None]])
def test_nothing_in_the_path_is_refused(value):
    """`DELETE /r/` is another operation than `DELETE /r/{id}`."""
    assert rules(operation(parameter("id", "path"), path="/r/{id}"), id=value) == [("argument.empty_path", "/id")]


@pytest.mark.parametrize("value", ["a\nb", "a\r\nb", "\x00", ["a", "b\n"], {"k": "\r"}])
def test_line_breaks_in_the_path_are_refused(value):
    assert rules(operation(parameter("id", "path"), path="/r/{id}"), id=value) == [
        ("argument.control_character", "/id")
    ]


def test_a_query_in_the_template_comes_first_and_a_fragment_is_not_sent():
    binding = operation(parameter("q", "query"), path="/r?action=list#second")
    assert build(binding, q="x").url == "https://api.example.com/v1/r?action=list&q=x"


# --- the query ----------------------------------------------------------------------------------------


def test_parameters_follow_each_other_and_the_undefined_are_left_out():
    binding = operation(*(parameter(name, "query", explode=True) for name in ("a", "b", "c", "d")))
    assert urlsplit(build(binding, a="x y", c=["1", "2"], d=None).url).query == "a=x%20y&c=1&c=2"


def test_names_are_encoded_too():
    assert urlsplit(build(operation(parameter("filter[a&b]", "query")), **{"filter[a&b]": "v"}).url).query == (
        "filter%5Ba%26b%5D=v"
    )


def test_a_content_parameter_is_json_in_one_value():
    binding = operation(parameter("where", "query", content_type="application/json"))
    assert urlsplit(build(binding, where={"a": 1}).url).query == "where=%7B%22a%22%3A1%7D"
    assert urlsplit(build(binding, where="x").url).query == "where=%22x%22"


def test_the_whole_query_can_be_one_value():
    form = operation(parameter("all", "querystring", content_type="application/x-www-form-urlencoded"))
    assert urlsplit(build(form, all={"a": "x y", "n": 1, "m": None}).url).query == "a=x+y&n=1"
    as_json = operation(parameter("all", "querystring", content_type="application/json"))
    assert urlsplit(build(as_json, all={"a": 1}).url).query == "%7B%22a%22%3A1%7D"
    assert urlsplit(build(form).url).query == ""


def test_a_content_parameter_in_the_path_and_in_a_cookie_is_one_value():
    where = {"argument": "a", "name": "a", "content_type": "application/json"}
    path = operation(ParameterBinding(location="path", **where), path="/r/{a}")
    assert build(path, a={"b": 1}).url.endswith("/r/%7B%22b%22%3A1%7D")
    assert rules(path) == [("argument.empty_path", "/a")]
    cookie = operation(ParameterBinding(location="cookie", **where))
    assert headers_of(build(cookie, a={"b": 1})) == {"Cookie": "a=%7B%22b%22%3A1%7D"}
    assert headers_of(build(cookie)) == headers_of(build(operation(parameter("X", "header")))) == {}


def test_a_line_break_in_the_query_is_data():
    assert urlsplit(build(operation(parameter("q", "query")), q="a\nb").url).query == "q=a%0Ab"


def test_reserved_characters_stay_but_start_no_other_parameter():
    binding = operation(parameter("q", "query", allow_reserved=True), parameter("z", "query"))
    assert urlsplit(build(binding, q="List(urn:x:1)/a@b&z=9#f", z="1").url).query == "q=List(urn:x:1)/a@b%26z=9%23f&z=1"


# --- headers and cookies ------------------------------------------------------------------------------


def test_headers_are_written_unencoded():
    """OpenAPI 3.2, appendix D."""
    binding = operation(
        parameter("X-Ids", "header"), parameter("X-Map", "header", explode=True), parameter("X-On", "header")
    )
    sent = headers_of(build(binding, **{"X-Ids": [1, 2], "X-Map": {"a": "x y"}, "X-On": True}))
    assert sent == {"X-Ids": "1,2", "X-Map": "a=x y", "X-On": "true"}


def test_json_in_a_header_is_ascii():
    binding = operation(parameter("X-F", "header", content_type="application/json"))
    assert headers_of(build(binding, **{"X-F": {"a": "é\n"}})) == {"X-F": '{"a":"\\u00e9\\n"}'}


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\n", "\x00", "a\x7f"])
def test_line_breaks_never_reach_a_header(value):
    assert rules(operation(parameter("X-Note", "header")), **{"X-Note": value}) == [
        ("argument.control_character", "/X-Note")
    ]


def test_white_space_around_a_header_value_is_refused_since_no_receiver_would_see_it():
    assert rules(operation(parameter("X-Note", "header")), **{"X-Note": " a"}) == [("argument.header", "/X-Note")]


@pytest.mark.parametrize("name", ["Accept", "content-type", "Authorization"])
def test_header_parameters_that_openapi_ignores_are_ignored(name):
    assert name not in headers_of(build(operation(parameter(name, "header")), **{name: "x"}))


@pytest.mark.parametrize("name", ["Host", "Content-Length", "transfer-encoding"])
def test_no_argument_frames_the_message(name):
    assert rules(operation(parameter(name, "header")), **{name: "x"}) == [("argument.header", f"/{name}")]


def test_cookies_share_one_field():
    binding = operation(
        parameter("marks", "cookie"), parameter("each", "cookie", explode=True), parameter("on", "cookie")
    )
    sent = headers_of(build(binding, marks=["a", "b"], each=["1", "2"], on=True))
    assert sent == {"Cookie": "marks=a,b; each=1; each=2; on=true"}


def test_a_cookie_value_starts_no_other_cookie():
    assert headers_of(build(operation(parameter("c", "cookie")), c="a; admin=1")) == {"Cookie": "c=a%3B%20admin%3D1"}


def test_reserved_characters_in_a_cookie_start_no_other_cookie():
    binding = operation(parameter("c", "cookie", allow_reserved=True))
    assert headers_of(build(binding, c="a/b=c; d")) == {"Cookie": "c=a/b=c%3B%20d"}


def test_style_cookie_encodes_nothing_and_refuses_what_would_need_it():
    """OpenAPI 3.2, "Style Values", cookie."""
    binding = operation(parameter("c", "cookie", style="cookie", explode=True))
    assert headers_of(build(binding, c={"a": "x%20y", "b": "1"})) == {"Cookie": "a=x%20y; b=1"}
    assert rules(binding, c="a; admin=1") == [("argument.cookie", "/c")]


# --- the rest -----------------------------------------------------------------------------------------


def test_all_faults_are_told_at_once():
    binding = operation(
        parameter("id", "path"),
        parameter("X-Note", "header"),
        path="/r/{id}",
        method="POST",
        body=BodyBinding(argument="body", media_type="application/octet-stream", kind="binary"),
    )
    assert rules(binding, id="..", **{"X-Note": "\n"}, body={"base64": "%"}) == [
        ("argument.dot_segment", "/id"),
        ("argument.control_character", "/X-Note"),
        ("argument.file", "/body/base64"),
    ]


def test_half_a_surrogate_pair_is_refused():
    body = BodyBinding(argument="body", media_type="application/json", kind="json")
    binding = operation(parameter("q", "query"), parameter("X-Note", "header"), method="POST", body=body)
    assert rules(binding, **{"q": "\ud800", "X-Note": "\ud800", "body": ["\ud800"]}) == [
        ("argument.text", "/q"),
        ("argument.text", "/X-Note"),
        ("argument.text", "/body"),
    ]


def test_a_url_that_nothing_would_take_is_refused():
    assert rules(operation(parameter("q", "query")), q="x" * 100_000) == [("argument.url_length", "")]


def test_an_operation_without_a_server_says_how_to_name_one():
    with pytest.raises(ServerUnknown) as caught:
        build(operation(server=None))
    assert "base_url" in caught.value.hints[0]


@pytest.mark.parametrize(
    "url",
    ["", "/v1", "api.example.com", "ftp://h", "http://", "http://[x", "http://h:99999", "http://h:p", "http://h:0"],
)
def test_a_server_address_that_cannot_be_called_is_told(url):
    with pytest.raises(ServerUnknown) as caught:
        build(operation(server=Server(url=url)))
    assert url in str(caught.value)


def test_a_user_in_a_server_address_is_refused_and_not_repeated():
    with pytest.raises(ServerUnknown) as caught:
        build(operation(server=Server(url="https://svc:p4ss@api.example.com/v1")))
    assert "https://***@api.example.com/v1" in str(caught.value)
    assert "p4ss" not in str(caught.value)


def test_json_is_asked_for_before_other_types():
    responses = (
        ResponseBinding(status="200", media_types=("application/xml", "application/vnd.x+json")),
        ResponseBinding(status="404", media_types=("text/plain",)),
    )
    accept = dict(build(operation(responses=responses)).headers)["Accept"]
    assert accept == "application/vnd.x+json, application/xml;q=0.9, */*;q=0.1"
    images = (ResponseBinding(status="default", media_types=("image/png",)),)
    assert dict(build(operation(responses=images)).headers)["Accept"] == "image/png, */*;q=0.1"
    assert dict(build(operation()).headers)["Accept"] == "application/json, */*;q=0.1"


def test_an_argument_takes_the_place_of_a_field_of_its_name():
    request = build_request(
        operation(parameter("User-Agent", "header")), {"User-Agent": "mine"}, forwarded=[("user-agent", "theirs")]
    )
    assert [text for name, text in request.headers if name.lower() == "user-agent"] == ["mine"]


def test_credentials_are_added_to_query_headers_and_cookies_and_the_public_url_has_none():
    draft = build(operation(parameter("c", "cookie"), parameter("q", "query")), c="1", q="x")
    presented = Presented(headers=(("X-Key", "h"),), query=(("key", "a+b/="),), cookies=(("s", "t"),), secrets=("h",))
    request = with_credentials(draft, presented)
    assert request.url == "https://api.example.com/v1/r?q=x&key=a%2Bb%2F%3D"
    assert request.public_url == "https://api.example.com/v1/r?q=x"
    assert headers_of(request) == {"X-Key": "h", "Cookie": "c=1; s=t"}
    assert "'h'" not in repr(request).replace("('X-Key', 'h')", "")


JSON_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(path=JSON_TEXT, query=JSON_TEXT, reserved=st.booleans())
def test_no_argument_leaves_its_place_and_the_library_sends_the_url_as_it_was_built(path, query, reserved):
    """Whatever the values: one segment, one parameter, and httpx2 normalises nothing."""
    binding = operation(
        parameter("id", "path", allow_reserved=reserved),
        parameter("q", "query", allow_reserved=reserved),
        path="/r/{id}/end",
    )
    try:
        url = build(binding, id=path, q=query).url
    except ArgumentsRefused:
        return
    parts = urlsplit(url)
    assert parts.path.split("/")[:3] == ["", "v1", "r"]
    assert parts.path.split("/")[4:] == ["end"]
    assert parts.fragment == ""
    assert len(parts.query.split("&")) == 1
    assert httpx2.URL(url).raw_path.decode("ascii") == url.removeprefix("https://api.example.com")
    if not reserved:
        assert unquote(parts.path.split("/")[3]) == path
        assert parse_qsl(parts.query, keep_blank_values=True) == [("q", query)]


@pytest.mark.parametrize("value", [[], {}])
def test_a_required_parameter_that_would_write_nothing_is_refused(value):
    """RFC 6570, section 2.3, has an empty list undefined, and the description asks for the parameter."""
    assert rules(operation(parameter("ids", "query", required=True)), ids=value) == [("argument.empty", "/ids")]
    assert build(operation(parameter("ids", "query")), ids=value).url == "https://api.example.com/v1/r"
