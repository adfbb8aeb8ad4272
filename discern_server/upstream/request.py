"""From a binding and arguments to the exact HTTP request: pure functions, nothing is sent here.

`build_request` writes the arguments; `with_credentials` adds what `security` decided to present. The request
keeps its URL without credentials beside the real one, and the secrets it carries, so that whatever is
said of it later can be said without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from discern_server.handler import ABSENT
from discern_server.upstream.binding import OperationBinding, ParameterBinding
from discern_server.upstream.bodies import Body, write_body
from discern_server.upstream.errors import ArgumentsRefused, ServerUnknown
from discern_server.upstream.findings import ArgumentError
from discern_server.upstream.media import is_json
from discern_server.upstream.parameters import (
    IGNORED_HEADERS,
    cookie_pieces,
    header_text,
    path_text,
    query_pieces,
    querystring_pieces,
)
from discern_server.upstream.percent import encode, encode_literal, is_dot_segment

Header: TypeAlias = tuple[str, str]

USER_AGENT: Final = f"discern-server/{version('discern-server')}"

_LONGEST_URL: Final = 60_000
_USER: Final = re.compile(r"//[^/?#]*@")
_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """One HTTP request as it goes out.

    Attributes:
        method: The method.
        url: The absolute URL.
        headers: The header fields in order, without Host and Content-Length, which follow from the rest.
        body: The body, or None where there is none.
        public_url: The URL without credentials, for people and logs.
        guarded: Whether a server address that is not public is refused.
        secrets: The credentials in it, to be masked wherever it is shown.
    """

    method: str
    url: str
    headers: tuple[Header, ...]
    body: bytes | None
    public_url: str
    guarded: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """What is presented to the API to be let in.

    Attributes:
        headers: Header fields.
        query: Query parameters, not encoded.
        cookies: Cookies, as they go out.
        secrets: Every text in these that is to be masked.
    """

    headers: tuple[Header, ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)


def build_request(
    binding: OperationBinding, arguments: Mapping[str, Any], *, forwarded: Sequence[Header] = ()
) -> UpstreamRequest:
    """The request for `arguments`, which keep the tool's schema; credentials are not in it yet.

    Args:
        binding: Which argument goes where.
        arguments: The tool's arguments.
        forwarded: Fields of the inbound request that the configuration lets through.

    Raises:
        ArgumentsRefused: Arguments that cannot be written, all of them.
        ServerUnknown: The binding has no server, or one that is not `callable_url`.
    """
    if binding.server is None:
        raise ServerUnknown(method=binding.method, url=binding.path)
    if not callable_url(binding.server.url):
        raise ServerUnknown(server=_USER.sub("//***@", binding.server.url), method=binding.method, url=binding.path)
    draft = _Draft()
    for parameter in binding.parameters:
        draft.write(parameter, arguments.get(parameter.argument, ABSENT))
    body = draft.write_body(binding, arguments)
    target = draft.target(binding)
    url = binding.server.url.rstrip("/") + target
    if len(url) > _LONGEST_URL:
        message = f"the URL would have {len(url)} characters; {_LONGEST_URL} is the most that can be sent"
        draft.faults.append(ArgumentError("url_length", (), message, "shorten what goes into the path or the query"))
    if draft.faults:
        findings = tuple(fault.diagnostic for fault in draft.faults)
        raise ArgumentsRefused(findings=findings, method=binding.method, url=binding.server.url + binding.path)
    return UpstreamRequest(
        method=binding.method,
        url=url,
        headers=tuple(_headers(binding, draft, body, forwarded)),
        body=None if body is None else body.data,
        public_url=url,
        guarded=binding.server.guarded,
    )


def callable_url(url: str) -> bool:
    """Whether `url` is absolute, http or https, with a host and a possible port, and names no user."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:  # brackets that do not match, a port that is none
        return False


def with_credentials(request: UpstreamRequest, presented: Presented) -> UpstreamRequest:
    """`request` with what is presented; a field that is presented takes the place of one with its name."""
    taken = {name.lower() for name, _ in presented.headers}
    kept = [(name, text) for name, text in request.headers if name.lower() not in taken]
    cookies = [f"{name}={text}" for name, text in presented.cookies]
    return replace(
        request,
        url=_with_query(request.url, [f"{encode(name)}={encode(text)}" for name, text in presented.query]),
        headers=(*_with_cookies(kept, cookies), *presented.headers),
        secrets=presented.secrets,
    )


class _Draft:
    """What has been written so far, place by place, and what could not be."""

    def __init__(self) -> None:
        self.path: dict[str, tuple[str, str]] = {}
        self.query: list[str] = []
        self.headers: list[Header] = []
        self.cookies: list[str] = []
        self.faults: list[ArgumentError] = []

    def write(self, parameter: ParameterBinding, value: Any) -> None:
        """Write one parameter, `ABSENT` where the argument is not there, or note why it cannot be."""
        try:
            self._write(parameter, value)
        except ArgumentError as fault:
            self.faults.append(fault)
        except UnicodeEncodeError:
            self.faults.append(_lone_surrogate(parameter.argument))

    def _write(self, parameter: ParameterBinding, value: Any) -> None:
        match parameter.location:
            case "path":
                self.path[parameter.name] = (parameter.argument, path_text(parameter, value))
            case "query":
                self.query += _needed(parameter, query_pieces(parameter, value))
            case "querystring":
                self.query += querystring_pieces(parameter, value)
            case "cookie":
                self.cookies += _needed(parameter, cookie_pieces(parameter, value))
            case "header" if parameter.name.lower() not in IGNORED_HEADERS:
                text = header_text(parameter, value)
                if text is not None:
                    text.encode("utf-8")
                    self.headers.append((parameter.name, text))

    def write_body(self, binding: OperationBinding, arguments: Mapping[str, Any]) -> Body | None:
        """Write the body, or note why it cannot be; None where its argument is absent."""
        if binding.body is None or binding.body.argument not in arguments:
            return None
        try:
            return write_body(binding.body, arguments[binding.body.argument])
        except ArgumentError as fault:
            self.faults.append(fault)
        except UnicodeEncodeError:
            self.faults.append(_lone_surrogate(binding.body.argument))
        return None

    def target(self, binding: OperationBinding) -> str:
        """The template expanded in one pass, with the query; a template's own query comes first.

        A fragment in a template tells operations apart in some descriptions; it is never sent (RFC 3986, section 3.5).
        """
        template, _, _ = binding.path.partition("#")
        path, _, own_query = template.partition("?")
        expanded = self._expand(path)
        is_whole = all(name in self.path for name in _EXPRESSION.findall(path))
        if is_whole and any(is_dot_segment(written) for written in expanded.split("/")):
            message = "with this value the path would lead elsewhere: a segment is . or .."
            self.faults += [ArgumentError("dot_segment", (argument,), message) for argument, _ in self.path.values()]
        return _with_query(expanded, [self._expand(own_query)] if own_query else [], self.query)

    def _expand(self, template: str) -> str:
        pieces = _EXPRESSION.split(template)  # the expressions' names stand at odd places
        return "".join(
            self.path.get(piece, ("", ""))[1] if index % 2 else encode_literal(piece)
            for index, piece in enumerate(pieces)
        )


def _needed(parameter: ParameterBinding, pieces: list[str]) -> list[str]:
    """`pieces`, of which a required parameter has to have some: an empty array or object writes nothing."""
    if parameter.required and not pieces:
        message = f"{parameter.name} is required, and an empty value writes nothing"
        raise ArgumentError("empty", (parameter.argument,), message, "give at least one item")
    return pieces


def _headers(binding: OperationBinding, draft: _Draft, body: Body | None, forwarded: Sequence[Header]) -> list[Header]:
    own = [("Accept", _accept(binding)), ("Accept-Encoding", "gzip, deflate"), ("User-Agent", USER_AGENT)]
    if body is not None:
        own.append(("Content-Type", body.content_type))
    set_by_arguments = {name.lower() for name, _ in draft.headers}
    kept = [(name, text) for name, text in (*own, *forwarded) if name.lower() not in set_by_arguments]
    return _with_cookies([*kept, *draft.headers], draft.cookies)


def _accept(binding: OperationBinding) -> str:
    """The media types that a success is described with, JSON before others; anything else comes last."""
    successes = [response for response in binding.responses if response.status.startswith("2")]
    successes = successes or [response for response in binding.responses if response.status == "default"]
    described = dict.fromkeys(media_type for response in successes for media_type in response.media_types)
    first = [media_type for media_type in described if is_json(media_type)]
    rest = [media_type for media_type in described if not is_json(media_type) and media_type != "*/*"]
    if not described:
        first = ["application/json"]
    weight = ";q=0.9" if first else ""
    return ", ".join([*first, *(media_type + weight for media_type in rest), "*/*;q=0.1"])


def _with_cookies(headers: Sequence[Header], cookies: Sequence[str]) -> list[Header]:
    """`headers` with `cookies` in one Cookie field, after those that are there (RFC 6265, section 5.4)."""
    if not cookies:
        return list(headers)
    earlier = [text for name, text in headers if name.lower() == "cookie"]
    others = [(name, text) for name, text in headers if name.lower() != "cookie"]
    return [*others, ("Cookie", "; ".join([*earlier, *cookies]))]


def _with_query(url: str, *pieces: Sequence[str]) -> str:
    query = "&".join(piece for group in pieces for piece in group)
    if not query:
        return url
    return f"{url}&{query}" if "?" in url else f"{url}?{query}"


def _lone_surrogate(argument: str) -> ArgumentError:
    return ArgumentError("text", (argument,), "the text holds half of a surrogate pair and cannot be written as UTF-8")
