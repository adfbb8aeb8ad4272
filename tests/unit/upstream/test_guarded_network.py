from __future__ import annotations

import httpx2
import pytest

from discern_server.upstream.binding import OperationBinding, Server
from discern_server.upstream.errors import AddressRefused, ConnectFailed
from discern_server.upstream.exchange import Exchange
from discern_server.upstream.limits import Limits
from discern_server.upstream.network import GuardedBackend, is_public, resolve
from discern_server.upstream.request import build_request
from tests.unit.upstream.server import drop, reply, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)
def test_other_addresses_are_not_public_in_any_spelling(address):
    """RFC 6890's special-purpose registries, and IPv4 addresses inside IPv6 ones."""
    assert not is_public(address)


def request(url):
    return build_request(OperationBinding(method="GET", path="/j", server=Server(url=url, guarded=True)), {})


async def send(url, backend=None):
    async with Exchange(backend=backend) as exchange:
        return await exchange.send(request(url), Limits())


def resolving(*addresses):
    async def find(host, port):
        return list(addresses)

    return find


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]"])
async def test_a_guarded_server_on_this_machine_is_refused_before_a_connection(host):
    with serving() as server, pytest.raises(AddressRefused) as caught:
        await send(f"http://{host}:{server.server_address[1]}")
    assert not server.arrived.is_set()
    assert server.seen == []
    assert (caught.value.method, caught.value.url is not None) == ("GET", True)
    assert "base_url" in caught.value.hints[0]


@pytest.mark.parametrize(
    "host",
    [
        "10.0.0.1",
        "169.254.169.254",
        "127.1",
        "0x7f.1",
        "2130706433",
        "[::1]",
        "localhost",
        "api.localhost",
        "LOCALHOST.",
        "127.0.0.1.",
    ],
)
async def test_a_name_that_is_an_address_is_refused_whatever_carries_the_request(host):
    carried = []

    def carry(sent):
        carried.append(sent)
        return httpx2.Response(200)

    async with Exchange(transport=httpx2.MockTransport(carry)) as exchange:
        with pytest.raises(AddressRefused):
            await exchange.send(request(f"http://{host}/v1"), Limits())
        assert carried == []
        for public in ("8.8.8.8", "[2606:4700::1111]", "api.example.com", "localhost.example.com"):
            await exchange.send(request(f"http://{public}/v1"), Limits())
    assert len(carried) == 4


async def test_one_address_that_is_not_public_refuses_the_name():
    with pytest.raises(AddressRefused) as caught:
        await send("http://api.example.com", GuardedBackend(resolving("8.8.8.8", "10.0.0.1")))
    assert (caught.value.host, caught.value.address) == ("api.example.com", "10.0.0.1")


async def test_the_connection_goes_to_the_checked_address_and_the_name_is_not_resolved_again():
    """A name that only the given resolver knows is reached, once per connection."""
    asked = []

    async def find(host, port):
        asked.append(host)
        return ["127.0.0.1"]

    backend = GuardedBackend(find, permits=lambda address: address == "127.0.0.1")
    with serving(reply(body='{"a":1}')) as server:
        answer = await send(f"http://api.invalid:{server.server_address[1]}", backend)
    assert (answer.status, answer.body) == (200, b'{"a":1}')
    assert asked == ["api.invalid"]
    assert server.seen[0].header("Host") == f"api.invalid:{server.server_address[1]}"


async def test_the_next_address_is_tried_where_one_does_not_answer():
    with serving() as server:
        backend = GuardedBackend(resolving("127.0.0.2", "127.0.0.1"), permits=lambda _: True)
        assert (await send(f"http://api.invalid:{server.server_address[1]}", backend)).status == 200


async def test_what_the_network_says_is_told_for_guarded_servers_too():
    with pytest.raises(ConnectFailed, match="no address"):
        await send("http://api.invalid", GuardedBackend(resolving(), permits=lambda _: True))
    with pytest.raises(ConnectFailed, match=r"api\.invalid: "):
        await send("http://api.invalid")
    with serving(drop) as server:
        backend = GuardedBackend(resolving("127.0.0.1"), permits=lambda _: True)
        with pytest.raises(Exception, match="broke"):
            await send(f"http://api.invalid:{server.server_address[1]}", backend)


async def test_a_name_is_resolved_by_the_system():
    assert "127.0.0.1" in await resolve("localhost", 80)


async def test_no_socket_of_this_machine_can_be_named():
    with pytest.raises(AddressRefused):
        await GuardedBackend().connect_unix_socket("/run/docker.sock")
