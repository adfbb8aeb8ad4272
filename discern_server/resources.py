"""Resources and resource templates: what a client can read by its URI (server/resources)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from discern_server.definition import check_wire, load_folder
from discern_server.handler import Handler, RequestContext
from discern_server.rules.offers import RESOURCE, TEMPLATE
from discern_server.schema.frozen import freeze


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDefinition:
    """One resource as it is told to clients, frozen all the way down.

    Attributes:
        uri: What it is read by, absolute (RFC 3986).
        mime_type: The media type of its content, or None.
        wire: The whole definition as it goes to a client.
        origin: The file it came from, or None.
    """

    uri: str
    mime_type: str | None
    wire: Mapping[str, Any] = field(hash=False)
    origin: str | None = None

    @classmethod
    def from_wire(cls, definition: Mapping[str, Any], origin: str | None = None) -> ResourceDefinition:
        """A definition from its wire form, copied and frozen.

        Raises:
            DefinitionError: it does not have the shape of a resource; every fault is told.
        """
        check_wire(RESOURCE, definition, origin)
        return cls(uri=definition["uri"], mime_type=definition.get("mimeType"), wire=freeze(definition), origin=origin)

    @classmethod
    def load(cls, directory: str | Path | Traversable) -> tuple[ResourceDefinition, ...]:
        """The definitions in the ``*.json`` files of a folder, such as ``schemas/resources``.

        Raises:
            DefinitionError: see `discern_server.definition.load_folder`.
        """
        return load_folder(RESOURCE, directory, cls.from_wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplateDefinition:
    """A family of resources as it is told to clients, frozen all the way down.

    Attributes:
        uri_template: The URI template of its members (RFC 6570).
        mime_type: The media type of their content, or None.
        wire: The whole definition as it goes to a client.
        origin: The file it came from, or None.
    """

    uri_template: str
    mime_type: str | None
    wire: Mapping[str, Any] = field(hash=False)
    origin: str | None = None

    @classmethod
    def from_wire(cls, definition: Mapping[str, Any], origin: str | None = None) -> ResourceTemplateDefinition:
        """A definition from its wire form, copied and frozen.

        Raises:
            DefinitionError: it does not have the shape of a resource template; every fault is told.
        """
        check_wire(TEMPLATE, definition, origin)
        return cls(
            uri_template=definition["uriTemplate"],
            mime_type=definition.get("mimeType"),
            wire=freeze(definition),
            origin=origin,
        )

    @classmethod
    def load(cls, directory: str | Path | Traversable) -> tuple[ResourceTemplateDefinition, ...]:
        """The definitions in the ``*.json`` files of a folder, such as ``schemas/resource-templates``.

        Raises:
            DefinitionError: see `discern_server.definition.load_folder`.
        """
        return load_folder(TEMPLATE, directory, cls.from_wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One content of a resource: text or bytes.

    Attributes:
        data: The content itself.
        mime_type: Its media type; None takes the definition's.
        uri: Its own URI, where a resource has several contents; None takes the one that was read.
        meta: Its ``_meta``.
    """

    data: str | bytes
    mime_type: str | None = None
    uri: str | None = None
    meta: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource with what reads it.

    Attributes:
        definition: What clients are told of it.
        handler: ``(args, ctx)`` to the content: text, bytes, a `Content`, a list of these, any other JSON value
            (as JSON text), or an SDK result object; None where there is nothing. ``args`` is empty.
    """

    definition: ResourceDefinition
    handler: Handler


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A family of resources with what reads them.

    Attributes:
        definition: What clients are told of it.
        handler: As a resource's; ``args`` holds the template's variables. None says that there is no such resource.
        completions: For a variable's name, as a prompt's.
    """

    definition: ResourceTemplateDefinition
    handler: Handler
    completions: Mapping[str, Handler] = field(default_factory=lambda: MappingProxyType({}))


_TEXTS: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")


def read_from(file: Path, mime_type: str | None) -> Handler:
    """A handler of a resource whose content is `file`, as it is when it is read.

    It is text where it is UTF-8 and `mime_type` does not say that it is something else, and bytes otherwise. A file
    that is gone is a resource that is not found.
    """
    may_be_text = mime_type is None or mime_type.startswith(_TEXTS) or mime_type.endswith(("+json", "+xml"))

    def read(_args: dict[str, Any], _ctx: RequestContext) -> str | bytes | None:
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return data.decode("utf-8") if may_be_text else data
        except UnicodeDecodeError:
            return data

    return read
