"""From places in documents of any dialect to schemas of 2020-12 that refer to nothing but each other.

A *node* is one schema of the result: the root, or a definition. Each reference becomes a reference to the node of
its target. The work is a list of jobs, one for each schema object: a job reads one object, leaves empty objects
where its subschemas go, and adds a job for each of them. Nothing recurses.

Dynamic references are resolved here as well. What ``$dynamicRef`` and ``$recursiveRef`` mean depends on the
resources that evaluation has come through (2020-12 Core, 8.2.3.2), of which only the outermost that has the anchor
counts. The *scope* of a job is exactly that: for each dynamic anchor, the outermost place that has it. A place that
is reached with two scopes becomes two nodes, so that every reference of the result is a plain one.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.schema.bounds import BoundExceededError, Bounds, Budget
from discern_server.schema.dialects import DRAFT_2020_12, IN_PLACE, Habit, Shape
from discern_server.schema.documents import Library, Place, Resource
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.names import Names, name_for
from discern_server.schema.pointer import extend
from discern_server.schema.projection import NOT_PROJECTED, Direction, Projection, without
from discern_server.schema.references import split
from discern_server.schema.rewrite import IGNORED_PREFIX, is_ignored, rewrite, survives_beside_ref, with_conjuncts
from discern_server.schema.values import complaint, misshape

Schema = dict[str, Any] | bool
Report = Callable[[Diagnostic], None]

_Scope = tuple[tuple[str, Place], ...]
"""By dynamic anchor, in order of their names: the outermost place that has it."""
_Hidden = frozenset[str] | None
"""The properties that do not travel; None where nothing is to be left out."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_IDENTIFIERS: Final = frozenset({"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})


@dataclass(eq=False, slots=True)
class Node:
    """One schema of the result.

    Attributes:
        name: Its key under ``$defs``; None for a root.
        schema: It, in 2020-12.
        uses: The nodes that it refers to, in order of first use, each with the place of that reference.
        in_place: Those of them that look at the same instance as it does.
        faults: What is wrong with it.
        subschemas: How many schemas it holds.
        bytes: Its size, roughly.
    """

    name: str | None
    schema: Schema = field(default_factory=dict)
    uses: dict[Node, str] = field(default_factory=dict)
    in_place: dict[Node, str] = field(default_factory=dict)
    faults: list[Diagnostic] = field(default_factory=list)
    subschemas: int = 0
    bytes: int = 0

    @property
    def reference(self) -> str:
        """What a ``$ref`` to it says."""
        return "#" if self.name is None else f"#/$defs/{self.name}"

    def closure(self) -> Iterator[Node]:
        """It and every node that it refers to, each once, in order of first use."""
        seen = {self: None}
        pending = deque([self])
        while pending:
            node = pending.popleft()
            yield node
            fresh = [used for used in node.uses if used not in seen]
            seen.update(dict.fromkeys(fresh))
            pending += fresh


@dataclass(eq=False, slots=True)
class _Job:
    """One schema object to be written: from `place` into `target`."""

    place: Place
    target: dict[str, Any]
    node: Node
    scope: _Scope
    hidden: _Hidden
    depth: int
    in_place: bool

    def fault(self, rule: str, message: str, *tokens: str, fix: str | None = None) -> None:
        path = extend(self.place.path, *tokens)
        self.node.faults.append(Diagnostic(rule=rule, message=message, path=path, fix=fix))


class Converter:
    """Makes nodes from places, each once."""

    def __init__(
        self, library: Library, bounds: Bounds, direction: Direction | None = None, report: Report | None = None
    ) -> None:
        self._library = library
        self._bounds = bounds
        self._report = report
        self._projection = None if direction is None else Projection(library, direction)
        self._unprojected: _Hidden = None if direction is None else frozenset()
        self._names = Names()
        self._reserved: dict[Place, str] = {}
        self._nodes: dict[tuple[Place, _Scope, _Hidden], Node] = {}
        self._jobs: deque[_Job] = deque()
        self._budget = Budget(bounds)
        self._hideable: list[dict[str, Any]] = []
        self._unevaluated_items = False
        self.left_out = False
        """Whether any property was left out because it does not travel in the direction asked for."""

    def reserve(self, place: Place) -> None:
        """Keep the name of the schema at that place for it, whatever else is met first."""
        self._reserved[place] = self._names.give(name_for(place), place.path)

    def root(self, place: Place) -> Node:
        """The node of the schema at that place, which the schemas that it uses refer to as ``#``."""
        node = Node(None)
        scope = _enter((), place.resource)
        self._nodes[place, scope, self._unprojected] = node
        return self._convert(node, place, scope)

    def fragment(self, place: Place) -> Node:
        """The node of the schema at that place; the schemas that it uses do not refer to it."""
        return self._convert(Node(None), place, _enter((), place.resource))

    def _convert(self, node: Node, place: Place, scope: _Scope) -> Node:
        self._start(node, place, scope, self._unprojected)
        self._budget = Budget(self._bounds)
        while self._jobs:
            job = self._jobs.popleft()
            before = self._budget.subschemas, self._budget.bytes
            try:
                self._write(job)
            except BoundExceededError as exceeded:
                for unfinished in (job, *self._jobs):
                    unfinished.node.faults.append(exceeded.diagnostic)
                self._jobs.clear()
            job.node.subschemas += self._budget.subschemas - before[0]
            job.node.bytes += self._budget.bytes - before[1]
        if self._unevaluated_items:
            for schema in self._hideable:
                _hide_contains(schema)
            self._hideable.clear()
        return node

    def _start(self, node: Node, place: Place, scope: _Scope, hidden: _Hidden) -> None:
        if isinstance(place.value, bool):
            node.schema = place.value
        else:
            node.schema = target = dict[str, Any]()
            self._jobs.append(_Job(place, target, node, scope, hidden, depth=1, in_place=True))

    # --- one schema object ----------------------------------------------------------------------------------

    def _write(self, job: _Job) -> None:
        place = job.place
        self._budget.subschema(place.path, job.depth)
        if not isinstance(place.value, dict):
            job.fault("schema.type", f"A schema has to be an object or a boolean, not {_kind(place.value)}.")
            return
        if place.pointer in place.document.faults:
            job.node.faults.append(place.document.faults[place.pointer])
        source = self._projected(job)
        alone = Habit.REF_STANDS_ALONE in place.dialect.habits and isinstance(source.get("$ref"), str)
        written: dict[str, Any] = {}
        conjuncts: list[dict[str, Any]] = []
        for keyword, value in source.items():
            if not isinstance(keyword, str):
                job.fault("json.type", f"An object's keys are strings, not {_kind(keyword)}.")
                continue
            if alone and not survives_beside_ref(keyword):
                self._warn(job, keyword, "beside $ref means nothing")
                continue
            for name, member in self._members(job, keyword, value).items():
                if name in written:
                    conjuncts.append({name: member})
                else:
                    written[name] = member
        job.target.update(with_conjuncts(rewrite(written, place.dialect), conjuncts))
        self._check_values(job)
        self._note_evaluation(job)

    def _projected(self, job: _Job) -> dict[Any, Any]:
        """The source of a job, less what does not travel; the job learns what that is."""
        source: dict[Any, Any] = job.place.value
        if self._projection is None or job.hidden is None:
            return source
        job.hidden |= self._projection.hidden(job.place)
        if not job.hidden:
            return source
        projected = without(source, job.hidden)
        self.left_out = self.left_out or projected != source
        return projected

    def _members(self, job: _Job, keyword: str, value: Any) -> dict[str, Any]:
        """What becomes of one keyword, with keywords still in the words of its dialect."""
        dialect = job.place.dialect
        at_root = job.node.name is None and job.depth == 1
        self._budget.write(len(keyword) + 4, job.place.path)
        if keyword == "$schema":
            self._complain(job, keyword, complaint(keyword, value), value)
            return {keyword: DRAFT_2020_12.uri} if at_root else {}
        if keyword in _DEFINITIONS:
            self._complain(job, keyword, misshape(Shape.NAMED, value), value)
            return {"$defs": {}} if at_root and "$defs" not in job.target else {}
        if keyword in _IDENTIFIERS and keyword in dialect.keywords:
            if dialect.keywords >= {"$dynamicAnchor"}:
                self._complain(job, keyword, complaint(keyword, value), value)
            return {}
        if keyword in _REFERENCES and keyword in dialect.keywords:
            reference = self._refer(job, keyword, value)
            return {"$ref": reference} if reference else {}
        if keyword in dialect.shapes:
            wanted = misshape(dialect.shapes[keyword], value)
            self._complain(job, keyword, wanted, value)
            return {} if wanted else {keyword: self._schemas_in(job, keyword, value)}
        if keyword == "format" and dialect.asserts_format:
            job.fault("schema.format", "The dialect asserts format, which a plain 2020-12 schema cannot.", keyword)
        copy = self._copy(job, value, keyword)
        if not is_ignored(keyword, dialect, value):
            return {keyword: copy}
        self._warn(job, keyword, "means nothing here")
        return {IGNORED_PREFIX + keyword: copy}

    def _schemas_in(self, job: _Job, keyword: str, value: Any) -> Any:
        """What becomes of the value of a keyword that holds schemas, in the shape that it has to have."""
        shape = job.place.dialect.shapes[keyword]
        if shape in (Shape.NAMED, Shape.DEPENDENCIES):
            return {
                name: self._copy(job, item, keyword, name)
                if shape is Shape.DEPENDENCIES and isinstance(item, list)
                else self._schema(job, keyword, name)
                for name, item in value.items()
            }
        if isinstance(value, list) and shape is not Shape.ONE:
            return [self._schema(job, keyword, index) for index in range(len(value))]
        return self._schema(job, keyword)

    def _schema(self, job: _Job, keyword: str, *tokens: str | int) -> Schema:
        place = job.place.at(keyword, *tokens)
        for token in tokens:
            self._budget.write(len(str(token)) + 4, place.path)
        if isinstance(place.value, bool):
            self._budget.subschema(place.path, job.depth)
            return place.value
        target: dict[str, Any] = {}
        in_place = keyword in IN_PLACE
        hidden = job.hidden
        if hidden is not None:
            hidden = None if keyword in NOT_PROJECTED else hidden if in_place else frozenset()
        scope = job.scope if place.resource is job.place.resource else _enter(job.scope, place.resource)
        depth = job.depth + 1 + len(tokens)
        self._jobs.append(_Job(place, target, job.node, scope, hidden, depth, job.in_place and in_place))
        return target

    def _copy(self, job: _Job, value: Any, *tokens: str) -> Any:
        if not is_json(value):
            for fault in json_faults(value):
                path = extend(job.place.path, *tokens) + fault.path
                job.node.faults.append(Diagnostic(rule=fault.rule, message=fault.message, path=path))
            return None
        self._budget.write(len(value) if isinstance(value, str) else len(json.dumps(value)), job.place.path)
        return thaw(value)

    def _check_values(self, job: _Job) -> None:
        for keyword, value in job.target.items():
            self._complain(job, keyword, complaint(keyword, value), value)

    def _complain(self, job: _Job, keyword: str, wanted: str | None, value: Any) -> None:
        if wanted is not None:
            at = (keyword,) if keyword in job.place.value else ()
            job.fault("schema.keyword", f"{keyword} has to be {wanted}, not {_shown(value)}.", *at)

    def _note_evaluation(self, job: _Job) -> None:
        if "unevaluatedItems" in job.target:
            self._unevaluated_items = True
        if "contains" in job.target and Habit.CONTAINS_LEAVES_UNEVALUATED in job.place.dialect.habits:
            self._hideable.append(job.target)

    def _warn(self, job: _Job, keyword: str, what: str) -> None:
        if self._report is not None:
            self._report(
                Diagnostic(
                    rule="schema.ignored",
                    severity=Severity.WARNING,
                    message=f"{keyword} {what} in {job.place.dialect.name}, and is not taken over.",
                    path=extend(job.place.path, keyword),
                    fix="Declare the dialect in which it does, give it a value that it can have, or leave it out.",
                )
            )

    # --- references -------------------------------------------------------------------------------------------

    def _refer(self, job: _Job, keyword: str, reference: Any) -> str | None:
        """The reference that takes the place of `reference`; None where it leads nowhere, which is noted."""
        if not isinstance(reference, str):
            self._complain(job, keyword, complaint("$ref", reference), reference)
            return None
        try:
            target = self._library.find(reference, job.place)
        except UnresolvableError as nowhere:
            job.fault("schema.reference", f"The reference {reference!r} {nowhere.reason}.", keyword, fix=nowhere.fix)
            return None
        if not isinstance(target.value, dict | bool):
            job.fault("schema.reference", f"The reference {reference!r} leads to {_kind(target.value)}.", keyword)
            return None
        target = _redirected(keyword, reference, target, job.scope)
        hidden = job.hidden
        if hidden is not None and self._projection is not None:
            hidden &= self._projection.cluster(target).mentioned
        node = self._define(target, _enter(job.scope, target.resource), hidden)
        path = extend(job.place.path, keyword)
        job.node.uses.setdefault(node, path)
        if job.in_place:
            job.node.in_place.setdefault(node, path)
        self._budget.write(len(node.reference), path)
        return node.reference

    def _define(self, place: Place, scope: _Scope, hidden: _Hidden) -> Node:
        key = place, scope, hidden
        node = self._nodes.get(key)
        if node is None:
            name = self._reserved.pop(place, None)
            if name is None:
                name = self._names.give(name_for(place), _identity(place, scope, hidden))
            node = self._nodes[key] = Node(name)
            self._start(node, place, scope, hidden)
        return node


def _enter(scope: _Scope, resource: Resource) -> _Scope:
    """`scope` once evaluation has come into `resource`: the outermost place of an anchor is the one that stays."""
    known = {name for name, _ in scope}
    new = [(name, place) for name, place in resource.dynamic.items() if name not in known]
    return tuple(sorted((*scope, *new), key=lambda entry: entry[0])) if new else scope


def _redirected(keyword: str, reference: str, target: Place, scope: _Scope) -> Place:
    """Where a dynamic reference that first leads to `target` leads in the end (2020-12 Core, 8.2.3.2)."""
    anchor = "" if keyword == "$recursiveRef" else split(reference)[1]
    if keyword == "$ref" or (keyword == "$dynamicRef" and not anchor):
        return target
    if target.resource.dynamic.get(anchor) != target:
        return target
    return next((place for name, place in scope if name == anchor), target)


def _hide_contains(schema: dict[str, Any]) -> None:
    """Keep what ``contains`` asserts, but not what it evaluates: 2019-09 Core 9.3.1.3 has it evaluate nothing."""
    hidden = {word: schema.pop(word) for word in ("contains", "minContains", "maxContains") if word in schema}
    with_conjuncts(schema, [{"not": {"not": hidden}}])


def _identity(place: Place, scope: _Scope, hidden: _Hidden) -> str:
    anchors = [f"{name}={outermost.path}" for name, outermost in scope]
    return " ".join([place.path, *anchors, *sorted(hidden or ())])


def _kind(value: Any) -> str:
    """What a value is, in the words of JSON."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if is_json(value) else _kind(value)
    return text if len(text) <= 60 else text[:59] + "…"
