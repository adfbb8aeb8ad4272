"""A description at a URL: the address that the user gave, and documents below its folder. Nothing else is asked for.

Over https only; plain http is taken for the machine itself, where descriptions of services under development are.
Redirects stay on the origin. What is fetched is bounded in size, time and number, and each fetch is logged.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from discern_server.sources.openapi.documents import MAX_BYTES, DocumentError, Opener, shorten

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

TIMEOUT_S: Final = 30.0
MAX_REDIRECTS: Final = 5
MAX_DOCUMENTS: Final = 500
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ACCEPT: Final = "application/openapi+json, application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5"


def is_url(document: str) -> bool:
    """Whether a document is named by URL rather than by path."""
    return document.startswith(("https://", "http://"))


def url_opener(url: str) -> Opener:
    """Opens `url`, and documents below the folder that it lies in.

    Raises:
        DocumentError: The URL is plain http, and not this machine's.
    """
    _check(url)
    folder = urljoin(url, ".")
    opened: set[str] = set()

    def open_url(uri: str) -> bytes:
        if uri != url and not uri.startswith(folder):
            raise DocumentError(
                uri, f"it does not lie below {folder}", fix="keep a copy of all documents and name the copy"
            )
        opened.add(uri)
        if len(opened) > MAX_DOCUMENTS:
            raise DocumentError(uri, f"the description has more than {MAX_DOCUMENTS} documents")
        return _fetch(uri)

    return open_url


def _check(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise DocumentError(url, "a description is fetched over https only", fix="write https://")


def _fetch(url: str) -> bytes:
    import httpx2

    logger.info("fetching %s", url)
    try:
        with httpx2.Client(timeout=TIMEOUT_S, follow_redirects=False) as client:
            for _ in range(MAX_REDIRECTS + 1):
                with client.stream("GET", url, headers={"Accept": _ACCEPT}) as response:
                    if not response.is_redirect:
                        return _read(url, response)
                    url = _redirected(url, response.headers.get("location", ""))
    except httpx2.HTTPError as error:
        raise DocumentError(url, f"it cannot be fetched: {str(error) or type(error).__name__}") from error
    raise DocumentError(url, f"it redirects more than {MAX_REDIRECTS} times")


def _redirected(url: str, location: str) -> str:
    try:
        target = urljoin(url, location)
        elsewhere = urlsplit(target)[:2] != urlsplit(url)[:2]
    except ValueError:  # brackets that do not match
        raise DocumentError(url, f"it redirects to {shorten(location)}, which is no URL") from None
    if elsewhere:
        raise DocumentError(url, f"it redirects to another origin: {target}", fix="name that address, if you trust it")
    return target


def _read(url: str, response: httpx2.Response) -> bytes:
    if response.status_code != HTTPStatus.OK:
        raise DocumentError(url, f"the server answers {response.status_code} {response.reason_phrase}".rstrip())
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            raise DocumentError(url, f"it is larger than {MAX_BYTES} bytes")
    return bytes(data)
