"""The catalog: an immutable, checked table of tool definitions in a deterministic order.

A definition is made whole or not at all: one that breaks a rule is a `CatalogError` with every finding,
and a folder with bad files is one error with every finding of every file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discern_server.definition_files import definition_files, read_definition
from discern_server.result import Diagnostic, DiscernError
from discern_server.rules import definition_errors, folders
from discern_server.schema.frozen import freeze, thaw

__all__ = ["Catalog", "CatalogError", "ToolDefinition", "check_file_name", "freeze", "thaw"]


class CatalogError(DiscernError):
    """Definitions that cannot be served; `diagnostics` tells every fault of every one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool as it is told to clients. Frozen all the way down: read-only mappings and tuples.

    Attributes:
        name: Unique in a catalog; 1 to 128 of ``A-Z a-z 0-9 _ . -``, case-sensitive (server/tools, "Tool Names").
        title: For people.
        description: For models.
        input_schema: What the arguments must be; its root has ``type: object``.
        output_schema: What ``structuredContent`` must be, or None.
        annotations: Hints to the client, such as ``readOnlyHint``.
        icons: Icons a client may show.
        meta: The definition's own ``_meta``.
        wire: The whole definition as it goes to a client: every keyword, in the order of its file.
        origin: The file it came from, or None.
    """

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: Mapping[str, Any] = field(hash=False)
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    annotations: Mapping[str, Any] | None = field(default=None, hash=False)
    icons: tuple[Mapping[str, Any], ...] | None = field(default=None, hash=False)
    meta: Mapping[str, Any] | None = field(default=None, hash=False)
    wire: Mapping[str, Any] = field(hash=False)
    origin: str | None = None

    @classmethod
    def from_wire(cls, definition: Mapping[str, Any], origin: str | None = None) -> ToolDefinition:
        """A definition from its wire form, copied and frozen.

        Raises:
            CatalogError: it breaks a rule (see `discern_server.rules`).
        """
        errors = definition_errors(definition)
        if errors:
            owner = origin or definition.get("name")
            raise CatalogError(error.within(owner) if isinstance(owner, str) else error for error in errors)
        return cls._of_good(definition, origin)

    @classmethod
    def _of_good(cls, definition: Mapping[str, Any], origin: str | None) -> ToolDefinition:
        """As `from_wire`, for what is known to break no rule."""
        wire = freeze(definition)
        return cls(
            name=wire["name"],
            title=wire.get("title"),
            description=wire.get("description"),
            input_schema=wire["inputSchema"],
            output_schema=wire.get("outputSchema"),
            annotations=wire.get("annotations"),
            icons=wire.get("icons"),
            meta=wire.get("_meta"),
            wire=wire,
            origin=origin,
        )


class Catalog:
    """Tool definitions in the order of their names. Immutable, so all requests share one.

    Iterating gives the definitions; ``in`` and ``[]`` take names.
    """

    __slots__ = ("_definitions",)

    def __init__(self, definitions: Mapping[str, ToolDefinition]) -> None:
        self._definitions: Mapping[str, ToolDefinition] = MappingProxyType(dict(sorted(definitions.items())))

    @classmethod
    def of(cls, definitions: Iterable[ToolDefinition]) -> Catalog:
        """A catalog of `definitions`, whatever order they come in.

        Raises:
            CatalogError: two have the same name.
        """
        table: dict[str, ToolDefinition] = {}
        faults = []
        for definition in definitions:
            first = table.setdefault(definition.name, definition)
            if first is not definition:
                faults.append(_same_name(first, definition))
        if faults:
            raise CatalogError(faults)
        return cls(table)

    @classmethod
    def load(cls, directory: str | Path | Traversable) -> Catalog:
        """Read every ``*.json`` of a folder, or of a package resource; other files and folders inside are left alone.

        Raises:
            CatalogError: the folder cannot be read or has no definition, or a file cannot be read, is no strict
                JSON, breaks a rule, or is not named after its tool: every finding of every file.
        """
        folder = Path(directory) if isinstance(directory, str) else directory
        definitions: list[ToolDefinition] = []
        faults: list[Diagnostic] = []
        for file in _definition_files(folder):
            definition, findings = read_definition(file, str(file), _check_of(file.name))
            faults += findings
            if not findings:
                definitions.append(ToolDefinition._of_good(definition, str(file)))  # noqa: SLF001 - of this module
        if faults:
            raise CatalogError(faults)
        return cls.of(definitions)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._definitions)

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self._definitions.values())

    def __len__(self) -> int:
        return len(self._definitions)

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __getitem__(self, name: str) -> ToolDefinition:
        return self._definitions[name]

    def __repr__(self) -> str:
        return f"<Catalog of {len(self)}: {', '.join(self.names)}>"


def _same_name(first: ToolDefinition, second: ToolDefinition) -> Diagnostic:
    message = f"the name {second.name} is taken" + (f" by {first.origin}" if first.origin else "")
    return folders.UNIQUE_NAMES.at("/name", message).within(second.origin or second.name)


# --- reading ------------------------------------------------------------------------------------------------


def _definition_files(folder: Path | Traversable) -> list[Path | Traversable]:
    files = definition_files(folder, CatalogError)
    if not files:
        message = "the folder has no definition: no file in it ends in .json"
        raise CatalogError([folders.EMPTY.at(str(folder), message)])
    return files


def _check_of(file_name: str) -> Callable[[Any], list[Diagnostic]]:
    return lambda definition: [*definition_errors(definition), *check_file_name(definition, file_name)]


def check_file_name(definition: Any, file_name: str) -> Iterator[Diagnostic]:
    """A finding where the file of a definition is not named after its tool."""
    name = definition.get("name") if isinstance(definition, Mapping) else None
    if isinstance(name, str) and file_name != f"{name}.json":
        yield folders.FILE_NAME.at(
            "/name",
            f"the file {file_name} defines a tool named {name}",
            f"name the file {name}.json, or the tool {file_name.removesuffix('.json')}",
        )
