"""Content codings: undone within bounds, and whole or not at all."""

from __future__ import annotations

import gzip
import zlib

import pytest

from discern_server.upstream.codings import CodingError, Decoder

TEXT = b'{"a": [1, 2, 3]}' * 100


def bare(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


def decoded(codings: list[str], content: bytes, *, size: int = 7, most_bytes: int = 1_000_000) -> bytes:
    decoder = Decoder(codings, most_bytes)
    made = b"".join(decoder.decode(content[start : start + size]) for start in range(0, len(content), size))
    decoder.finish()
    return made


@pytest.mark.parametrize(
    ("codings", "content"),
    [
        ([], TEXT),
        (["identity", ""], TEXT),
        (["gzip"], gzip.compress(TEXT)),
        ([" X-GZIP "], gzip.compress(TEXT)),
        (["deflate"], zlib.compress(TEXT)),
        (["deflate"], bare(TEXT)),
        (["deflate", "gzip"], gzip.compress(zlib.compress(TEXT))),
        (["gzip"], gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        (["gzip"], gzip.compress(TEXT) + bytes(20)),
    ],
    ids=["none", "identity", "gzip", "x-gzip", "deflate", "bare deflate", "two codings", "two members", "padding"],
)
@pytest.mark.parametrize("size", [1, 7, 1_000_000])
def test_content_comes_out_whatever_its_chunks(codings, content, size):
    """RFC 9110, section 8.4.1; RFC 1952, section 2.2, for members; bare deflate is what some servers send."""
    assert decoded(codings, content, size=size) == TEXT


def test_content_without_a_byte_is_whole():
    assert decoded(["gzip"], b"") == b""


@pytest.mark.parametrize("content", [gzip.compress(TEXT)[:-1], gzip.compress(TEXT)[:15], gzip.compress(TEXT) + b"\x1f"])
def test_content_that_ends_early_is_broken(content):
    with pytest.raises(CodingError):
        decoded(["gzip"], content)


@pytest.mark.parametrize(("codings", "content"), [(["gzip"], b"no gzip"), (["deflate"], b"no deflate"), (["br"], b"")])
def test_content_that_is_in_another_coding_is_broken(codings, content):
    with pytest.raises(CodingError):
        decoded(codings, content)


def test_no_more_is_made_than_is_asked_for():
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    assert len(Decoder(["gzip", "gzip"], 1000).decode(bomb)) <= 1001
