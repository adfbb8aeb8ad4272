"""The key ring: what is refused before anything is served, and how that is told without telling a key."""

from __future__ import annotations

import pytest

from discern_server.protocol.factory import ServerFactory
from discern_server.protocol.state_keys import StateKeysError, key_ring
from discern_server.protocol.surface import Surface

GOOD = "an-unspoken-key-of-thirty-six-letters"


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (["tooshort"], "state_keys: key 1 has 8 bytes; a key is 32 bytes or more"),
        ([GOOD, b"", GOOD.upper(), "x" * 31], "state_keys: key 2 has 0 bytes; key 4 has 31 bytes; a key is 32 bytes"),
        ([GOOD, GOOD.encode()], "state_keys: key 2 is the same as key 1; a key is"),
        ([], "state_keys: there is no key in it; a key is"),
    ],
    ids=["short", "several", "twice", "none"],
)
def test_every_key_that_cannot_seal_is_told_by_its_place_and_none_is_repeated(keys, told):
    with pytest.raises(StateKeysError) as refused:
        key_ring(keys)
    assert str(refused.value).startswith(told)
    assert "secrets.token_hex(32)" in str(refused.value)
    for secret in ("tooshort", GOOD, "xxx"):
        assert secret not in str(refused.value)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (GOOD, "not one key"),
        (GOOD.encode(), "not one key"),
        ([GOOD, 32], "key 2 is of the type int, not bytes or text"),
        ([None], "key 1 is of the type NoneType"),
    ],
)
def test_what_is_no_list_of_keys_is_refused_and_not_repeated(keys, told):
    with pytest.raises(TypeError, match=told) as refused:
        key_ring(keys)
    assert GOOD not in str(refused.value)


def test_a_text_counts_by_its_bytes_and_the_order_is_kept():
    assert key_ring([bytearray(GOOD.encode()), "ä" * 16]) == (GOOD.encode(), "ä".encode() * 16)


def test_without_keys_and_without_the_variable_there_is_no_ring():
    assert key_ring(None, {}) == ()


@pytest.mark.parametrize(("value", "told"), [("short " + GOOD, "key 1 has 5 bytes"), ("  ", "there is no key")])
def test_the_variable_is_checked_in_the_same_way_and_named(value, told):
    with pytest.raises(StateKeysError, match=f"DISCERN_STATE_KEYS: {told}"):
        key_ring(None, {"DISCERN_STATE_KEYS": value})
    assert key_ring([GOOD], {"DISCERN_STATE_KEYS": value}) == (GOOD.encode(),)


def test_a_factory_is_not_made_with_keys_that_cannot_seal(monkeypatch):
    with pytest.raises(StateKeysError, match="key 1 has 5 bytes"):
        ServerFactory(Surface("s", "1"), state_keys=["short"])
    monkeypatch.setenv("DISCERN_STATE_KEYS", "short")
    with pytest.raises(StateKeysError, match="DISCERN_STATE_KEYS: key 1 has 5 bytes"):
        ServerFactory(Surface("s", "1"))
