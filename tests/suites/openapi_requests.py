"""Compares requests with what a case expects of them: the README of the cases, "Request"."""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")


@dataclass(frozen=True)
class Sent:
    """One request as the stub transport saw it."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at: float

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def holds(self, secret: str) -> bool:
        """Whether a text occurs anywhere in it."""
        head = "\n".join([self.url, *(f"{name}: {value}" for name, value in self.headers)])
        return secret in head or secret.encode() in self.body


def differences(expected: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    """How `sent` is not what a case expects."""
    if "method" in expected and sent.method != expected["method"]:
        yield f"method is {sent.method}, not {expected['method']}"
    urls = [expected["url"]] if "url" in expected else []
    urls += expected.get("url_any", [])
    if urls and normal_url(sent.url) not in [normal_url(url) for url in urls]:
        yield f"url is {sent.url}, not {' or '.join(urls)}"
    yield from _header_differences(expected, sent)
    if "content_type" in expected:
        given = (sent.header("Content-Type") or "").partition(";")[0].strip().lower()
        if given != expected["content_type"].lower():
            yield f"content type is {given!r}, not {expected['content_type']!r}"
    if "body" in expected:
        yield from _body_differences(expected["body"], sent)


def _header_differences(expected: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    alternatives = {name.lower(): values for name, values in expected.get("headers_any", {}).items()}
    wanted = {name: [value] for name, value in expected.get("headers", {}).items()}
    for name, values in {**{name: [] for name in expected.get("headers_any", {})}, **wanted}.items():
        right = [*values, *alternatives.get(name.lower(), [])]
        if sent.header(name) not in right:
            yield f"header {name} is {sent.header(name)!r}, not {' or '.join(map(repr, right))}"
    for name in expected.get("absent_headers", []):
        if sent.header(name) is not None:
            yield f"header {name} is there: {sent.header(name)!r}"


# --- URLs -------------------------------------------------------------------------------------------


def normal_url(url: str) -> tuple[str, str, str, dict[str, list[str | None]]]:
    """Scheme, authority, path, and query values by name; escapes normalised (RFC 3986, section 6.2.2)."""
    parts = urlsplit(url)
    query: dict[str, list[str | None]] = defaultdict(list)
    for pair in parts.query.split("&") if parts.query else []:
        name, equals, value = pair.partition("=")
        query[_normal(name)].append(_normal(value) if equals else None)
    return parts.scheme.lower(), parts.netloc.lower(), _normal(parts.path), dict(query)


def _normal(text: str) -> str:
    def unescape(match: re.Match[str]) -> str:
        char = chr(int(match[1], 16))
        return char if char in UNRESERVED else match[0].upper()

    return _ESCAPE.sub(unescape, text)


# --- bodies -----------------------------------------------------------------------------------------


def _body_differences(expected: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    if expected.get("none"):
        if sent.body:
            yield f"there is a body: {sent.body[:200]!r}"
        return
    if "json" in expected:
        yield from _json_differences(expected["json"], sent)
    for text in expected.get("json_text_contains", []):
        if text not in sent.body.decode("utf-8", "replace"):
            yield f"the body does not hold {text!r}: {sent.body[:300]!r}"
    if "text" in expected and _decoded(sent) != expected["text"]:
        yield f"the body is {_decoded(sent)!r}, not {expected['text']!r}"
    if "base64" in expected and sent.body != base64.b64decode(expected["base64"]):
        yield f"the body is {sent.body[:200]!r}, not base64 {expected['base64']!r}"
    if "form" in expected:
        yield from _form_differences(expected, sent)
    if "multipart" in expected:
        yield from _multipart_differences(expected["multipart"], sent)


def _json_differences(expected: Any, sent: Sent) -> Iterator[str]:
    try:
        found = json.loads(sent.body)
    except ValueError:
        yield f"the body is no JSON: {sent.body[:200]!r}"
        return
    if not same(found, expected):
        yield f"the body is {found!r}, not {expected!r}"


def same(one: Any, other: Any) -> bool:
    """Equality as JSON has it: 1 and true are not the same, 1 and 1.0 are."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(type(one) is type(other) or {type(one), type(other)} <= {int, float}) and one == other


def _decoded(sent: Sent) -> str:
    found = re.search(r'charset="?([^";]+)', sent.header("Content-Type") or "", re.IGNORECASE)
    return sent.body.decode(found[1] if found else "utf-8", "replace")


def _form_differences(expected: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    as_json = set(expected.get("form_json_fields", []))
    found = parse_qsl(sent.body.decode("ascii", "replace"), keep_blank_values=True)
    try:
        read = [(name, json.loads(value) if name in as_json else value) for name, value in found]
    except ValueError:
        yield f"a field is no JSON: {found!r}"
        return
    if not _same_by_name(read, [(name, value) for name, value in expected["form"]]):
        yield f"the form is {read!r}, not {expected['form']!r}"


def _same_by_name(found: Sequence[tuple[str, Any]], expected: Sequence[tuple[str, Any]]) -> bool:
    def by_name(pairs: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
        groups: dict[str, list[Any]] = defaultdict(list)
        for name, value in pairs:
            groups[name].append(value)
        return dict(groups)

    return same(by_name(found), by_name(expected))


# --- multipart --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One part of a multipart body."""

    name: str
    filename: str | None
    content_type: str | None
    data: bytes


def parts_of(sent: Sent) -> list[Part]:
    """The parts of a multipart body (RFC 2046, section 5.1; RFC 7578).

    Raises:
        ValueError: It is none.
    """
    boundary = re.search(r'boundary="?([^";]+)', sent.header("Content-Type") or "")
    if boundary is None:
        raise ValueError("the Content-Type has no boundary")
    first, *chunks = (b"\r\n" + sent.body).split(b"\r\n--" + boundary[1].encode())
    if first or not chunks or not chunks[-1].startswith(b"--"):
        raise ValueError("the body is not delimited by its boundary")
    return [_part(chunk.removeprefix(b"\r\n")) for chunk in chunks[:-1]]


def _part(chunk: bytes) -> Part:
    head, separator, data = (b"\r\n" + chunk).partition(b"\r\n\r\n")
    if not separator:
        raise ValueError(f"a part has no blank line after its header: {chunk[:80]!r}")
    lines = (line.partition(":") for line in head.decode("utf-8").split("\r\n") if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in lines}
    disposition = headers.get("content-disposition", "")
    name = re.search(r'[; ]name="((?:[^"\\]|\\.)*)"', disposition)
    filename = re.search(r'filename="((?:[^"\\]|\\.)*)"', disposition)
    return Part(name[1] if name else "", filename[1] if filename else None, headers.get("content-type"), data)


def _multipart_differences(expected: Sequence[Mapping[str, Any]], sent: Sent) -> Iterator[str]:
    try:
        found = parts_of(sent)
    except ValueError as error:
        yield f"the body is no multipart: {error}"
        return
    names = {part.name for part in found} | {part["name"] for part in expected}
    for name in sorted(names):
        have = [part for part in found if part.name == name]
        want = [part for part in expected if part["name"] == name]
        if len(have) != len(want):
            yield f"there are {len(have)} parts named {name!r}, not {len(want)}"
            continue
        for part, wanted in zip(have, want, strict=True):
            yield from (f"part {name!r}: {difference}" for difference in _part_differences(wanted, part))


def _part_differences(expected: Mapping[str, Any], part: Part) -> Iterator[str]:
    if "text" in expected and part.data.decode("utf-8", "replace") != expected["text"]:
        yield f"it is {part.data!r}, not {expected['text']!r}"
    if "base64" in expected and part.data != base64.b64decode(expected["base64"]):
        yield f"it is {part.data[:80]!r}, not base64 {expected['base64']!r}"
    if "json" in expected:
        try:
            found = json.loads(part.data)
        except ValueError:
            yield f"it is no JSON: {part.data[:80]!r}"
        else:
            if not same(found, expected["json"]):
                yield f"it is {found!r}, not {expected['json']!r}"
    if "content_type" in expected:
        given = (part.content_type or "").partition(";")[0].strip().lower()
        if given != expected["content_type"].lower():
            yield f"its type is {given!r}, not {expected['content_type']!r}"
    if "has_filename" in expected and (part.filename is not None) != expected["has_filename"]:
        yield f"its filename is {part.filename!r}"
