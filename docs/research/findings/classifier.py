"""`classify_inbound_request`, rung by rung: the first that fails decides the code."""

from __future__ import annotations

from typing import Any

from common.messages import CAPABILITIES_KEY, CLIENT_KEY, ENVELOPE, LEGACY, MODERN, VERSION_KEY
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in ENVELOPE.items() if key not in keys}


WHOLE = dict(ENVELOPE)
HEADERS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "echo"}

CASES: dict[str, tuple[Any, dict[str, str] | None]] = {
    "params null": (None, None),
    "no _meta": ({}, None),
    "_meta is a list": ({"_meta": []}, None),
    "no version": ({"_meta": without(VERSION_KEY)}, None),
    "no capabilities": ({"_meta": without(CAPABILITIES_KEY)}, None),
    "neither": ({"_meta": {}}, None),
    "version is a number": ({"_meta": {**WHOLE, VERSION_KEY: 1}}, None),
    "version is legacy": ({"_meta": {**WHOLE, VERSION_KEY: LEGACY}}, None),
    "version is unknown": ({"_meta": {**WHOLE, VERSION_KEY: "2099-01-01"}}, None),
    "no client": ({"_meta": without(CLIENT_KEY)}, None),
    "capabilities are a string": ({"_meta": {**WHOLE, CAPABILITIES_KEY: "all"}}, None),
    "whole": ({"_meta": WHOLE}, None),
    "whole, headers agree": ({"_meta": WHOLE, "name": "echo"}, HEADERS),
    "whole, no version header": ({"_meta": WHOLE, "name": "echo"}, HEADERS | {"mcp-protocol-version": ""}),
    "whole, other method header": ({"_meta": WHOLE, "name": "echo"}, HEADERS | {"mcp-method": "tools/list"}),
    "whole, other name header": ({"_meta": WHOLE, "name": "echo"}, HEADERS | {"mcp-name": "other"}),
    "unknown version, other header": ({"_meta": {**WHOLE, VERSION_KEY: "2099-01-01"}, "name": "echo"}, HEADERS),
}


def main() -> None:
    for name, (params, headers) in CASES.items():
        found = classify_inbound_request({"method": "tools/call", "params": params}, headers=headers)
        if isinstance(found, InboundModernRoute):
            print(f"{name}: route {found.protocol_version}, client {found.client_info}")
        else:
            print(f"{name}: {found.code}, {found.message}, data {found.data}")


if __name__ == "__main__":
    main()
