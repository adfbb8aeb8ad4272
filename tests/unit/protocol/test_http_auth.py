"""The bearer gate's settings: what could never work is refused when they are made."""

from __future__ import annotations

import pytest

from discern_server.protocol.http_auth import BearerAuth


class NoTokens:
    async def verify_token(self, token):
        return None


def auth(**options: object) -> BearerAuth:
    settings = {
        "verifier": NoTokens(),
        "resource_url": "https://mcp.example.com/mcp",
        "authorization_servers": ["https://login.example.com"],
    }
    return BearerAuth(**(settings | options))


def test_the_metadata_is_below_the_root_of_the_host():
    assert auth().metadata_url == "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
    assert [route.path for route in auth().metadata_routes()] == ["/.well-known/oauth-protected-resource/mcp"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"resource_url": "mcp.example.com"}, "'mcp.example.com' is no URL"),
        ({"authorization_servers": ["login"]}, "'login' is no URL"),
        ({"authorization_servers": []}, "at least one issuer"),
        ({"required_scopes": ["a b"]}, "'a b' is no scope"),
        ({"scopes_supported": ['"']}, "is no scope"),
    ],
)
def test_a_setting_that_could_never_work_is_refused(options, told):
    with pytest.raises(ValueError, match=told):
        auth(**options)
