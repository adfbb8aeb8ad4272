"""The dispatcher takes the id "5" for the id 5 when it correlates, by `int(id)`, unless that raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from common.memory import connect
from common.messages import notification, request


class ExactId(str):
    """A string id that refuses to be a number. Parsing makes it a plain string, so it is put in afterwards."""

    __slots__ = ()

    def __int__(self) -> int:
        raise ValueError


async def cancelled_by(request_id: str | int, cancels: str | int) -> bool:
    """Whether a request with `request_id` is cancelled by a notification that names `cancels`."""
    cancelled = False

    async def on_request(_dctx: Any, _method: str, _params: Mapping[str, Any] | None) -> dict[str, Any]:
        nonlocal cancelled
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled = True
            raise
        raise AssertionError

    async with connect(on_request) as peer:
        await peer.send(request(request_id, "wait"))
        await anyio.wait_all_tasks_blocked()
        await peer.send(notification("notifications/cancelled", requestId=cancels))
        await anyio.wait_all_tasks_blocked()
        return cancelled


async def main() -> None:
    for request_id, cancels in ((5, 5), (5, "5"), ("5", 5), (ExactId("5"), 5), (ExactId("5"), ExactId("5"))):
        kinds = f"{type(request_id).__name__} {request_id!r} by {type(cancels).__name__} {cancels!r}"
        print(f"{kinds}: cancelled {await cancelled_by(request_id, cancels)}")


if __name__ == "__main__":
    anyio.run(main)
