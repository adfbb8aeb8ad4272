"""The surface: what one server shows. Immutable, shared by all requests, and costly only once.

Everything that does not depend on the request is done here, on first use: the pages of each list are rendered
and checked against the SDK's own model of the wire, and each tool's validators are compiled when it is first
called. Building a server from a surface then costs the same with ten tools and with ten thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mcp.shared.inbound import x_mcp_header_map

from discern_server.catalog import Catalog, ToolDefinition, thaw
from discern_server.handler import Handler
from discern_server.protocol.pages import CacheHint, Pages
from discern_server.protocol.running import Runner
from discern_server.protocol.scopes import RequiredScopes
from discern_server.schema.validate import Validator, compile_validator

if TYPE_CHECKING:
    from discern_server.prompts import Prompt, PromptDefinition
    from discern_server.resources import Resource, ResourceTemplate

DEFAULT_PAGE_SIZE: Final = 100
_KEPT_VIEWS: Final = 64
CACHEABLE: Final = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
"""The methods whose results carry a caching hint (server/utilities/caching)."""


class Tool:
    """A definition with its handler and, once it has been called, its compiled validators."""

    def __init__(self, definition: ToolDefinition, handler: Handler) -> None:
        self.definition = definition
        self.runner = Runner(f"the handler of the tool {definition.name}", handler)

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.definition.name

    @cached_property
    def mirrored_schema(self) -> Mapping[str, Any] | None:
        """The ``inputSchema`` as plain JSON where it mirrors arguments into HTTP headers, else None."""
        schema: Mapping[str, Any] = thaw(self.definition.input_schema)
        return schema if x_mcp_header_map(schema) else None

    @cached_property
    def arguments(self) -> Validator:
        """Validates the arguments of a call."""
        return compile_validator(self.definition.input_schema)

    @cached_property
    def output(self) -> Validator | None:
        """Validates a structured result; None where the definition has no ``outputSchema``."""
        schema = self.definition.output_schema
        return None if schema is None else compile_validator(schema)


class PreparedPrompt:
    """A prompt whose handlers are ready to run."""

    def __init__(self, prompt: Prompt) -> None:
        self.definition: PromptDefinition = prompt.definition
        self.runner = Runner(f"the handler of the prompt {prompt.definition.name}", prompt.handler)
        self.completers = _completers(f"of the prompt {prompt.definition.name}", prompt.completions)


class Readable:
    """A resource whose handler is ready to run."""

    def __init__(self, what: str, handler: Handler, mime_type: str | None) -> None:
        self.mime_type = mime_type
        self.runner = Runner(f"the handler of the {what}", handler)


class PreparedTemplate(Readable):
    """A resource template that finds the variables of a URI."""

    def __init__(self, template: ResourceTemplate) -> None:
        # For surfaces that have templates alone.
        from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

        definition = template.definition
        super().__init__(f"template {definition.uri_template}", template.handler, definition.mime_type)
        self.completers = _completers(f"of the template {definition.uri_template}", template.completions)
        try:
            self._pattern = UriTemplate.parse(definition.uri_template)
        except InvalidUriTemplate as error:
            raise ValueError(f"the URI template {definition.uri_template!r} cannot be used: {error}") from None

    def match(self, uri: str) -> Mapping[str, Any] | None:
        """The variables of `uri`, or None where it is none of the template's."""
        return self._pattern.match(uri)


def _completers(what: str, completions: Mapping[str, Handler]) -> Mapping[str, Runner]:
    return {name: Runner(f"the completion of {name} {what}", handler) for name, handler in completions.items()}


@dataclass(frozen=True)
class Surface:
    """What a server is and shows.

    Attributes:
        name: The server's name, for programs.
        version: The server's own version.
        catalog: The tool definitions it serves.
        handlers: A handler for each definition, by tool name.
        prompts: The prompts it serves.
        resources: The resources it serves.
        templates: The resource templates it serves; the first that a URI fits reads it.
        title: The server's name, for people.
        description: What it is, in a sentence or two.
        instructions: What a model should know before it uses the tools.
        website_url: Where to read more.
        icons: MCP icon objects.
        cache: The caching hint of every answer that has one, or a hint for each method by name.
        page_size: How many items one page of a list holds.
        logging: Whether ``ctx.log`` sends log entries to clients that ask for them.
        required_scopes: What a caller's token needs to see and use single tools, prompts and resources.

    Raises:
        ValueError: A definition has no handler, or a handler no definition; two prompts or resources have the same
            name or URI; a template that cannot be parsed; a hint for a method that has none; a page size below 1;
            scopes for what is not there, or beside a public caching hint.
    """

    name: str
    version: str
    catalog: Catalog = field(default_factory=lambda: Catalog.of([]))
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    _: KW_ONLY
    prompts: Sequence[Prompt] = ()
    resources: Sequence[Resource] = ()
    templates: Sequence[ResourceTemplate] = ()
    title: str | None = None
    description: str | None = None
    instructions: str | None = None
    website_url: str | None = None
    icons: Sequence[Mapping[str, Any]] = ()
    cache: CacheHint | Mapping[str, CacheHint] = field(default_factory=CacheHint)
    page_size: int = DEFAULT_PAGE_SIZE
    logging: bool = False
    required_scopes: RequiredScopes = field(default_factory=RequiredScopes)

    def __post_init__(self) -> None:
        """Copy what the caller could still change, and refuse a surface with a hole in it."""
        if self.page_size < 1:
            raise ValueError(f"page_size must be at least 1, got {self.page_size}")
        set_field: Callable[[str, Any], None] = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        set_field("handlers", MappingProxyType(dict(self.handlers)))
        set_field("icons", tuple(MappingProxyType(dict(icon)) for icon in self.icons))
        for name in ("prompts", "resources", "templates"):
            set_field(name, tuple(getattr(self, name)))
        if isinstance(self.cache, Mapping):
            set_field("cache", MappingProxyType(dict(self.cache)))
            _refuse(sorted(set(self.cache) - CACHEABLE), "no caching hint can be given for")
        _refuse_holes(self.catalog.names, self.handlers)
        _refuse(_repeated(prompt.definition.name for prompt in self.prompts), "more than one prompt is named")
        _refuse(_repeated(resource.definition.uri for resource in self.resources), "more than one resource is at")
        _refuse(_repeated(t.definition.uri_template for t in self.templates), "more than one template is")
        _refuse(self.required_scopes.unknown(self._names()), "scopes are required for what is not there:")
        if self.required_scopes:
            public = [method for method in sorted(CACHEABLE) if self.cache_hint(method).scope == "public"]
            _refuse(public, "where scopes are required, what a caller sees is not public:")
        set_field("template_table", {t.definition.uri_template: PreparedTemplate(t) for t in self.templates})

    template_table: Mapping[str, PreparedTemplate] = field(init=False, repr=False, compare=False)
    """The templates by their URI template, in order; parsed at once, so that a faulty one is refused here."""

    def visible_to(self, granted: Collection[str]) -> Surface:
        """The surface as a caller with these scopes sees it; prepared once for all callers that see the same."""
        relevant = self.required_scopes.every.intersection(granted)
        if relevant == self.required_scopes.every:
            return self
        view = self._views.get(relevant)
        if view is None:
            if len(self._views) == _KEPT_VIEWS:  # a guard against more combinations than anyone deploys
                self._views.clear()
            view = self._views[relevant] = self._view(relevant)
        return view

    @cached_property
    def _views(self) -> dict[frozenset[str], Surface]:
        return {}

    def _view(self, granted: frozenset[str]) -> Surface:
        admits = self.required_scopes.admits
        tools = [definition for definition in self.catalog if admits("tools", definition.name, granted)]
        view = replace(
            self,
            catalog=Catalog.of(tools),
            handlers={definition.name: self.handlers[definition.name] for definition in tools},
            prompts=[prompt for prompt in self.prompts if admits("prompts", prompt.definition.name, granted)],
            resources=[found for found in self.resources if admits("resources", found.definition.uri, granted)],
            templates=[t for t in self.templates if admits("templates", t.definition.uri_template, granted)],
            required_scopes=RequiredScopes(),
        )
        # A template that is seen must not read what a resource or template before it hides.
        view.__dict__["_whole"] = self
        return view

    @cached_property
    def _whole(self) -> Surface:
        """The surface that this is a view of; itself where it is none."""
        return self

    def _names(self) -> Mapping[str, Collection[str]]:
        return {
            "tools": self.catalog.names,
            "prompts": [prompt.definition.name for prompt in self.prompts],
            "resources": [resource.definition.uri for resource in self.resources],
            "templates": [template.definition.uri_template for template in self.templates],
        }

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, in the catalog's order."""
        return MappingProxyType(
            {definition.name: Tool(definition, self.handlers[definition.name]) for definition in self.catalog}
        )

    @cached_property
    def prompt_table(self) -> Mapping[str, PreparedPrompt]:
        """The prompts by name."""
        return MappingProxyType({prompt.definition.name: PreparedPrompt(prompt) for prompt in self.prompts})

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

    @cached_property
    def methods(self) -> frozenset[str]:
        """The protocol's methods that something of it answers."""
        methods = ["tools/list", "tools/call"]
        if self.prompts:
            methods += ["prompts/list", "prompts/get"]
        if self.resources or self.templates:
            methods += ["resources/list", "resources/templates/list", "resources/read"]
        if any(prompt.completions for prompt in self.prompts) or any(t.completions for t in self.templates):
            methods += ["completion/complete"]
        return frozenset(methods)

    def cache_hint(self, method: str) -> CacheHint:
        """The caching hint of `method`."""
        return self.cache if isinstance(self.cache, CacheHint) else self.cache.get(method, CacheHint())

    def mirrored_schema(self, tool: str) -> Mapping[str, Any] | None:
        """What the SDK asks for to check ``Mcp-Param-*`` headers: None where `tool` mirrors no argument."""
        found = self.tools.get(tool)
        return None if found is None else found.mirrored_schema

    # --- resources --------------------------------------------------------------------------------

    @cached_property
    def _resource_table(self) -> Mapping[str, Readable]:
        return {
            resource.definition.uri: Readable(
                f"resource {resource.definition.uri}", resource.handler, resource.definition.mime_type
            )
            for resource in self.resources
        }

    def find_resource(self, uri: str) -> tuple[Readable, Mapping[str, Any]] | None:
        """What reads `uri`, with the variables of a template; None where nothing does."""
        if uri in self._whole._resource_table:  # noqa: SLF001 - another of this class
            exact = self._resource_table.get(uri)
            return None if exact is None else (exact, {})
        for name, template in self._whole.template_table.items():
            variables = template.match(uri)
            if variables is not None:
                seen = self.template_table.get(name)
                return None if seen is None else (seen, variables)
        return None

    # --- lists ------------------------------------------------------------------------------------

    def pages(self, method: str) -> Pages | None:
        """The pages of a list method; None for a method that lists nothing of this surface."""
        prepare = self._lists.get(method)
        return None if prepare is None else prepare()

    @cached_property
    def _lists(self) -> Mapping[str, Callable[[], Pages]]:
        lists = {"tools/list": lambda: self._tool_pages}
        if self.prompts:
            lists["prompts/list"] = lambda: self._prompt_pages
        if self.resources or self.templates:
            lists["resources/list"] = lambda: self._resource_pages
            lists["resources/templates/list"] = lambda: self._template_pages
        return lists

    @cached_property
    def _tool_pages(self) -> Pages:
        return self._render("tools/list", "tools", self.catalog, "name")

    @cached_property
    def _prompt_pages(self) -> Pages:
        return self._render("prompts/list", "prompts", (prompt.definition for prompt in self.prompts), "name")

    @cached_property
    def _resource_pages(self) -> Pages:
        return self._render("resources/list", "resources", (resource.definition for resource in self.resources), "uri")

    @cached_property
    def _template_pages(self) -> Pages:
        definitions = (template.definition for template in self.templates)
        return self._render("resources/templates/list", "resourceTemplates", definitions, "uriTemplate")

    def _render(self, method: str, key: str, definitions: Iterable[Any], identity: str) -> Pages:
        return Pages(
            method,
            key,
            [thaw(definition.wire) for definition in definitions],
            identify=lambda item: str(item[identity]),
            cache=self.cache_hint(method),
            size=self.page_size,
        )


def _refuse_holes(names: Sequence[str], handlers: Mapping[str, Handler]) -> None:
    known = set(names)
    without_handler = [name for name in names if name not in handlers]
    without_definition = [name for name in handlers if name not in known]
    parts = []
    if without_handler:
        parts.append(f"no handler for {', '.join(without_handler)}")
    if without_definition:
        parts.append(f"no definition for {', '.join(without_definition)}")
    if parts:
        needs = "each tool needs a definition in the catalog and a handler of the same name"
        raise ValueError(f"{'; '.join(parts)}: {needs}")


def _refuse(faults: Sequence[str], what: str) -> None:
    if faults:
        raise ValueError(f"{what} {', '.join(faults)}")


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _without_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
