"""The pages of a list: rendered and checked once, found by an opaque cursor (server/utilities/pagination)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_MODERN_VERSION

_CURSOR_PREFIX: Final = "after:"


@dataclass(frozen=True, kw_only=True)
class CacheHint:
    """How long, and by whom, an answer may be kept (server/utilities/caching).

    Attributes:
        ttl_ms: Milliseconds for which the answer may be called fresh; 0 means not at all.
        scope: ``public`` only where nothing in the answer depends on who asks.
    """

    ttl_ms: int = 0
    scope: Literal["public", "private"] = "private"

    def __post_init__(self) -> None:
        """Refuse what a client could not read."""
        if self.ttl_ms < 0:
            raise ValueError(f"ttl_ms must be 0 or more, got {self.ttl_ms}")
        if self.scope not in ("public", "private"):
            raise ValueError(f'scope must be "public" or "private", got {self.scope!r}')

    @property
    def wire(self) -> dict[str, Any]:
        """The members that carry it in a result."""
        return {"ttlMs": self.ttl_ms, "cacheScope": self.scope}


class Pages:
    """The pages of one list method.

    A cursor names the last item of the page before, so that it stays good across processes and replicas
    that serve the same list. An empty string is a cursor like any other.

    Args:
        method: The list method, such as ``tools/list``.
        key: The member of the result that holds the items.
        items: The items as plain JSON, in order.
        identify: The identity of an item, unique in the list.
        cache: The caching hint on each page.
        size: How many items one page holds.
    """

    def __init__(
        self,
        method: str,
        key: str,
        items: Sequence[Mapping[str, Any]],
        *,
        identify: Callable[[Mapping[str, Any]], str],
        cache: CacheHint,
        size: int,
    ) -> None:
        self._pages: dict[str | None, Mapping[str, Any]] = {}
        cursor: str | None = None
        for start in range(0, max(len(items), 1), size):
            page: dict[str, Any] = {"resultType": "complete", key: list(items[start : start + size])}
            following = None
            if start + size < len(items):
                following = _cursor_after(identify(items[start + size - 1]))
                page["nextCursor"] = following
            page |= cache.wire
            validate_server_result(method, LATEST_MODERN_VERSION, page)
            self._pages[cursor] = page
            cursor = following

    def page(self, cursor: str | None) -> Mapping[str, Any] | None:
        """The page that `cursor` asks for, the first for None, as a result without its ``_meta``.

        None where the list never gave out such a cursor.
        """
        return self._pages.get(cursor)


def _cursor_after(identity: str) -> str:
    return base64.urlsafe_b64encode((_CURSOR_PREFIX + identity).encode("utf-8")).decode("ascii")
