"""Documents, the schema resources in them, and what a reference points to.

A *document* is one JSON value under the URI it was read from. A *resource* is a schema with a URI of its own: the
root of a document, and every schema in it that carries an identifier. A *place* is a value in a document together
with the resource that it belongs to; references are resolved against that resource (2020-12 Core, sections 8 and 9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from discern_server.result import Diagnostic
from discern_server.schema.bounds import DEFAULT_BOUNDS, Bounds, Budget
from discern_server.schema.dialects import DIALECTS, FORMAT_ASSERTION, VOCABULARIES, Dialect, Habit, Shape, find_dialect
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.pointer import parse, resolve
from discern_server.schema.references import extend, join, split

Resolve = Callable[[str], Any]
"""From an absolute URI without fragment to the parsed document; raises `UnresolvableError` to refuse."""


def refuse(uri: str) -> Any:
    """The resolver of those who give none: nothing is ever fetched."""
    raise UnresolvableError(
        f"is outside the schema, and nothing is fetched: {uri}",
        "Put the schema it refers to beside it under $defs, or hand over a resolver that may read it.",
    )


@dataclass(eq=False, slots=True)
class Resource:
    """A schema with a URI of its own.

    Attributes:
        uri: Its canonical URI, without fragment.
        document: The document it is in.
        pointer: Where in that document.
        dialect: What its schemas are read as.
        anchors: The pointer of each anchor in it, dynamic ones included.
        dynamic: The pointer of each dynamic anchor in it; ``$recursiveAnchor`` counts as one named ``""``.
    """

    uri: str
    document: Document
    pointer: str
    dialect: Dialect
    anchors: dict[str, str] = field(default_factory=dict)
    dynamic: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Document:
    """One JSON value under the URI it was read from.

    Attributes:
        uri: That URI, without fragment; empty where there is none.
        contents: The value, in plain dicts and lists.
        resources: Its resources by pointer; there is always one at the root.
        indexed: The pointers below which every schema's identifiers are known.
        faults: What is wrong with the identifiers of a schema, by its pointer.
        stands_in: The place that its contents stand in for, where they were put together from what is there.
    """

    uri: str
    contents: Any
    stands_in: Place | None = None
    resources: dict[str, Resource] = field(default_factory=dict)
    indexed: set[str] = field(default_factory=set)
    faults: dict[str, Diagnostic] = field(default_factory=dict)

    def place_at(self, pointer: str) -> Place:
        """The place in it that `pointer` leads to.

        Raises:
            LookupError: There is nothing.
        """
        return Place(self, "", self.contents, self.resources[""]).at(*parse(pointer))


@dataclass(frozen=True, slots=True)
class Place:
    """A value, where it stands, and the resource it belongs to. Places are equal where document and pointer are.

    Attributes:
        document: The document it is in.
        pointer: Where in it, as a JSON Pointer.
        value: What stands there.
        resource: The schema resource it belongs to.
    """

    document: Document
    pointer: str
    value: Any = field(compare=False)
    resource: Resource = field(compare=False)

    @property
    def dialect(self) -> Dialect:
        """What a schema at this place is read as."""
        return self.resource.dialect

    @property
    def path(self) -> str:
        """The place for a person: a pointer, headed by the document's URI where it has one."""
        if self.document.stands_in is not None:
            return self.document.stands_in.path + self.pointer
        return f"{self.document.uri}#{self.pointer}" if self.document.uri else self.pointer

    def at(self, *tokens: str | int) -> Place:
        """The place that many steps further in.

        Raises:
            LookupError: There is nothing.
        """
        value, pointer, resource = self.value, self.pointer, self.resource
        for token in tokens:
            value = resolve(value, (token,))
            pointer = extend(pointer, token)
            resource = self.document.resources.get(pointer, resource)
        return Place(self.document, pointer, value, resource)

    def holding(self, value: Any) -> Place:
        """A place for `value`, put together from what stands here: its references resolve as they would here."""
        document = Document(self.document.uri, value, stands_in=self)
        resource = document.resources[""] = Resource(self.resource.uri, document, "", self.dialect)
        return Place(document, "", value, resource)


class Library:
    """The documents that are known, and the way to more of them."""

    def __init__(self, resolve: Resolve = refuse, bounds: Bounds = DEFAULT_BOUNDS) -> None:
        self._resolve = resolve
        self._bounds = bounds
        self._resources: dict[str, Resource] = {}
        self._ambiguous: set[str] = set()
        self._dialects: dict[str, Dialect] = {}

    def add(self, uri: str, contents: Any, dialect: Dialect, *, schemas_at: Iterable[str] | None = None) -> Place:
        """Take in a document and return its root.

        With `schemas_at` the document is no schema but holds some: the pointers of the objects in it whose members
        are schemas, whose identifiers are then known from the start.

        Raises:
            BoundExceededError: It is nested too deeply or holds too many schemas.
        """
        document = Document(uri, contents)
        resource = Resource(uri, document, "", dialect)
        document.resources[""] = resource
        self._resources[uri] = resource
        root = Place(document, "", contents, resource)
        if schemas_at is None:
            self.index(root)
            return document.place_at("")
        for pointer in schemas_at if dialect.id_keyword else ():
            for schema in _members_at(root, pointer):
                self.index(schema)
        return root

    def find(self, reference: str, origin: Place) -> Place:
        """The place that `reference` points to from `origin`.

        Raises:
            UnresolvableError: Nothing is there, or its document cannot be had.
            BoundExceededError: Its document is too large.
        """
        origin = origin.document.stands_in or origin
        uri, fragment = split(join(origin.resource.uri, reference))
        resource = origin.resource if uri == origin.resource.uri else self._resource(uri, origin.dialect)
        if not fragment:
            return resource.document.place_at(resource.pointer)
        if fragment.startswith("/"):
            target = _walk(resource.document.place_at(resource.pointer), fragment)
        elif fragment in resource.anchors:
            target = resource.document.place_at(resource.anchors[fragment])
        else:
            raise UnresolvableError(
                f"names an anchor that {uri or 'the schema'} does not have", _nearest(fragment, resource.anchors)
            )
        if not _is_indexed(target):
            self.index(target)
            target = target.document.place_at(target.pointer)
        return target

    def _resource(self, uri: str, dialect: Dialect) -> Resource:
        """The resource under that URI; a document that is new is read as `dialect` unless it says otherwise."""
        if uri in self._ambiguous:
            raise UnresolvableError(
                f"is claimed by several schemas: {uri}", "Give each schema an identifier of its own."
            )
        if uri not in self._resources:
            contents = _metaschema(uri)
            self.add(uri, self._resolve(uri) if contents is None else contents, dialect)
        return self._resources[uri]

    # --- identifiers ------------------------------------------------------------------------------------

    def index(self, root: Place) -> None:
        """Note the identifiers of the schema at that place and of every schema in it."""
        budget = Budget(self._bounds)
        root.document.indexed.add(root.pointer)
        pending = [(root, 0)]
        while pending:
            place, depth = pending.pop()
            budget.subschema(place.path, depth)
            if isinstance(place.value, dict):
                place = self._identify(place)
                pending += [
                    (Place(place.document, extend(place.pointer, *tokens), value, place.resource), depth + len(tokens))
                    for tokens, value in subschemas(place.value, place.dialect)
                ]

    def _identify(self, place: Place) -> Place:
        """Note the identifiers of one schema; the same place, in the resource that it opens if it opens one."""
        dialect = self._declared_dialect(place)
        if place.pointer == "":
            place.resource.dialect = dialect
        resource = place.resource
        bare, fragment = split(_identifier(place.value, dialect))
        try:
            resource = self._open(place, join(resource.uri, bare), dialect) if bare else resource
        except UnresolvableError as bad:
            _note_fault(place, "schema.id", dialect.id_keyword or "", f"The identifier {bare!r} {bad.reason}.")
        if fragment and Habit.ANCHOR_IN_ID in dialect.habits:
            resource.anchors.setdefault(fragment, place.pointer)
        _note_anchors(place.value, resource, place.pointer)
        return replace(place, resource=resource)

    def _open(self, place: Place, uri: str, dialect: Dialect) -> Resource:
        document = place.document
        if place.pointer == "":
            resource = place.resource
            resource.uri = uri
        else:
            resource = document.resources.get(place.pointer) or Resource(uri, document, place.pointer, dialect)
            document.resources[place.pointer] = resource
        if self._resources.setdefault(uri, resource) is not resource:
            self._ambiguous.add(uri)
        return resource

    # --- dialects ---------------------------------------------------------------------------------------

    def _declared_dialect(self, place: Place) -> Dialect:
        """What a schema says that it is read as; only the root of a resource may say so (2020-12 Core, 8.1.1)."""
        inherited = place.dialect
        declared = place.value.get("$schema")
        if not isinstance(declared, str) or inherited.uri is None:
            return inherited
        try:
            dialect = self.dialect(declared)
        except UnresolvableError as unknown:
            _note_fault(place, "schema.dialect", "$schema", f"The dialect {declared!r} {unknown.reason}.", unknown.fix)
            return inherited
        return dialect if place.pointer == "" or _identifier(place.value, dialect) else inherited

    def dialect(self, name_or_uri: str) -> Dialect:
        """The dialect of that name or ``$schema``: a known one, or what its meta-schema makes of a known one.

        Raises:
            UnresolvableError: It is not known, or demands what cannot be given.
        """
        chain = [name_or_uri]
        while (dialect := find_dialect(chain[-1]) or self._dialects.get(chain[-1])) is None:
            declared = self._metaschema_of(chain[-1]).get("$schema")
            if not isinstance(declared, str) or declared in chain:
                raise _unknown_dialect()
            chain.append(declared)
        for uri in reversed(chain):
            if find_dialect(uri) is None:
                dialect = self._dialects[uri] = _with_vocabulary(dialect, uri, self._metaschema_of(uri))
        return dialect

    def _metaschema_of(self, name_or_uri: str) -> dict[str, Any]:
        uri, _ = split(name_or_uri)
        try:
            contents = self._resolve(uri)
        except UnresolvableError:
            raise _unknown_dialect() from None
        return contents if isinstance(contents, dict) else {}


# --- where schemas stand in a schema ------------------------------------------------------------------------


def subschemas(schema: dict[str, Any], dialect: Dialect) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each schema directly in `schema`, after the tokens that lead to it. What has the wrong shape is passed over."""
    for keyword, value in schema.items():
        shape = dialect.shapes.get(keyword)
        if shape is None:
            continue
        if isinstance(value, list):
            if shape in (Shape.MANY, Shape.ONE_OR_MANY):
                yield from (((keyword, index), item) for index, item in enumerate(value))
        elif shape in (Shape.ONE, Shape.ONE_OR_MANY):
            yield (keyword,), value
        elif isinstance(value, dict):
            yield from (((keyword, name), item) for name, item in value.items() if _may_be_schema(name, item))


def _may_be_schema(name: object, item: object) -> bool:
    return isinstance(name, str) and not isinstance(item, list)


def _is_indexed(place: Place) -> bool:
    """Whether the identifiers at that place are known: it is a schema position below an indexed root."""
    if place.dialect.id_keyword is None:
        return True
    position, tokens = place.document.place_at(""), parse(place.pointer)
    for used, token in enumerate(tokens):
        if position.pointer in place.document.indexed:
            return _leads_to_a_schema(position, tokens[used:])
        position = position.at(token)
    return position.pointer in place.document.indexed


def _leads_to_a_schema(position: Place, tokens: tuple[str, ...]) -> bool:
    rest = list(reversed(tokens))
    while rest:
        keyword = rest.pop()
        shape = position.dialect.shapes.get(keyword)
        if shape is None:
            return False
        position = position.at(keyword)
        if shape in (Shape.MANY, Shape.NAMED, Shape.DEPENDENCIES) or isinstance(position.value, list):
            if not rest:
                return False
            position = position.at(rest.pop())
    return True


def _identifier(schema: dict[str, Any], dialect: Dialect) -> str:
    """The identifier of a schema, empty where it has none."""
    if Habit.REF_STANDS_ALONE in dialect.habits and isinstance(schema.get("$ref"), str):
        return ""
    identifier = schema.get(dialect.id_keyword) if dialect.id_keyword else None
    return identifier if isinstance(identifier, str) else ""


def _note_fault(place: Place, rule: str, keyword: str, message: str, fix: str | None = None) -> None:
    place.document.faults[place.pointer] = Diagnostic(
        rule=rule, message=message, path=extend(place.path, keyword), fix=fix
    )


def _note_anchors(schema: dict[str, Any], resource: Resource, pointer: str) -> None:
    keywords = resource.dialect.keywords
    for keyword in ("$anchor", "$dynamicAnchor"):
        name = schema.get(keyword)
        if keyword in keywords and isinstance(name, str):
            resource.anchors.setdefault(name, pointer)
            if keyword == "$dynamicAnchor":
                resource.dynamic.setdefault(name, pointer)
    if "$recursiveAnchor" in keywords and schema.get("$recursiveAnchor") is True and pointer == resource.pointer:
        resource.dynamic[""] = pointer


# --- small things ---------------------------------------------------------------------------------------------


def _members_at(root: Place, pointer: str) -> list[Place]:
    try:
        holder = root.at(*parse(pointer))
    except LookupError:
        return []
    return [holder.at(name) for name in holder.value] if isinstance(holder.value, dict) else []


def _walk(place: Place, pointer: str) -> Place:
    for token in parse(pointer):
        try:
            place = place.at(token)
        except LookupError:
            members = place.value if isinstance(place.value, dict) else {}
            raise UnresolvableError(
                f"points to nothing: {place.path or 'the root'} has no {token!r}", _nearest(token, members)
            ) from None
    return place


def _nearest(name: str, names: Iterable[str]) -> str | None:
    close = get_close_matches(name, [str(known) for known in names], n=1)
    return f"Did you mean {close[0]!r}?" if close else None


def _metaschema(uri: str) -> Any:
    """A published meta-schema, from the copies that are installed with `jsonschema`; None for any other URI."""
    if "json-schema.org/" not in uri:
        return None
    from jsonschema_specifications import REGISTRY

    resource = REGISTRY.get(uri) or REGISTRY.get(uri + "#")
    return None if resource is None else resource.contents


def _unknown_dialect() -> UnresolvableError:
    known = ", ".join(dialect.name for dialect in DIALECTS)
    return UnresolvableError(
        "is not known",
        f"Name one of {known}; for a dialect of your own, hand over a resolver that has its meta-schema.",
    )


def _with_vocabulary(dialect: Dialect, uri: str, metaschema: dict[str, Any]) -> Dialect:
    """`dialect` as a meta-schema with ``$vocabulary`` makes it (2020-12 Core, 8.1.2)."""
    vocabulary = metaschema.get("$vocabulary")
    if not isinstance(vocabulary, dict):
        return dialect
    for name, required in vocabulary.items():
        if required and name not in VOCABULARIES:
            raise UnresolvableError(f"requires the vocabulary {name!r}, which is not known")
    keywords = frozenset[str]().union(*(VOCABULARIES.get(name, ()) for name in vocabulary))
    return dialect.limited_to(
        keywords & dialect.keywords, name=uri, asserts_format=vocabulary.get(FORMAT_ASSERTION) is True
    )
