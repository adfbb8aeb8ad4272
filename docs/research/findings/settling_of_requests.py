"""`on_request_unanswered` is called for cancelled requests alone; what is given up at the end gets -32000."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from common.memory import connect
from common.messages import notification, outcome, request
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

DONE, FAILS, CANCELLED, OPEN = 1, 2, 3, 4


async def main() -> None:
    unanswered: list[int] = []
    waiting = anyio.Event()

    async def on_request(_dctx: Any, method: str, _params: Mapping[str, Any] | None) -> dict[str, Any]:
        if method == "wait":
            waiting.set()
            await anyio.sleep_forever()
        if method == "fail":
            raise MCPError(code=-32603, message="failed")
        return {}

    def metadata(request_id: int) -> ServerMessageMetadata:
        async def on_unanswered() -> None:
            unanswered.append(request_id)

        return ServerMessageMetadata(on_request_unanswered=on_unanswered)

    async with connect(on_request) as peer:
        for request_id, method in ((DONE, "do"), (FAILS, "fail")):
            await peer.send(request(request_id, method), metadata(request_id))
            print(f"request {request_id}: {outcome(await peer.receive())}")
        await peer.send(request(CANCELLED, "wait"), metadata(CANCELLED))
        await waiting.wait()
        await peer.send(notification("notifications/cancelled", requestId=CANCELLED))
        await peer.send(request(OPEN, "wait"), metadata(OPEN))
        await anyio.wait_all_tasks_blocked()
        print(f"request {CANCELLED}, cancelled: no answer")
        peer.end_input()
        last = await peer.receive()
        print(f"request {last['id']}, open at the end of the input: {outcome(last)}")
    print(f"on_request_unanswered was called for {unanswered}")


if __name__ == "__main__":
    anyio.run(main)
