"""Telling clients what changed (basic/patterns/subscriptions): the bus, and the streams that listen to it.

A client opens a stream with ``subscriptions/listen`` and says which changes it wants. Whoever makes a change publishes
it on `Subscriptions`, which the factory shares among all servers. The streams outlive the server that was built for
their request, so whatever serves a client holds them, as `ListeningStreams`, and ends them when that client leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionBus,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, SubscriptionsListenRequestParams, SubscriptionsListenResult

from discern_server.protocol.surface import Surface

MAX_RESOURCES: Final = 1024
"""How many resources one stream may listen to: each is looked up among the templates before the stream opens."""


class Subscriptions:
    """Publishes changes to the clients that listen.

    Args:
        bus: Carries the events; None carries them within this process. Give one over a broker to reach the
            clients of all replicas (``mcp.server.subscriptions.SubscriptionBus``).
        max_streams: How many streams may be open at once, of all clients; further ones are refused.
    """

    def __init__(self, bus: SubscriptionBus | None = None, *, max_streams: int = 1024) -> None:
        self._bus: SubscriptionBus = InMemorySubscriptionBus() if bus is None else bus
        self._max_streams = max_streams
        self._open = 0
        self._groups: WeakSet[ListeningStreams] = WeakSet()

    async def tools_changed(self) -> None:
        """The list of tools is another one now."""
        await self._bus.publish(ToolsListChanged())

    async def prompts_changed(self) -> None:
        """The list of prompts is another one now."""
        await self._bus.publish(PromptsListChanged())

    async def resources_changed(self) -> None:
        """The list of resources is another one now."""
        await self._bus.publish(ResourcesListChanged())

    async def resource_updated(self, uri: str) -> None:
        """The resource at `uri` has another content now."""
        await self._bus.publish(ResourceUpdated(uri=uri))

    def close(self) -> None:
        """End all streams of all clients: each is answered, which tells its client that it ended on purpose."""
        for streams in list(self._groups):
            streams.close()

    def streams(self) -> ListeningStreams:
        """A new group of streams, none of them open yet: those of one client, or of one app."""
        streams = ListeningStreams(self, ListenHandler(self._bus, max_subscriptions=self._max_streams))
        self._groups.add(streams)
        return streams

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Hold one of the places.

        Raises:
            MCPError: -32603: all are taken.
        """
        if self._open >= self._max_streams:
            message = f"All {self._max_streams} streams that the server keeps open are taken; try again later"
            raise MCPError(code=INTERNAL_ERROR, message=message)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


class ListeningStreams:
    """Streams that end together; made by `Subscriptions.streams`."""

    def __init__(self, subscriptions: Subscriptions, handler: ListenHandler) -> None:
        self._subscriptions = subscriptions
        self._handler = handler
        self._shut = False
        self._client_left = False

    async def listen(
        self, surface: Surface, sdk: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream, to its end.

        Of the resources that are asked for, those are listened to and acknowledged that the caller could read from
        `surface`: one that is hidden from it is left out just as one that is not there.

        Raises:
            MCPError: -32602 for more than `MAX_RESOURCES` of them; -32603 where too many streams are open, or
                no more of them are to be.
        """
        if self._shut:
            raise MCPError(code=INTERNAL_ERROR, message="The server is about to end, and opens no further streams")
        asked = params.notifications.resource_subscriptions or []
        if len(asked) > MAX_RESOURCES:
            message = f"A stream listens to {MAX_RESOURCES} resources at most, not {len(asked)}: open several"
            raise MCPError(code=INVALID_PARAMS, message=message)
        readable = [uri for uri in asked if surface.find_resource(uri) is not None]
        notifications = params.notifications.model_copy(update={"resource_subscriptions": readable})
        with self._subscriptions.counted():
            params = params.model_copy(update={"notifications": notifications})
            if not self._client_left:
                return await self._handler(sdk, params)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._close_soon)
                ended = await self._handler(sdk, params)
            return ended  # noqa: RET504 - to mypy a task group may swallow what happens in it

    def close(self) -> None:
        """End those that are open: each is answered, which tells its client that it ended on purpose."""
        self._handler.close()

    def shut(self) -> None:
        """End those that are open, and refuse further ones: also those whose request was read but not yet served."""
        self._shut = True
        self.close()

    def client_left(self) -> None:
        """End those that are open, and each whose request was read before that, once it is acknowledged."""
        self._client_left = True
        self.close()

    async def _close_soon(self) -> None:
        """A task, so that it runs when the stream that is opened beside it is there to be closed."""
        self.close()
