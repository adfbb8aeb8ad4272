"""Documents, the schema resources in them, and what a reference points to.

A *document* is one JSON value under the URI it was read from. A *resource* is a schema with a URI of its own: the
root of a document, and every schema in it that carries an identifier. A *place* is a value in a document together
with the resource that it belongs to; references are resolved against that resource (2020-12 Core, sections 8 and 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.schema.bounds import DEFAULT_BOUNDS, BoundExceededError, Bounds, Budget
from discern_server.schema.dialects import Dialect, Habit, Shape, subschemas
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.metaschemas import Dialects, Resolve, published
from discern_server.schema.pointer import extend, parse, resolve
from discern_server.schema.references import join, split

_MAX_SUGGESTIONS: Final = 50


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
        dialect: What its schemas are read as.
        root: Where it is.
        anchors: The place of each anchor in it, dynamic ones included.
        dynamic: The place of each dynamic anchor in it; ``$recursiveAnchor`` counts as one named ``""``.
    """

    uri: str
    dialect: Dialect
    root: Place = field(init=False)
    anchors: dict[str, Place] = field(default_factory=dict)
    dynamic: dict[str, Place] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Document:
    """One JSON value under the URI it was read from.

    Attributes:
        uri: That URI, without fragment; empty where there is none.
        stands_in: The place that its value stands in for, where it was put together from what is there.
        resources: Its resources by pointer; there is always one at the root.
        indexed: By pointer, the schemas whose identifiers are known, and those of every schema in them.
        faults: What is wrong with the identifiers of a schema, by its pointer.
    """

    uri: str
    stands_in: Place | None = None
    resources: dict[str, Resource] = field(default_factory=dict)
    indexed: dict[str, Place] = field(default_factory=dict)
    faults: dict[str, Diagnostic] = field(default_factory=dict)


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
        place = self
        for token in tokens:
            place = _inside(place, extend(place.pointer, token), resolve(place.value, (token,)))
        return place

    def members(self, *tokens: str | int) -> Iterator[Place]:
        """The members of the object that many steps further in; nothing where there is none."""
        try:
            holder = self.at(*tokens)
        except LookupError:
            return
        for name, value in holder.value.items() if isinstance(holder.value, dict) else ():
            if isinstance(name, str):
                yield _inside(holder, extend(holder.pointer, name), value)

    def schemas(self) -> Iterator[tuple[str, Place]]:
        """Each schema directly in the schema object here, after the keyword that holds it."""
        for tokens, value in subschemas(self.value, self.dialect):
            yield str(tokens[0]), _inside(self, extend(self.pointer, *tokens), value)

    def holding(self, value: Any) -> Place:
        """A place for `value`, put together from what stands here: its references resolve as they would here."""
        return _root(Document(self.document.uri, stands_in=self), value, Resource(self.resource.uri, self.dialect))


def _inside(holder: Place, pointer: str, value: Any) -> Place:
    """The place of `value`, which stands in what is at `holder`."""
    return Place(holder.document, pointer, value, holder.document.resources.get(pointer, holder.resource))


def _root(document: Document, value: Any, resource: Resource) -> Place:
    resource.root = Place(document, "", value, resource)
    document.resources[""] = resource
    return resource.root


class Library:
    """The documents that are known, and the way to more of them."""

    def __init__(self, resolve: Resolve = refuse, bounds: Bounds = DEFAULT_BOUNDS) -> None:
        self._resolve = resolve
        self._bounds = bounds
        self._dialects = Dialects(resolve)
        self._resources: dict[str, Resource] = {}
        self._ambiguous: set[str] = set()
        self._refused: dict[str, UnresolvableError] = {}
        self._suggestions_left = _MAX_SUGGESTIONS

    def dialect(self, name_or_uri: str) -> Dialect:
        """The dialect of that name or ``$schema``.

        Raises:
            UnresolvableError: It is not known, or demands what cannot be given.
        """
        return self._dialects.find(name_or_uri)

    def add(self, uri: str, contents: Any, dialect: Dialect, *, schemas_at: Iterable[str] | None = None) -> Place:
        """Take in a document, in plain dicts and lists, and return its root.

        With `schemas_at` the document is no schema but holds some: the pointers of the objects in it whose members
        are schemas, whose identifiers are then known from the start.

        Raises:
            BoundExceededError: It is nested too deeply or holds too many schemas.
        """
        root = _root(Document(uri), contents, Resource(uri, dialect))
        if schemas_at is None:
            self._index(root)
        for pointer in schemas_at if schemas_at is not None and dialect.id_keyword else ():
            for schema in root.members(*parse(pointer)):
                try:
                    self._index(schema)
                except BoundExceededError as exceeded:
                    root.document.faults[schema.pointer] = exceeded.diagnostic
        self._claim(uri, root.resource)
        return root

    def is_at_hand(self, reference: str, origin: Place) -> bool:
        """Whether what `reference` points into is here already, so that finding it asks no resolver.

        Raises:
            UnresolvableError: `reference` is no URI reference.
        """
        return split(join(origin.resource.uri, reference))[0] in self._resources

    def find(self, reference: str, origin: Place) -> Place:
        """The place that `reference` points to from `origin`.

        Raises:
            UnresolvableError: Nothing is there, or its document cannot be had.
        """
        while origin.document.stands_in is not None:
            origin = origin.document.stands_in
        uri, fragment = split(join(origin.resource.uri, reference))
        resource = origin.resource if uri == origin.resource.uri else self._resource(uri, origin.dialect)
        if not fragment:
            return resource.root
        if fragment.startswith("/"):
            target, indexed = self._walk(resource.root, fragment)
            if not indexed and target.dialect.id_keyword is not None:
                self._index_late(target)
                target, _ = self._walk(resource.root, fragment)
            return target
        if fragment in resource.anchors:
            return resource.anchors[fragment]
        raise UnresolvableError(
            f"names an anchor that {uri or 'the schema'} does not have", self._nearest(fragment, resource.anchors)
        )

    def _walk(self, root: Place, pointer: str) -> tuple[Place, bool]:
        """The place that `pointer` leads to from `root`, and whether the identifiers at it are known.

        They are where every step goes from a schema to a schema in it.
        """
        place, shape = root, Shape.ONE if root.pointer in root.document.indexed or root.pointer else None
        for token in parse(pointer):
            before = place
            try:
                place = place.at(token)
            except LookupError:
                members = before.value if isinstance(before.value, dict) else {}
                raise UnresolvableError(
                    f"points to nothing: {before.path or 'the root'} has no {token!r}", self._nearest(token, members)
                ) from None
            shape = _shape_after(shape, token, place)
        return place, shape is Shape.ONE

    def _nearest(self, name: str, names: Iterable[str]) -> str | None:
        # Comparing takes milliseconds, and a document may be broken in thousands of places.
        if self._suggestions_left == 0:
            return None
        self._suggestions_left -= 1
        close = get_close_matches(name, [str(known) for known in names], n=1)
        return f"Did you mean {close[0]!r}?" if close else None

    def _resource(self, uri: str, dialect: Dialect) -> Resource:
        """The resource under that URI; a document that is new is read as `dialect` unless it says otherwise."""
        if uri in self._ambiguous:
            raise UnresolvableError(f"is claimed by several schemas: {uri}", "Give each an identifier of its own.")
        if uri not in self._resources:
            refused = self._refused.get(uri)
            if refused is None:
                refused = self._load(uri, dialect)
            if refused is not None:
                self._refused[uri] = refused
                raise UnresolvableError(refused.reason, refused.fix)
        return self._resources[uri]

    def _load(self, uri: str, dialect: Dialect) -> UnresolvableError | None:
        """Take in the document under that URI; why not, where it cannot be had."""
        try:
            contents = published(uri)
            self.add(uri, self._resolve(uri) if contents is None else contents, dialect)
        except UnresolvableError as refused:
            return refused
        except LookupError:  # the resolver is the lookup of a dict
            return UnresolvableError(f"is not known to the resolver: {uri}")
        except BoundExceededError as exceeded:
            return UnresolvableError(f"leads to a document that is too large: {exceeded.diagnostic.message}")
        return None

    # --- identifiers ------------------------------------------------------------------------------------

    def _index(self, root: Place) -> None:
        """Note the identifiers of the schema at that place and of every schema in it."""
        budget = Budget(self._bounds)
        pending = [root]
        while pending:
            place = pending.pop()
            budget.subschema(place.path, place.pointer.count("/"))
            if isinstance(place.value, dict):
                place = self._identified(place, stands_alone=place is root and "" not in root.document.indexed)
                pending += [schema for _, schema in place.schemas()]
            if place.pointer == root.pointer:
                root.document.indexed[root.pointer] = place

    def _index_late(self, root: Place) -> None:
        """The same for a place that only a reference makes a schema of."""
        try:
            self._index(root)
        except BoundExceededError as exceeded:
            raise UnresolvableError(f"leads to what is too large: {exceeded.diagnostic.message}") from None

    def _identified(self, place: Place, *, stands_alone: bool) -> Place:
        """Note the identifiers of one schema; the same place, in the resource that it opens if it opens one.

        One that `stands_alone` is in no other schema: a document's root, or a root in what is no schema itself.
        """
        dialect = self._declared_dialect(place, stands_alone=stands_alone)
        if place.pointer == "":
            place.resource.dialect = dialect
        elif stands_alone and dialect is not place.dialect:
            place = _read_as(place, dialect)
        bare, fragment = split(_identifier(place.value, dialect))
        if bare:
            try:
                place = self._opened(place, join(place.resource.uri, bare), dialect)
            except UnresolvableError as bad:
                _note_fault(place, "schema.id", dialect.id_keyword or "", f"The identifier {bare!r} {bad.reason}.")
        if fragment and Habit.ANCHOR_IN_ID in dialect.habits:
            place.resource.anchors.setdefault(fragment, place)
        _note_anchors(place)
        return place

    def _opened(self, place: Place, uri: str, dialect: Dialect) -> Place:
        """`place` as the root of the resource `uri`."""
        resource = place.document.resources.get(place.pointer)
        if resource is None:
            resource = place.document.resources[place.pointer] = Resource(uri, dialect)
            resource.root = replace(place, resource=resource)
        resource.uri = uri
        self._claim(uri, resource)
        return resource.root

    def _claim(self, uri: str, resource: Resource) -> None:
        if self._resources.setdefault(uri, resource) is not resource:
            self._ambiguous.add(uri)

    def declare(self, place: Place) -> None:
        """Read a schema that was put together, and stands alone, as the dialect that it declares."""
        if place.document.stands_in is not None and isinstance(place.value, dict):
            place.resource.dialect = self._declared_dialect(place, stands_alone=True)

    def _declared_dialect(self, place: Place, *, stands_alone: bool) -> Dialect:
        """What a schema says that it is read as.

        Only the root of a resource may say so (2020-12 Core, 8.1.1), and a schema that stands alone in a description
        (OpenAPI 3.1.1, Schema Object, "Specifying Schema Dialects").
        """
        inherited = place.dialect
        declared = place.value.get("$schema")
        if not isinstance(declared, str) or inherited.uri is None:
            return inherited
        try:
            dialect = self.dialect(declared)
        except UnresolvableError as unknown:
            _note_fault(place, "schema.dialect", "$schema", f"The dialect {declared!r} {unknown.reason}.", unknown.fix)
            return inherited
        return dialect if stands_alone or _identifier(place.value, dialect) else inherited


def _read_as(place: Place, dialect: Dialect) -> Place:
    """`place`, and what is in it, in another dialect; its URI, its root and its anchors stay those of what holds it."""
    holder = place.resource
    resource = Resource(holder.uri, dialect, anchors=holder.anchors, dynamic=holder.dynamic)
    resource.root = holder.root
    place.document.resources[place.pointer] = resource
    return replace(place, resource=resource)


def _identifier(schema: dict[str, Any], dialect: Dialect) -> str:
    """The identifier of a schema, empty where it has none."""
    if Habit.REF_STANDS_ALONE in dialect.habits and isinstance(schema.get("$ref"), str):
        return ""
    identifier = schema.get(dialect.id_keyword) if dialect.id_keyword else None
    return identifier if isinstance(identifier, str) else ""


def _note_anchors(place: Place) -> None:
    schema, resource = place.value, place.resource
    for keyword in resource.dialect.keywords & {"$anchor", "$dynamicAnchor"}:
        name = schema.get(keyword)
        if isinstance(name, str):
            resource.anchors.setdefault(name, place)
            if keyword == "$dynamicAnchor":
                resource.dynamic.setdefault(name, place)
    recursive = "$recursiveAnchor" in resource.dialect.keywords and schema.get("$recursiveAnchor") is True
    if recursive and place == resource.root:
        resource.dynamic[""] = place


def _note_fault(place: Place, rule: str, keyword: str, message: str, fix: str | None = None) -> None:
    place.document.faults[place.pointer] = Diagnostic(
        rule=rule, message=message, path=extend(place.path, keyword), fix=fix
    )


def _shape_after(shape: Shape | None, token: str, place: Place) -> Shape | None:
    """What `place`, one step after what had `shape`, holds: one schema, several, or what is no schema."""
    if place.pointer in place.document.indexed:
        return Shape.ONE
    if shape is not Shape.ONE:
        return None if shape is None else Shape.ONE
    following = place.dialect.shapes.get(token)
    if following is Shape.ONE_OR_MANY:
        return Shape.MANY if isinstance(place.value, list) else Shape.ONE
    return following
