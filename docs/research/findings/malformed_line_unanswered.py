"""A line that is not JSON, or JSON that is no message, gets no answer by default; `on_stream_exception` sees it."""

from __future__ import annotations

import anyio
from common.memory import connect
from common.messages import request
from common.process import Process


async def observed() -> list[str]:
    seen: list[str] = []

    async def on_request(*_args: object) -> dict[str, object]:
        return {}

    async def on_stream_exception(error: Exception) -> None:
        seen.append(type(error).__name__)

    async with connect(on_request, on_stream_exception=on_stream_exception) as peer:
        await peer.send_error(ValueError("what the transport could not read"))
        await peer.ask(request(1, "ping"))
    return seen


def main() -> None:
    with Process() as server:
        server.write("this is not JSON", '{"jsonrpc":"2.0"}', "[]")
        answer = server.ask(request(1, "server/discover"))
        print(f"three lines that are no messages, then request 1: the first answer is to {answer['id']}")
    print(f"the dispatcher hands what it could not read to on_stream_exception: {anyio.run(observed)}")


if __name__ == "__main__":
    main()
