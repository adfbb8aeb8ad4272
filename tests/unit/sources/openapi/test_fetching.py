"""Descriptions at a URL: what is fetched, and what is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from discern_server.project import OpenApiSource
from discern_server.sources import SourceError
from discern_server.sources.openapi import fetching
from discern_server.sources.openapi.source import OpenApi
from tests.unit.sources.openapi.descriptions import describe

OK = {"responses": {"200": {"description": "ok"}}}


@dataclass
class Site:
    """Pages by path: their bytes, or where they redirect to."""

    url: str = ""
    pages: dict[str, bytes | str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            page = found.pages.get(self.path)
            self.send_response(404 if page is None else 302 if isinstance(page, str) else 200)
            if isinstance(page, str):
                self.send_header("Location", page)
            self.end_headers()
            if isinstance(page, bytes):
                self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def page(document: object) -> bytes:
    return json.dumps(document).encode()


def source(site: Site, path: str = "/api/openapi.json") -> OpenApi:
    return OpenApi(OpenApiSource(document=site.url + path), Path("/nowhere"))


def test_a_description_and_what_lies_below_its_folder_is_fetched_once_each(site: Site):
    site.pages["/api/openapi.json"] = page(describe({"/a": {"$ref": "parts/a.json"}, "/b": {"$ref": "parts/a.json"}}))
    site.pages["/api/parts/a.json"] = page({"get": OK})
    found = source(site)
    assert [definition.name for definition in found.definitions()] == ["get_a", "get_b"]
    assert site.asked == ["/api/openapi.json", "/api/parts/a.json"]


def test_relative_servers_are_where_the_description_is_and_guarded(site: Site):
    site.pages["/api/openapi.json"] = page(describe({"/a": {"get": OK}}, servers=[{"url": "v1"}]))
    (tool,) = source(site).loaded.toolset.tools
    assert tool.binding.server is not None
    assert tool.binding.server.url == f"{site.url}/api/v1"
    assert tool.binding.server.guarded


@pytest.mark.parametrize(
    "reference", ["../secret.json", "/secret.json", "http://127.0.0.1:9/x.json", "file:///etc/hosts"]
)
def test_what_lies_elsewhere_is_not_asked_for(site: Site, reference: str):
    site.pages["/api/openapi.json"] = page(describe({"/a": {"$ref": reference}, "/b": {"get": OK}}))
    found = source(site)
    assert [definition.name for definition in found.definitions()] == ["get_b"]
    assert found.findings()[0].rule == "openapi.refused"
    assert site.asked == ["/api/openapi.json"]


def test_redirects_stay_on_the_origin(site: Site):
    site.pages["/old.json"] = "/api/openapi.json"
    site.pages["/api/openapi.json"] = page(describe({"/a": {"get": OK}}))
    assert len(source(site, "/old.json").definitions()) == 1
    site.pages["/away.json"] = "http://127.0.0.1:9/openapi.json"
    with pytest.raises(SourceError, match="another origin"):
        source(site, "/away.json").definitions()
    site.pages["/loop.json"] = "/loop.json"
    with pytest.raises(SourceError, match="redirects more than"):
        source(site, "/loop.json").definitions()
    site.pages["/odd.json"] = "http://["
    with pytest.raises(SourceError, match="which is no URL"):
        source(site, "/odd.json").definitions()


def test_what_cannot_be_had_says_why(site: Site, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(SourceError, match="404"):
        source(site).definitions()
    monkeypatch.setattr(fetching, "MAX_BYTES", 100)
    site.pages["/api/openapi.json"] = b" " * 101
    with pytest.raises(SourceError, match="larger than 100 bytes"):
        source(site).definitions()
    gone = Site(url="http://127.0.0.1:9")
    with pytest.raises(SourceError, match="cannot be fetched"):
        source(gone).definitions()
