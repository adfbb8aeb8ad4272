"""The dispatcher starts a task for every request it reads: nothing bounds how many are open."""

from __future__ import annotations

import anyio
from common.memory import connect
from common.messages import request

COUNT = 2000


async def main() -> None:
    running = 0
    release = anyio.Event()
    all_running = anyio.Event()

    async def on_request(*_args: object) -> dict[str, object]:
        nonlocal running
        running += 1
        if running == COUNT:
            all_running.set()
        await release.wait()
        return {}

    async with connect(on_request) as peer:
        for number in range(COUNT):
            await peer.send(request(number, "ping"))
        await all_running.wait()
        print(f"{COUNT} requests sent, none answered: {running} are being handled at once")
        release.set()
        for _ in range(COUNT):
            await peer.receive()


if __name__ == "__main__":
    anyio.run(main)
