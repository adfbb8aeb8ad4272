"""The key ring that seals ``requestState``, checked before anything is served: its faults must not wait for a client.

No message repeats a key, or a part of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

STATE_KEYS_VARIABLE: Final = "DISCERN_STATE_KEYS"
MIN_KEY_BYTES: Final = 32
_MEND: Final = (
    f"a key is {MIN_KEY_BYTES} bytes or more of secret randomness, as printed by "
    "python -c 'import secrets; print(secrets.token_hex(32))'"
)


class StateKeysError(ValueError):
    """Keys that cannot seal; every faulty one is told by its place, counted from 1."""


def key_ring(
    keys: Sequence[bytes | bytearray | str] | None, environment: Mapping[str, str] = os.environ
) -> tuple[bytes, ...]:
    """The keys as bytes, the first of which seals; none where there are neither `keys` nor ``DISCERN_STATE_KEYS``.

    Args:
        keys: As `ServerFactory` takes them; a text counts by its UTF-8 bytes.
        environment: Where the variable is looked up if `keys` is None.

    Raises:
        StateKeysError: A key is too short or there twice; or `keys`, or the variable, is there and empty.
        TypeError: `keys` is one key instead of a list of keys, or one of them is neither bytes nor text.
    """
    if keys is None:
        if STATE_KEYS_VARIABLE not in environment:
            return ()
        keys, where = environment[STATE_KEYS_VARIABLE].split(), STATE_KEYS_VARIABLE
    else:
        where = "state_keys"
    if isinstance(keys, bytes | bytearray | str):
        raise TypeError(f"{where} is a list of keys, not one key: write [key]")
    for place, key in enumerate(keys, 1):
        if not isinstance(key, bytes | bytearray | str):
            raise TypeError(f"{where}: key {place} is of the type {type(key).__name__}, not bytes or text")
    ring = tuple(key.encode() if isinstance(key, str) else bytes(key) for key in keys)
    faults = list(_faults(ring))
    if faults:
        raise StateKeysError(f"{where}: {'; '.join(faults)}; {_MEND}")
    return ring


def _faults(ring: Sequence[bytes]) -> Iterator[str]:
    if not ring:
        yield "there is no key in it"
    for place, key in enumerate(ring, 1):
        if len(key) < MIN_KEY_BYTES:
            yield f"key {place} has {len(key)} bytes"
        elif ring.index(key) < place - 1:
            yield f"key {place} is the same as key {ring.index(key) + 1}"
