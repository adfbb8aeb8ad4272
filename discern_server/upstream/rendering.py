"""A request as a person sees it before it is sent: exact, with every credential masked."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from discern_server.upstream.redaction import Redactor
from discern_server.upstream.request import UpstreamRequest


def as_data(request: UpstreamRequest) -> dict[str, Any]:
    """The request as a JSON object: ``method``, ``url``, ``headers`` (pairs, in order) and, where there is one, a body.

    The body is ``body`` where it is UTF-8 text, ``body_base64`` otherwise. Host and Content-Length are among the
    headers.
    """
    mask = Redactor(request.secrets)
    data: dict[str, Any] = {
        "method": request.method,
        "url": mask.text(request.url),
        "headers": [[name, mask.text(text)] for name, text in _all_headers(request)],
    }
    if request.body is not None:
        try:
            data["body"] = mask.text(request.body.decode("utf-8"))
        except UnicodeDecodeError:
            data["body_base64"] = base64.b64encode(request.body).decode("ascii")
    return data


def as_text(request: UpstreamRequest) -> str:
    """The request as it stands on the wire (RFC 9112), a body that is not text told by its size."""
    data = as_data(request)
    url = urlsplit(data["url"])
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{name}: {text}" for name, text in data["headers"])]
    body = data.get("body")
    if request.body is not None and body is None:
        body = f"({len(request.body)} bytes that are not text)"
    return "\n".join(lines) + (f"\n\n{body}" if body else "")


def _all_headers(request: UpstreamRequest) -> list[tuple[str, str]]:
    host = urlsplit(request.url).netloc.rpartition("@")[2]
    headers = [("Host", host), *request.headers]
    if request.body is not None or request.method in ("POST", "PUT", "PATCH", "QUERY"):
        headers.append(("Content-Length", str(len(request.body or b""))))
    return headers
