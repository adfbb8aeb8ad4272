"""Telling clients what changed (basic/patterns/subscriptions): the bus, and the streams that listen to it.

A client opens a stream with ``subscriptions/listen`` and says which changes it wants. Whoever makes a change publishes
it here. The streams outlive the server that was built for their request, so they are kept by this object,
which the factory shares among all servers.
"""

from __future__ import annotations

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionBus,
    ToolsListChanged,
)


class Subscriptions:
    """Publishes changes to the clients that listen.

    Args:
        bus: Carries the events; None carries them within this process. Give one over a broker to reach the
            clients of all replicas (``mcp.server.subscriptions.SubscriptionBus``).
        max_streams: How many streams may be open at once; further ones are refused.
    """

    def __init__(self, bus: SubscriptionBus | None = None, *, max_streams: int = 1024) -> None:
        self._bus: SubscriptionBus = InMemorySubscriptionBus() if bus is None else bus
        self.listen = ListenHandler(self._bus, max_subscriptions=max_streams)

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
        """End all streams: each is answered, which tells its client that it ended on purpose."""
        self.listen.close()
