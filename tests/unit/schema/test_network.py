"""References into the network: what is fetched, and what is refused. A server on loopback plays the public one."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from discern_server.schema.errors import UnresolvableError
from discern_server.schema.network import NetworkResolver, is_public
from discern_server.schema.normalize import normalize

PUBLIC = "93.184.215.14"
DOCUMENT = b'{"type": "string"}'


def answer(body: bytes = DOCUMENT, *, status: str = "200 OK", **headers: str) -> bytes:
    fields = {"Content-Length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + body


class Server:
    """Answers each connection with the next of `answers`, and keeps what it was asked."""

    def __init__(self, answers: list[bytes], context: ssl.SSLContext | None = None) -> None:
        self._answers = answers
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(10)
        self.released = threading.Event()
        self.ran_dry = threading.Event()
        self.requests: list[bytes] = []
        self.dialled: list[tuple[str, int]] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        for content in self._answers:
            with contextlib.suppress(OSError), self._listener.accept()[0] as plain:
                plain.settimeout(10)
                connection = self._context.wrap_socket(plain, server_side=True) if self._context else plain
                self.requests.append(connection.recv(65536))
                connection.sendall(content)
                if content.endswith(b"..."):
                    self._drip(connection)
                connection.close()

    def _drip(self, connection: socket.socket) -> None:
        for _ in range(6000):
            if self.released.wait(0.01):
                return
            connection.sendall(b".")
        self.ran_dry.set()

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialled.append((address, port))
        return socket.create_connection(self._listener.getsockname(), timeout=timeout_s)

    def close(self) -> None:
        self.released.set()
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*answers: bytes, context: ssl.SSLContext | None = None) -> Server:
        servers.append(Server(list(answers), context))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def standing_for(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(addresses)


def resolver(server: Server | None = None, **options: Any) -> NetworkResolver:
    def nobody(address: str, port: int, timeout_s: float) -> socket.socket:
        raise AssertionError(f"connected to {address}:{port}")

    defaults: dict[str, Any] = {
        "schemes": ["http"],
        "lookup": standing_for(PUBLIC),
        "dial": server.dial if server else nobody,
        "timeout_s": 10.0,
    }
    return NetworkResolver(["example.com"], **{**defaults, **options})


def refusal(resolve: NetworkResolver, uri: str) -> str:
    with pytest.raises(UnresolvableError) as caught:
        resolve(uri)
    return caught.value.reason


def test_a_document_is_fetched_from_the_very_address_that_was_looked_at(serve, caplog):
    server = serve(answer())
    caplog.set_level(logging.INFO)
    assert resolver(server)("http://example.com/a/b.json?key=secret") == {"type": "string"}
    assert server.dialled == [(PUBLIC, 80)]
    request = server.requests[0].decode()
    assert request.startswith("GET /a/b.json?key=secret HTTP/1.1\r\nHost: example.com\r\n")
    (record,) = caplog.records
    assert record.message.startswith(f"fetched http://example.com/a/b.json from {PUBLIC}: status 200, 18 bytes, ")


def test_it_serves_the_normaliser(serve):
    server = serve(answer())
    result = normalize({"items": {"$ref": "http://example.com/text.json#"}}, resolve=resolver(server))
    assert result == {"items": {"$ref": "#/$defs/text"}, "$defs": {"text": {"type": "string"}}}


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("http://other.com/x", "is on a host that is not on the list"),
        ("http://example.com.evil.com/x", "is on a host that is not on the list"),
        ("http://example.com:8080/x", "is on a host that is not on the list"),
        ("http://example.com@evil.com/x", "holds a user name or password"),
        ("http://user:word@example.com/x", "holds a user name or password"),
        ("https://example.com/x", "is not fetched over https"),
        ("ftp://example.com/x", "is not fetched over ftp"),
        ("file:///etc/hosts", "is not fetched over file"),
        ("x", "is not fetched over no scheme"),
        ("http://example.com:x/", "is no URL"),
        ("http://[1/", "is no URL"),
    ],
)
def test_what_was_not_allowed_is_never_asked(uri, reason):
    assert refusal(resolver(), uri).startswith(reason)


def test_only_https_is_fetched_unless_told_otherwise():
    resolve = NetworkResolver(["example.com"], lookup=standing_for(PUBLIC))
    assert refusal(resolve, "http://example.com/x").startswith("is not fetched over http")


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
        ),
        *(
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%eth0",
        ),
        *(
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "2001:db8::1",
        ),
        *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "::127.0.0.1", "nonsense"),
    ],
)
def test_a_name_that_stands_for_an_address_that_is_not_public_is_refused(address):
    assert not is_public(address)
    reason = refusal(resolver(lookup=standing_for(PUBLIC, address)), "http://example.com/x")
    assert reason == "is on the host example.com, which is not on the public network"


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_a_public_address_is_public(address):
    assert is_public(address)


def test_a_name_that_stands_for_nothing_is_refused():
    assert "not on the public network" in refusal(resolver(lookup=standing_for()), "http://example.com/x")

    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror("no such host")

    assert "no such host" in refusal(resolver(lookup=unknown), "http://example.com/x")


def test_the_next_address_is_tried_where_one_does_not_answer(serve):
    server = serve(answer())

    def dial(address: str, port: int, timeout_s: float) -> socket.socket:
        if address == PUBLIC:
            raise ConnectionRefusedError("refused")
        return server.dial(address, port, timeout_s)

    resolve = resolver(server, lookup=standing_for(PUBLIC, "1.1.1.1"), dial=dial)
    assert resolve("http://example.com/x") == {"type": "string"}
    assert server.dialled == [("1.1.1.1", 80)]
    assert "refused" in refusal(resolver(dial=dial), "http://example.com/x")


def test_a_redirect_on_the_same_host_is_followed(serve):
    server = serve(answer(b"", status="302 Found", Location="../c.json"), answer())
    assert resolver(server)("http://example.com/a/b.json") == {"type": "string"}
    assert server.requests[1].startswith(b"GET /c.json HTTP/1.1")


@pytest.mark.parametrize(
    "target", ["http://evil.com/x", "https://example.com/x", "http://example.com:81/x", "//127.0.0.1/x"]
)
def test_a_redirect_to_another_host_port_or_scheme_is_refused(serve, target):
    server = serve(answer(b"", status="301 Moved", Location=target))
    assert refusal(resolver(server), "http://example.com/x").startswith("is redirected to another host")
    assert len(server.requests) == 1


def test_redirects_end(serve):
    server = serve(*[answer(b"", status="307 Again", Location="/x")] * 3)
    assert refusal(resolver(server, max_redirects=2), "http://example.com/x").startswith(
        "is redirected more than 2 times"
    )
    assert len(server.requests) == 3


def test_an_answer_that_is_no_document_is_refused(serve):
    assert "status 404" in refusal(resolver(serve(answer(status="404 Not Found"))), "http://example.com/x")
    assert "compressed" in refusal(resolver(serve(answer(Content_Encoding="gzip"))), "http://example.com/x")
    assert "cannot be understood" in refusal(resolver(serve(answer(b"<html>"))), "http://example.com/x")
    assert "cannot be fetched" in refusal(resolver(serve(b"SSH-2.0-OpenSSH\r\n")), "http://example.com/x")


def test_an_answer_larger_than_allowed_is_refused_whether_it_says_so_or_not(serve):
    large = b" " * 2000
    assert "larger than 1000" in refusal(resolver(serve(answer(large)), max_bytes=1000), "http://example.com/x")
    silent = serve(b"HTTP/1.1 200 OK\r\n\r\n" + large)
    assert "larger than 1000" in refusal(resolver(silent, max_bytes=1000), "http://example.com/x")


@pytest.mark.parametrize("unfinished", [b"HTTP/1.1 200 OK\r\nX: ...", b"HTTP/1.1 200 OK\r\n\r\n..."])
def test_an_answer_that_drips_without_end_is_given_up(serve, unfinished):
    server = serve(unfinished)
    assert "took more than 0.2 seconds" in refusal(resolver(server, timeout_s=0.2), "http://example.com/x")
    assert not server.ran_dry.is_set()


def test_a_name_that_is_not_resolved_in_time_is_given_up():
    asked = threading.Event()

    def silent(host: str, port: int) -> list[str]:
        asked.wait(10)
        return []

    assert "took more than 0.1 seconds" in refusal(resolver(lookup=silent, timeout_s=0.1), "http://example.com/x")
    asked.set()


# --- https ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certified(tmp_path_factory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server that is example.com, and of a client that trusts it."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "example.com")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("example.com")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(secret + certificate.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=certificate.public_bytes(pem).decode())


def test_https_speaks_to_the_name_over_the_address_that_was_looked_at(serve, certified):
    server = serve(answer(), context=certified[0])
    resolve = resolver(server, schemes=["https"], context=certified[1])
    assert resolve("https://example.com/x") == {"type": "string"}
    assert server.dialled == [(PUBLIC, 443)]


def test_an_encrypted_answer_that_drips_without_end_is_given_up(serve, certified):
    server = serve(b"HTTP/1.1 200 OK\r\n\r\n...", context=certified[0])
    resolve = resolver(server, schemes=["https"], context=certified[1], timeout_s=0.5)
    assert "took more than 0.5 seconds" in refusal(resolve, "https://example.com/x")
    assert not server.ran_dry.is_set()


def test_a_handshake_that_drips_without_end_is_given_up(serve, certified):
    """A TLS record that announces 16 KiB and sends them one by one."""
    server = serve(b"\x16\x03\x03\x3f\xff...")
    resolve = resolver(server, schemes=["https"], context=certified[1], timeout_s=0.3)
    assert "took more than 0.3 seconds" in refusal(resolve, "https://example.com/x")
    assert not server.ran_dry.is_set()


def test_a_server_that_cannot_prove_its_name_is_refused(serve, certified):
    server = serve(answer(), context=certified[0])
    assert "CERTIFICATE_VERIFY_FAILED" in refusal(resolver(server, schemes=["https"]), "https://example.com/x")
