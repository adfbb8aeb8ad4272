"""The surface: what one server shows. Immutable, shared by all requests, and costly only once.

Everything that does not depend on the request is done here, on first use: the pages of ``tools/list`` and
the answer to ``server/discover`` are rendered and checked against the SDK's own model of the wire, and each
tool's validators are compiled when it is first called. Building a server from a surface then costs the
same with ten tools and with ten thousand.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_MODERN_VERSION

from discern_server.catalog import Catalog, ToolDefinition, thaw
from discern_server.handler import Handler
from discern_server.schema.validate import Validator, compile_validator

_CURSOR_PREFIX: Final = "after:"
DEFAULT_PAGE_SIZE: Final = 100


class Tool:
    """A definition with its handler and, once it has been called, its compiled validators."""

    def __init__(self, definition: ToolDefinition, handler: Handler) -> None:
        self.definition = definition
        self.handler = handler
        self.is_async = inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
            getattr(handler, "__call__", None)  # noqa: B004 - the method itself is asked for, not whether there is one
        )

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.definition.name

    @cached_property
    def input_schema(self) -> Mapping[str, Any]:
        """The ``inputSchema`` as plain JSON."""
        schema: Mapping[str, Any] = thaw(self.definition.input_schema)
        return schema

    @cached_property
    def arguments(self) -> Validator:
        """Validates the arguments of a call."""
        return compile_validator(self.definition.input_schema)

    @cached_property
    def output(self) -> Validator | None:
        """Validates a structured result; None where the definition has no ``outputSchema``."""
        schema = self.definition.output_schema
        return None if schema is None else compile_validator(schema)


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


@dataclass(frozen=True)
class Surface:
    """What a server is and shows.

    Attributes:
        name: The server's name, for programs.
        version: The server's own version.
        catalog: The definitions it serves.
        handlers: A handler for each definition, by tool name.
        title: The server's name, for people.
        description: What it is, in a sentence or two.
        instructions: What a model should know before it uses the tools.
        website_url: Where to read more.
        icons: MCP icon objects.
        cache: The caching hint of ``tools/list`` and ``server/discover``.
        page_size: How many definitions one page of ``tools/list`` holds.

    Raises:
        ValueError: A definition has no handler, or a handler no definition (both are named); a page size below 1.
    """

    name: str
    version: str
    catalog: Catalog
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    _: KW_ONLY
    title: str | None = None
    description: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    icons: Sequence[Mapping[str, Any]] = ()
    cache: CacheHint = field(default_factory=CacheHint)
    page_size: int = DEFAULT_PAGE_SIZE

    def __post_init__(self) -> None:
        """Copy what the caller could still change, and refuse a surface with a hole in it."""
        if self.page_size < 1:
            raise ValueError(f"page_size must be at least 1, got {self.page_size}")
        object.__setattr__(self, "handlers", MappingProxyType(dict(self.handlers)))
        object.__setattr__(self, "icons", tuple(MappingProxyType(dict(icon)) for icon in self.icons))
        without_handler = [name for name in self.catalog.names if name not in self.handlers]
        without_definition = [name for name in self.handlers if name not in self.catalog]
        if without_handler or without_definition:
            raise ValueError(_holes(without_handler, without_definition))

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, in the catalog's order."""
        return MappingProxyType(
            {definition.name: Tool(definition, self.handlers[definition.name]) for definition in self.catalog}
        )

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """The ``serverInfo`` that is stamped on every result."""
        return MappingProxyType(
            _without_none(
                {
                    "name": self.name,
                    "title": self.title,
                    "version": self.version,
                    "description": self.description,
                    "websiteUrl": self.website_url,
                    "icons": [dict(icon) for icon in self.icons] or None,
                }
            )
        )

    def input_schema(self, tool: str) -> Mapping[str, Any] | None:
        """The ``inputSchema`` of `tool`, or None: what the SDK asks for to check ``Mcp-Param-*`` headers."""
        found = self.tools.get(tool)
        return None if found is None else found.input_schema

    # --- the pages of tools/list ------------------------------------------------------------------

    @cached_property
    def pages(self) -> Sequence[Mapping[str, Any]]:
        """The pages of ``tools/list``, as results without their ``_meta``."""
        definitions = [thaw(definition.wire) for definition in self.catalog]
        starts = range(0, max(len(definitions), 1), self.page_size)
        pages = []
        for start in starts:
            page: dict[str, Any] = {"resultType": "complete", "tools": definitions[start : start + self.page_size]}
            if start + self.page_size < len(definitions):
                page["nextCursor"] = _cursor_after(definitions[start + self.page_size - 1]["name"])
            page["ttlMs"] = self.cache.ttl_ms
            page["cacheScope"] = self.cache.scope
            validate_server_result("tools/list", LATEST_MODERN_VERSION, page)
            pages.append(page)
        return tuple(pages)

    @cached_property
    def _page_by_cursor(self) -> Mapping[str, Mapping[str, Any]]:
        following = zip(self.pages, self.pages[1:], strict=False)
        return {page["nextCursor"]: next_page for page, next_page in following}

    def page(self, cursor: str | None) -> Mapping[str, Any] | None:
        """The page that `cursor` asks for, the first for None; None where there is no such page.

        A cursor names the last tool of the page before it, so that it stays good across processes and replicas
        that serve the same catalog. An empty string is a cursor like any other (server/utilities/pagination).
        """
        return self.pages[0] if cursor is None else self._page_by_cursor.get(cursor)


def _holes(without_handler: Sequence[str], without_definition: Sequence[str]) -> str:
    parts = []
    if without_handler:
        parts.append(f"no handler for {', '.join(without_handler)}")
    if without_definition:
        parts.append(f"no definition for {', '.join(without_definition)}")
    return f"{'; '.join(parts)}: each tool needs a definition in the catalog and a handler of the same name"


def _cursor_after(name: str) -> str:
    return base64.urlsafe_b64encode((_CURSOR_PREFIX + name).encode("utf-8")).decode("ascii")


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
