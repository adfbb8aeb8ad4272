"""Undoing content codings (RFC 9110, section 8.4), bounded, and whole or not at all.

The HTTP library would hand on what it made of content that ends early, and read the first of several gzip members
alone; here the first is an error and the second is read as RFC 1952, section 2.2, has it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

_GZIP: Final = 31
_ZLIB: Final = zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS
"""``wbits`` for the formats of gzip, zlib and bare deflate, which some servers send as ``deflate``."""

_ZLIB_HEADER: Final = 2
"""The bytes by which zlib's format is told from bare deflate (RFC 1950, section 2.2)."""
_MEMBER: Final = b"\x1f"

_FORMATS: Final = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}
_NONE: Final = frozenset({"", "identity"})


class CodingError(Exception):
    """Content that is not in the coding that it is said to be in, or in one that nobody asked for."""


class Decoder:
    """Undoes the codings of one message, chunk by chunk.

    Args:
        codings: As in Content-Encoding, in the order in which they were applied.
        most_bytes: How much is made of the content; one byte more tells that there is more.

    Raises:
        CodingError: One is not known.
    """

    def __init__(self, codings: Sequence[str], most_bytes: int) -> None:
        names = [name for coding in codings if (name := coding.strip().lower()) not in _NONE]
        unknown = next((name for name in names if name not in _FORMATS), None)
        if unknown is not None:
            raise CodingError(f"the content encoding {unknown!r} was not asked for")
        self._layers = [_Layer(_FORMATS[name], most_bytes + 1) for name in reversed(names)]

    def decode(self, chunk: bytes) -> bytes:
        """What `chunk` adds to the content.

        Raises:
            CodingError: It is broken.
        """
        for layer in self._layers:
            chunk = layer.decode(chunk)
        return chunk

    def finish(self) -> None:
        """See that the content is whole.

        Raises:
            CodingError: It ends early.
        """
        if not all(layer.is_whole for layer in self._layers):
            raise CodingError("the encoded content ends early")


class _Layer:
    """One coding."""

    def __init__(self, wbits: int, most_bytes: int) -> None:
        self._wbits = wbits
        self._left = most_bytes
        self._stream = zlib.decompressobj(wbits)
        self._head = b""

    @property
    def is_whole(self) -> bool:
        """Whether no stream is open; content without a single byte is whole, too."""
        return not self._head or self._stream.eof

    def decode(self, chunk: bytes) -> bytes:
        """What `chunk` stands for, up to what may be made."""
        made = bytearray()
        while chunk and self._left > 0:
            if self._stream.eof:
                if self._wbits != _GZIP or not chunk.startswith(_MEMBER):
                    break  # padding, which no reader minds
                self._stream = zlib.decompressobj(self._wbits)
            piece = self._decompress(chunk)
            self._left -= len(piece)
            made += piece
            chunk = self._stream.unused_data if self._stream.eof else b""
        return bytes(made)

    def _decompress(self, chunk: bytes) -> bytes:
        try:
            piece = self._stream.decompress(chunk, self._left)
        except zlib.error as error:
            if self._wbits != _ZLIB or len(self._head) >= _ZLIB_HEADER:
                raise CodingError(str(error)) from error
            self._wbits, self._stream = _RAW, zlib.decompressobj(_RAW)
            return self._decompress(self._head + chunk)
        self._head = (self._head + chunk)[:_ZLIB_HEADER]
        return piece
