"""`Server.run` serves whichever era the client opens with, in silence, and refuses the other one from then on."""

from __future__ import annotations

from common.messages import LEGACY, MODERN, initialize, legacy_request, outcome, request
from common.process import converse


def main() -> None:
    handshake, modern = converse([initialize(1), request(2, "server/discover")])
    print(f"opened with initialize: {outcome(handshake)}, revision {handshake['result']['protocolVersion']}")
    print(f"  then a modern request: {outcome(modern)}")

    discovered, handshake, bare = converse([request(1, "server/discover"), initialize(2), legacy_request(3, "ping")])
    print(f"opened with a modern request: {outcome(discovered)}")
    print(f"  then initialize: {outcome(handshake)}, data {handshake['error']['data']}")
    print(f"  then a request without the envelope: {outcome(bare)}")
    versions = discovered["result"]["supportedVersions"]
    print(f"supportedVersions names {versions}: the era it also serves ({LEGACY}) is not in it: {versions == [MODERN]}")


if __name__ == "__main__":
    main()
