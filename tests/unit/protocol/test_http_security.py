"""Hosts and origins: what is allowed by default, and entries that could never match."""

from __future__ import annotations

import pytest

from discern_server.protocol.http_security import host_and_origin_check


def test_loopback_alone_is_allowed_by_default():
    settings = host_and_origin_check(None, None).settings
    assert settings.enable_dns_rebinding_protection
    assert set(settings.allowed_hosts) == {
        *("127.0.0.1", "localhost", "[::1]"),
        *("127.0.0.1:*", "localhost:*", "[::1]:*"),
    }
    assert all(origin.startswith("http://") for origin in settings.allowed_origins)


def test_named_hosts_replace_loopback_and_leave_no_origin():
    settings = host_and_origin_check(["mcp.example.com"], None).settings
    assert (settings.allowed_hosts, settings.allowed_origins) == (["mcp.example.com"], [])


def test_every_entry_that_could_never_match_is_named():
    with pytest.raises(ValueError, match=r"'https://a\.example'.*'\*'.*'a\.example'.*'https://a\.example/x'"):
        host_and_origin_check(["https://a.example", "*", "b.example:*"], ["a.example", "https://a.example/x"])
