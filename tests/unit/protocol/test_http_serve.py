"""Running the app in a process of its own: addresses, and what is refused before anything listens."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from discern_server.catalog import Catalog
from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.http import HttpApp, http_app
from discern_server.protocol.http_serve import _listen, parse_address, serve_http
from discern_server.protocol.surface import Surface


def app(**options: object) -> HttpApp:
    return http_app(ServerFactory(Surface("s", "1", Catalog.of([]))), **options)


@pytest.mark.parametrize(
    ("address", "parsed"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("mcp.example.com:80", ("mcp.example.com", 80)),
        ("[::1]:0", ("::1", 0)),
        (":9000", ("127.0.0.1", 9000)),
        ("9000", ("127.0.0.1", 9000)),
    ],
)
def test_an_address_is_a_host_and_a_port(address, parsed):
    assert parse_address(address) == parsed


@pytest.mark.parametrize("address", ["", "localhost", "localhost:", "localhost:http", "localhost:65536", "a:-1", "a:٣"])
def test_what_is_no_address_is_told_how_one_is_written(address):
    with pytest.raises(ValueError, match="HOST:PORT"):
        parse_address(address)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "mcp.example.com"])
@pytest.mark.requirement(75)
def test_an_address_that_others_reach_needs_the_names_they_reach_it_by(host):
    with pytest.raises(ValueError, match="--allowed-host"):
        serve_http(app(), host, 0)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ImportError, match=r"discern-server\[http\]"):
        serve_http(app())


def test_a_connection_sends_what_is_written_at_once():
    """Else an answer on a kept connection waits 40 ms for a delayed acknowledgement: head and body are two writes."""
    with _listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_serving_over_stdio_imports_none_of_it():
    program = (
        "import discern_server.protocol.stdio, sys;"
        "print([name for name in sys.modules if name.startswith('discern_server.protocol.http')])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"
