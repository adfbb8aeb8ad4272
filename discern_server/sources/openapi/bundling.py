"""Schemas out of a description, as JSON Schema 2020-12 that refers to nothing outside of itself.

Every schema of the description is converted once per direction, whatever number of tools refer to it, and
the tools share the result. A schema that cannot be converted is a fault of the tools that need it, and of no others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urldefrag

from discern_server.result import Diagnostic, Severity
from discern_server.schema.dialects import find_dialect
from discern_server.schema.engines import CannotCompileError
from discern_server.schema.frozen import freeze
from discern_server.schema.normalize import Direction, Normalizer, SchemaError, UnresolvableError
from discern_server.schema.normalize import Place as SchemaPlace
from discern_server.schema.pointer import parse
from discern_server.sources.openapi.documents import DescriptionError, DocumentError, Documents, Place, shorten
from discern_server.sources.openapi.schemas import absolute
from discern_server.sources.openapi.soundness import is_sound, mended

_REFERENCE: Final = "#/$defs/"
_DIRECTIONS: Final[tuple[Direction, ...]] = ("input", "output")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A schema in 2020-12 as it comes from the normaliser, and where it stood in the description."""

    schema: Any
    place: Place


@dataclass(frozen=True, slots=True)
class Converted:
    """A schema in 2020-12, frozen.

    Attributes:
        schema: It.
        uses: The definitions that it refers to itself.
        size: Its size in bytes, as compact JSON.
    """

    schema: Mapping[str, Any]
    uses: frozenset[str]
    size: int


class Schemas:
    """The schemas of one direction, checked: parts, and the definitions that they refer to, shared by all tools."""

    def __init__(
        self, parts: Sequence[Part], definitions: Mapping[str, Any], documents: Documents, path_of: Callable[[str], str]
    ) -> None:
        self._documents = documents
        self._path_of = path_of
        self._sound = is_sound([*definitions.values(), *(part.schema for part in parts)], definitions)
        self.findings: list[Diagnostic] = []
        self._broken: dict[str, Diagnostic] = {}
        self._definitions = {name: self._converted(schema, path_of(name)) for name, schema in definitions.items()}
        self._parts = {part: self._converted(part.schema, documents.path(part.place)) for part in parts}

    def __getitem__(self, part: Part) -> Converted:
        """The schema of a part; where that is a reference and nothing else, what it refers to.

        Raises:
            SchemaError: No validator takes it, and it cannot be mended.
        """
        converted = self._parts[part]
        self._refuse_broken([self._documents.path(part.place)])
        schema = converted.schema
        if schema.keys() != {"$ref"}:
            return converted
        name = schema["$ref"].removeprefix(_REFERENCE)
        self._refuse_broken([self._path_of(name)])
        return self._definitions.get(name, converted)

    def used_by(self, parts: Iterable[Converted]) -> tuple[Mapping[str, Any], int]:
        """What ``$defs`` has to hold for `parts`, in the order of names, and its size as compact JSON.

        Raises:
            SchemaError: No validator takes one of them, and it cannot be mended.
        """
        names: set[str] = set()
        pending = [name for part in parts for name in part.uses]
        while pending:
            name = pending.pop()
            if name not in names and name in self._definitions:
                names.add(name)
                pending += self._definitions[name].uses
        self._refuse_broken(map(self._path_of, sorted(names)))
        found = {name: self._definitions[name] for name in sorted(names)}
        size = sum(len(name) + 4 + converted.size for name, converted in found.items())
        return MappingProxyType({name: converted.schema for name, converted in found.items()}), size

    def _refuse_broken(self, paths: Iterable[str]) -> None:
        faults = [self._broken[path] for path in paths if path in self._broken] if self._broken else []
        if faults:
            raise SchemaError(faults)

    def _converted(self, schema: Any, path: str) -> Converted:
        if isinstance(schema, bool):
            schema = {} if schema else {"not": {}}
        names = frozenset(_references(schema))
        if not self._sound:
            schema = self._mended(schema, names, path)
        text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            message = "a name in it holds half of a surrogate pair, which no UTF-8 text can carry"
            self._broken[path] = Diagnostic(rule="openapi.schema", message=message, path=path)
            size = len(text)
        return Converted(freeze(schema), names, size)

    def _mended(self, schema: Any, names: frozenset[str], path: str) -> Any:
        try:
            schema, mends = mended(schema, names)
        except CannotCompileError as error:
            message = f"no validator takes the schema: {error.reason}"
            self._broken[path] = Diagnostic(rule="openapi.schema", message=message, path=path)
            return schema
        for mend in mends:
            self.findings.append(
                Diagnostic(
                    rule="openapi.schema-keyword",
                    message=f"the keyword at {mend.pointer} cannot be used and counts for nothing: {mend.reason}",
                    severity=Severity.WARNING,
                    path=path,
                    fix="mend the schema in the description",
                )
            )
        return schema


def _dialect(root: Place, version: str) -> str:
    """What schemas are read as: from 3.1 on the description may say (OpenAPI Object, ``jsonSchemaDialect``).

    Raises:
        DescriptionError: It says what is not known.
    """
    if version == "2.0":
        return "swagger-2.0"
    declared = root.text("jsonSchemaDialect") if not version.startswith("3.0") else None
    if declared is None:
        return f"openapi-{version[:3]}"
    if find_dialect(declared) is None:
        place = root["jsonSchemaDialect"]
        raise DescriptionError(place, f"the dialect {shorten(declared)} is not known", rule="openapi.schema")
    return declared


class Bundler:
    """Converts the schemas of one description."""

    def __init__(self, documents: Documents, version: str) -> None:
        """Raises `DescriptionError` where the description declares a dialect that is not known."""
        self._documents = documents
        self._schemas_at = "/definitions" if version == "2.0" else "/components/schemas"
        self._normalizer = Normalizer(
            documents.root().value,
            dialect=_dialect(documents.root(), version),
            resolve=self._resolve,
            base_uri=documents.root_uri,
            schemas_at=(self._schemas_at,),
        )
        self._bundles = {direction: self._normalizer.bundle(direction) for direction in _DIRECTIONS}
        self._parts: dict[Direction, list[Part]] = {direction: [] for direction in _DIRECTIONS}

    def convert(self, place: Place, direction: Direction) -> Part:
        """The schema at `place`.

        Raises:
            SchemaError: It cannot be converted; paths are those of the description.
        """
        try:
            schema = self._bundles[direction].add(self._origin(place).holding(absolute(place)))
        except SchemaError as error:
            raise SchemaError(self._shown(finding) for finding in error.diagnostics) from None
        part = Part(schema, place)
        self._parts[direction].append(part)
        return part

    def finish(self, direction: Direction) -> Schemas:
        """All that was converted in a direction."""
        return Schemas(self._parts[direction], self._bundles[direction].definitions(), self._documents, self._path_of)

    def _path_of(self, name: str) -> str:
        """Where a definition stands in the description: most keep the name they have there."""
        place: Place | None = self._documents.root()
        for key in (*parse(self._schemas_at), name):
            place = place.get(key) if place is not None else None
        return self._documents.path(place) if place is not None else f"{_REFERENCE}{name}"

    def _origin(self, place: Place) -> SchemaPlace:
        """Where `place` is for the normaliser: what faults are reported at."""
        try:
            return self._document(place.uri).at(*parse(place.pointer))
        except (UnresolvableError, SchemaError):
            return self._normalizer.root

    def _document(self, uri: str) -> SchemaPlace:
        root = self._normalizer.root
        return root if uri == self._documents.root_uri else self._normalizer.follow(root.holding({"$ref": uri}))

    def _resolve(self, uri: str) -> Any:
        try:
            return self._documents.load(uri)
        except DocumentError as error:
            raise UnresolvableError(f"leads to {error.uri}, and {error.reason}", error.fix) from error

    def _shown(self, finding: Diagnostic) -> Diagnostic:
        uri, pointer = urldefrag(finding.path or "")
        return replace(finding, path=f"{self._documents.name(uri)}#{pointer}")


def _references(schema: Any) -> Iterator[str]:
    """The name in every ``$ref`` of it; one in data, such as an example, does no harm beyond keeping a definition."""
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str) and reference.startswith(_REFERENCE):
                yield reference.removeprefix(_REFERENCE)
            pending += value.values()
        elif isinstance(value, list):
            pending += value
