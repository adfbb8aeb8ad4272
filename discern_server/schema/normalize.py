"""Any dialect in, one self-contained JSON Schema 2020-12 document out, that accepts and refuses the same.

For a schema that stands by itself there is one function::

    normalize(schema)                                       # its $schema says what it is; else it is 2020-12
    normalize(schema, dialect="draft-07")                   # what it is where it does not say
    normalize(schema, resolve=folder_resolver(root), base_uri=file_uri)    # with references into other files

What is referred to moves to ``$defs`` under a readable name, cycles stay references, and no identifier or anchor is
left that a reader would have to resolve. A 2020-12 schema that refers to nothing outside itself comes back equal,
unused definitions and key order included.

For a document that holds many schemas, such as an OpenAPI description, there is `Normalizer`. It reads each schema
once, however many others refer to it, and is walked like a tree of places::

    normalizer = Normalizer(document, dialect="openapi-3.0", schemas_at=["/components/schemas"])
    operation = normalizer.root.at("paths", "/pets", "post")         # a Place: .value, .pointer, .path
    body = normalizer.follow(operation.at("requestBody"))            # through Reference Objects, into other files
    media = body.at("content", "application/json")

    bundle = normalizer.bundle("input")                              # leaves out readOnly; "output": writeOnly; None
    pet = bundle.add(media.at("schema"))                             # refers to "#/$defs/..." only
    limit = bundle.add(parameter.holding({"type": "integer"}))       # a schema put together from what stands there
    schema = {"type": "object", "properties": {"body": pet, "limit": limit}, "$defs": bundle.definitions()}

One bundle is one finished schema: make a new one for each. What `Bundle.add` and `Bundle.definitions` return is shared
with other bundles of the normalizer: treat it as read-only, or copy it. `Bundle.add` raises `SchemaError` for the
schema it was given alone, so that one broken component costs only the tools that use it.

Warnings (a keyword that means nothing in its dialect) go to `report`, a function that takes a `Diagnostic`.

This module knows nothing of MCP, of HTTP, or of what else an OpenAPI document holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discern_server.result import Diagnostic
from discern_server.schema.alone import loops, loops_in, stands_alone
from discern_server.schema.bounds import DEFAULT_BOUNDS, BoundExceededError, Bounds, Budget
from discern_server.schema.convert import Converter, Report
from discern_server.schema.dialects import DRAFT_2020_12, Dialect
from discern_server.schema.documents import Library, Place, refuse
from discern_server.schema.errors import SchemaError, UnresolvableError
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.metaschemas import Resolve
from discern_server.schema.nodes import Node, Schema
from discern_server.schema.pointer import extend, parse
from discern_server.schema.projection import Direction

__all__ = ["Bounds", "Bundle", "Direction", "Normalizer", "Place", "SchemaError", "UnresolvableError", "normalize"]


def normalize(
    schema: Mapping[str, Any] | bool,
    *,
    dialect: str | None = None,
    resolve: Resolve | None = None,
    base_uri: str = "",
    direction: Direction | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
    report: Report | None = None,
) -> dict[str, Any]:
    """`schema` as a self-contained 2020-12 schema that accepts and refuses exactly what it does.

    Args:
        schema: The schema; it is not changed.
        dialect: What it is where its ``$schema`` does not say: a name such as ``draft-07`` or ``openapi-3.0``, or a
            ``$schema`` URI. Without either it is 2020-12.
        resolve: Supplies the document for an absolute URI, or raises `UnresolvableError`. Without it nothing is
            fetched, and only the published meta-schemas are known.
        base_uri: Where the schema was read from; relative references start there.
        direction: ``input`` leaves out what is read-only, ``output`` what is write-only.
        bounds: How much it may cost.
        report: Gets each warning.

    Raises:
        SchemaError: It is malformed, refers to what cannot be had, never ends, or exceeds a bound: every finding.
    """
    library = Library(resolve or refuse, bounds)
    contents = _plain(schema)
    try:
        place = library.add(base_uri, contents, _dialect_for(library, dialect))
    except BoundExceededError as exceeded:
        raise SchemaError([exceeded.diagnostic]) from None
    alone = isinstance(contents, dict) and stands_alone(place, library)
    if alone and direction is None:
        _raise_any(loops_in(place, library))
        _raise_any(_excess(Budget(bounds), 1, len(json.dumps(contents))))
        return place.value  # type: ignore[no-any-return]
    converter = Converter(library, bounds, direction, report)
    for keyword in ("$defs", "definitions"):
        for definition in place.members(keyword):
            converter.reserve(definition)
    node = converter.root(place)
    _raise_faults(node, bounds)
    return contents if alone and not converter.left_out else _assembled(node)


class Normalizer:
    """Normalises the schemas of one document, each once; see the module's text for how it is used.

    Attributes:
        root: The document itself.
    """

    def __init__(
        self,
        document: Any,
        *,
        dialect: str | None = None,
        resolve: Resolve | None = None,
        base_uri: str = "",
        schemas_at: Iterable[str] = (),
        bounds: Bounds = DEFAULT_BOUNDS,
        report: Report | None = None,
    ) -> None:
        """Take in `document`, in plain dicts and lists, which must not change from here on.

        Args:
            document: What holds the schemas.
            dialect: What a schema is that does not say.
            resolve: As for `normalize`.
            base_uri: Where the document was read from.
            schemas_at: JSON Pointers of the objects whose members are schemas: those keep their names.
            bounds: How much one bundle may cost.
            report: Gets each warning.

        Raises:
            SchemaError: The dialect is not known.
        """
        self._library = Library(resolve or refuse, bounds)
        self._bounds = bounds
        self._report = report
        self._schemas_at = tuple(schemas_at)
        self._converters: dict[Direction | None, Converter] = {}
        self.root = self._library.add(
            base_uri, document, _dialect_for(self._library, dialect), schemas_at=self._schemas_at
        )

    def follow(self, place: Place) -> Place:
        """Where the Reference Object at `place` leads, through others and into other files; `place` where it is none.

        Raises:
            SchemaError: It leads nowhere, or in a circle.
        """
        passed = {place.path}
        while isinstance(place.value, dict) and isinstance(place.value.get("$ref"), str):
            reference = place.value["$ref"]
            try:
                place = self._library.find(reference, place)
                if place.path in passed:
                    raise UnresolvableError("leads back to itself")
            except UnresolvableError as nowhere:
                raise SchemaError([_reference_fault(reference, nowhere, place)]) from None
            passed.add(place.path)
        return place

    def bundle(self, direction: Direction | None = None) -> Bundle:
        """A new bundle: ``input`` leaves out what is read-only, ``output`` what is write-only."""
        converter = self._converters.get(direction)
        if converter is None:
            converter = Converter(self._library, self._bounds, direction, self._report)
            for pointer in self._schemas_at:
                for schema in self.root.members(*parse(pointer)):
                    converter.reserve(schema)
            self._converters[direction] = converter
        return Bundle(converter, self._bounds)


class Bundle:
    """The schemas of one finished schema, and the definitions that they share."""

    def __init__(self, converter: Converter, bounds: Bounds) -> None:
        self._converter = converter
        self._bounds = bounds
        self._nodes: list[Node] = []

    def add(self, place: Place) -> Schema:
        """The schema at that place in 2020-12; it refers to nothing but ``#/$defs/...``.

        Raises:
            SchemaError: It cannot be normalised; the bundle is as it was.
        """
        node = self._converter.fragment(place)
        _raise_faults(node, self._bounds)
        self._nodes.append(node)
        return node.schema

    def definitions(self) -> dict[str, Schema]:
        """What ``$defs`` has to hold for the schemas added so far: by name, in order of first use."""
        used = {node: None for root in self._nodes for node in root.closure() if node is not root}
        return {node.name: node.schema for node in used if node.name is not None}


# --- putting it together --------------------------------------------------------------------------------------


def _plain(schema: Any) -> Any:
    """A copy of `schema` in plain dicts and lists."""
    if not is_json(schema):
        faults = [fault.diagnostic() for fault in json_faults(schema)]
        if faults:
            raise SchemaError(faults)
    return thaw(schema)


def _dialect_for(library: Library, dialect: str | None) -> Dialect:
    if dialect is None:
        return DRAFT_2020_12
    try:
        return library.dialect(dialect)
    except UnresolvableError as unknown:
        raise SchemaError(
            [Diagnostic(rule="schema.dialect", message=f"The dialect {dialect!r} {unknown.reason}.", fix=unknown.fix)]
        ) from None


def _raise_faults(root: Node, bounds: Bounds) -> None:
    """Raise what is wrong with `root` and all that it uses, if anything is."""
    nodes = list(root.closure())
    _raise_any(fault for node in nodes for fault in node.faults)
    _raise_any(loops(nodes, lambda node: node.in_place))
    _raise_any(_excess(Budget(bounds), sum(node.subschemas for node in nodes), sum(node.bytes for node in nodes)))


def _raise_any(faults: Iterable[Diagnostic]) -> None:
    found = dict.fromkeys(faults)
    if found:
        raise SchemaError(found)


def _excess(budget: Budget, subschemas: int, size: int) -> Iterator[Diagnostic]:
    """What is too much, where `budget` does not allow for that many subschemas and bytes."""
    try:
        budget.subschema("", count=subschemas)
        budget.write(size, "")
    except BoundExceededError as exceeded:
        yield exceeded.diagnostic


def _reference_fault(reference: str, nowhere: UnresolvableError, place: Place) -> Diagnostic:
    return Diagnostic(
        rule="schema.reference",
        message=f"The reference {reference!r} {nowhere.reason}.",
        path=extend(place.path, "$ref"),
        fix=nowhere.fix,
    )


def _assembled(root: Node) -> dict[str, Any]:
    """The schema of a root with the definitions that it uses."""
    if isinstance(root.schema, bool):
        return {} if root.schema else {"not": {}}
    definitions = {node.name: node.schema for node in root.closure() if node is not root}
    if definitions:
        root.schema["$defs"] = definitions
    else:
        root.schema.pop("$defs", None)
    return root.schema
