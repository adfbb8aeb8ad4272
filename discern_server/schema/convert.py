"""From places in documents of any dialect to schemas of 2020-12 that refer to nothing but each other.

A *node* is one schema of the result: the root, or a definition. Each reference becomes a reference to the node of
its target. The work is a list of jobs, one for each schema object: a job reads one object, leaves empty objects
where its subschemas go, and adds a job for each of them. Nothing recurses.

A place that is reached with two scopes (see `scope`) becomes two nodes, and so does one of which different things
travel. Every reference of the result is a plain one.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from discern_server.result import Diagnostic, Severity
from discern_server.schema.bounds import BoundExceededError, Bounds, Budget
from discern_server.schema.dialects import DRAFT_2020_12, IN_PLACE, Habit, Shape
from discern_server.schema.documents import Library, Place
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.names import Names, name_for
from discern_server.schema.nodes import Node, Schema
from discern_server.schema.pointer import extend
from discern_server.schema.projection import NOT_PROJECTED, Direction, Projection, without
from discern_server.schema.rewrite import IGNORED_PREFIX, is_ignored, rewrite, survives_beside_ref, with_conjuncts
from discern_server.schema.scope import NO_SCOPE, Scope, enter, redirected
from discern_server.schema.values import complaint, misshape
from discern_server.schema.words import show

Report = Callable[[Diagnostic], None]

_Hidden = frozenset[str] | None
"""The properties that do not travel; None where nothing is to be left out."""

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_IDENTIFIERS: Final = frozenset({"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"})
_DEFINITIONS: Final = frozenset({"$defs", "definitions"})
_FRAME: Final = _DEFINITIONS | {"$schema"}


@dataclass(eq=False, slots=True)
class _Job:
    """One schema object to be written: from `place` into `target`."""

    place: Place
    target: dict[str, Any]
    node: Node
    scope: Scope
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
        self._nodes: dict[tuple[Place, Scope, _Hidden], Node] = {}
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
        scope = enter(NO_SCOPE, place.resource)
        self._nodes[place, scope, self._unprojected] = node
        return self._convert(node, place, scope)

    def fragment(self, place: Place) -> Node:
        """The node of the schema at that place; the schemas that it uses do not refer to it."""
        self._library.declare(place)
        return self._convert(Node(None), place, enter(NO_SCOPE, place.resource))

    def _convert(self, node: Node, place: Place, scope: Scope) -> Node:
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

    def _start(self, node: Node, place: Place, scope: Scope, hidden: _Hidden) -> None:
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
            job.fault("schema.type", f"A schema has to be an object or a boolean, not {show(place.value)}.")
            return
        if place.pointer in place.document.faults:
            job.node.faults.append(place.document.faults[place.pointer])
        source = self._projected(job)
        alone = Habit.REF_STANDS_ALONE in place.dialect.habits and isinstance(source.get("$ref"), str)
        written: dict[str, Any] = {}
        conjuncts: list[dict[str, Any]] = []
        for keyword, value in source.items():
            if not isinstance(keyword, str):
                job.fault("json.type", f"An object's keys are strings, not {type(keyword).__name__}.")
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
        self._budget.write(len(keyword) + 4, job.place.path)
        if keyword in _FRAME or (keyword in _IDENTIFIERS and keyword in dialect.keywords):
            return self._frame(job, keyword, value)
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

    def _frame(self, job: _Job, keyword: str, value: Any) -> dict[str, Any]:
        """What becomes of a keyword that says nothing of instances: the root keeps two of them, in their order."""
        dialect = job.place.dialect
        if keyword in _DEFINITIONS:
            wanted = misshape(Shape.NAMED, value)
        else:  # older dialects have other rules for identifiers, and lose them here
            wanted = complaint(keyword, value) if keyword == "$schema" or "$dynamicAnchor" in dialect.keywords else None
        self._complain(job, keyword, wanted, value)
        if job.node.name is not None or job.depth > 1:
            return {}
        if keyword == "$schema":
            return {keyword: DRAFT_2020_12.uri}
        first = next((word for word in job.place.value if word in _DEFINITIONS), None)
        return {"$defs": {}} if keyword == first else {}

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
        scope = job.scope if place.resource is job.place.resource else enter(job.scope, place.resource)
        depth = job.depth + 1 + len(tokens)
        self._jobs.append(_Job(place, target, job.node, scope, hidden, depth, job.in_place and in_place))
        return target

    def _copy(self, job: _Job, value: Any, *tokens: str) -> Any:
        if not is_json(value):
            path = extend(job.place.path, *tokens)
            job.node.faults += [replace(fault.diagnostic(), path=path + fault.path) for fault in json_faults(value)]
            return None
        self._budget.write(len(value) if isinstance(value, str) else len(json.dumps(value)), job.place.path)
        return thaw(value)

    def _check_values(self, job: _Job) -> None:
        for keyword, value in job.target.items():
            self._complain(job, keyword, complaint(keyword, value), value)

    def _complain(self, job: _Job, keyword: str, wanted: str | None, value: Any) -> None:
        if wanted is not None:
            at = (keyword,) if keyword in job.place.value else ()
            job.fault("schema.keyword", f"{keyword} has to be {wanted}, not {show(value)}.", *at)

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
            job.fault("schema.reference", f"The reference {reference!r} leads to {show(target.value)}.", keyword)
            return None
        target = redirected(keyword, reference, target, job.scope)
        node = self._define(target, enter(job.scope, target.resource), self._hidden_in(target, job))
        path = extend(job.place.path, keyword)
        job.node.refer(node, path, in_place=job.in_place)
        self._budget.write(len(node.reference), path)
        return node.reference

    def _hidden_in(self, target: Place, job: _Job) -> _Hidden:
        """What is to be left out of `target` because of where it is referred to, beyond what it leaves out itself."""
        if job.hidden is None or self._projection is None:
            return None
        cluster = self._projection.cluster(target)
        return job.hidden & cluster.mentioned - cluster.hidden

    def _define(self, place: Place, scope: Scope, hidden: _Hidden) -> Node:
        key = place, scope, hidden
        node = self._nodes.get(key)
        if node is None:
            name = self._reserved.pop(place, None)
            if name is None:
                name = self._names.give(name_for(place), _identity(place, scope, hidden))
            node = self._nodes[key] = Node(name)
            self._start(node, place, scope, hidden)
        return node


def _hide_contains(schema: dict[str, Any]) -> None:
    """Keep what ``contains`` asserts, but not what it evaluates: 2019-09 Core 9.3.1.3 has it evaluate nothing."""
    hidden = {word: schema.pop(word) for word in ("contains", "minContains", "maxContains") if word in schema}
    with_conjuncts(schema, [{"not": {"not": hidden}}])


def _identity(place: Place, scope: Scope, hidden: _Hidden) -> str:
    anchors = [f"{name}={outermost.path}" for name, outermost in scope]
    return " ".join([place.path, *anchors, *sorted(hidden or ())])
