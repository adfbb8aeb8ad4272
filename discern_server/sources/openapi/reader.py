"""What descriptions of every version have in common: path items, operations, one faulty one at a time.

`Reader` walks a description; `openapi3` and `swagger2` know the objects of their versions. A `DescriptionError`
below an operation costs that operation alone and is reported with it; what is odd but costs nothing is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from discern_server.result import Diagnostic, Severity
from discern_server.sources.openapi.description import Api, Body, Operation, Parameter, Refusal, Response
from discern_server.sources.openapi.documents import DescriptionError, Documents, Place, shorten
from discern_server.sources.openapi.security import SchemeReader, read_requirements
from discern_server.sources.openapi.servers import ServerChoice, check_variables
from discern_server.upstream.binding import Location, Security, SecurityScheme, Server

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_TEMPLATE: Final = re.compile(r"\{([^{}]+)\}")
_IGNORED_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Header parameters that "SHALL be ignored" (Parameter Object, ``name``)."""


@dataclass(frozen=True, slots=True)
class PathItem:
    """A path item: its own fields first, then those of the path items it refers to."""

    layers: tuple[Place, ...]

    def get(self, key: str) -> Place | None:
        """The field, from the first layer that has it."""
        for layer in self.layers:
            if (found := layer.get(key)) is not None:
                return found
        return None

    def items(self, key: str) -> list[Place]:
        """The items of an array field, from the first layer that has it."""
        for layer in self.layers:
            if layer.get(key) is not None:
                return layer.items(key)
        return []

    def keys(self) -> Iterator[str]:
        """Every field's name once, in order."""
        yield from dict.fromkeys(key for layer in self.layers for key in layer.object())


def _wire_name(location: str, name: str) -> tuple[str, str]:
    """What two parameters that are one have in common; names of headers have no case (RFC 9110, section 5.1)."""
    return location, name.lower() if location == "header" else name


class Reader:
    """Reads one description into an `Api`. A reader is used once."""

    methods: tuple[str, ...] = METHODS
    schemes_at: tuple[str, ...] = ("components", "securitySchemes")

    def __init__(self, documents: Documents, root: Place, version: str, choice: ServerChoice) -> None:
        self.documents = documents
        self.root = root
        self.version = version
        self.choice = choice
        self.chosen = choice.chosen()
        self.server_variables: set[str] = set()
        self._findings: list[Diagnostic] = []
        self._schemes: dict[str, SecurityScheme] = {}

    # --- what a version says in its own way -----------------------------------------------------

    def parameter(self, place: Place) -> Parameter | None:
        """The parameter at `place`, or None for one that is part of the body (Swagger 2.0)."""
        raise NotImplementedError

    def body(self, operation: Place, parameters: list[Place], method: str) -> Body | None:
        """The request body of an operation; `parameters` are those that hold for it, references followed."""
        raise NotImplementedError

    def response(self, status: str, place: Place, operation: Place) -> Response:
        """The response at `place`."""
        raise NotImplementedError

    def server(self, item: PathItem, operation: Place) -> Server | None:
        """Where the operation is served."""
        raise NotImplementedError

    # --- walking --------------------------------------------------------------------------------

    def read(self) -> Api:
        """The whole description.

        Raises:
            DescriptionError: The document as a whole is not as it should be.
            ConfigurationError: The configuration does not fit it.
        """
        info = self.root.get("info")
        self._read_schemes()
        operations: list[Operation] = []
        refusals: list[Refusal] = []
        for path, item in self.root.mapping("paths", extensible=True).items():
            for outcome in self._read_path(path, item):
                if isinstance(outcome, Operation):
                    operations.append(outcome)
                else:
                    refusals.append(outcome)
        if self.chosen is None:
            check_variables(self.choice.variables, self.server_variables)
        return Api(
            version=self.version,
            title=(info.text("title") if info is not None else None) or "API",
            operations=tuple(operations),
            refusals=tuple(refusals),
            security_schemes=self._schemes,
            findings=tuple(dict.fromkeys(self._findings)),
        )

    @staticmethod
    def name_and_location(place: Place, locations: Mapping[str, Location], places: str) -> tuple[str, Location]:
        """A parameter's name, and where of `locations` it is; `places` names all that the specification knows.

        Raises:
            DescriptionError: It has no name, or is in none of these.
        """
        name = place.text("name")
        location = locations.get(place.text("in") or "")
        if name is None or location is None:
            raise DescriptionError(place, f"a parameter has to have a name and be in {places}")
        return name, location

    def note(self, place: Place, message: str, *, rule: str = "openapi.odd", fix: str | None = None) -> None:
        """Report what is odd and costs nothing."""
        self._findings.append(
            self.documents.diagnose(DescriptionError(place, message, rule=rule, fix=fix), Severity.WARNING)
        )

    def _read_schemes(self) -> None:
        holder: Place | None = self.root
        for key in self.schemes_at[:-1]:
            holder = holder.get(key) if holder is not None else None
        if holder is None:
            return
        reader = SchemeReader(self.documents, guarded=self.choice.guarded)
        for name, place in holder.mapping(self.schemes_at[-1]).items():
            try:
                self._schemes[name] = reader.read(name, place)
            except DescriptionError as fault:
                self.note(fault.place, fault.reason, rule="openapi.security")

    def _read_path(self, path: str, place: Place) -> Iterator[Operation | Refusal]:
        try:
            item = self._path_item(place)
            if not path.startswith("/"):
                raise DescriptionError(place, f"the path {shorten(path)} does not begin with a slash")
            found = list(self._operations_of(item))
        except DescriptionError as fault:
            yield Refusal(key=path, findings=(self.documents.diagnose(fault),))
            return
        for method, operation in found:
            try:
                yield self._read_operation(path, item, method, operation)
            except DescriptionError as fault:
                yield Refusal(key=f"{method} {path}", findings=(self.documents.diagnose(fault),))

    def _path_item(self, place: Place) -> PathItem:
        layers: list[Place] = []
        while True:
            if any(layer.uri == place.uri and layer.pointer == place.pointer for layer in layers):
                raise DescriptionError(place, "the path item refers back to itself", rule="openapi.reference")
            layers.append(place)
            reference = place.object().get("$ref")
            if not isinstance(reference, str):
                return PathItem(tuple(layers))
            place = self.documents.resolve(reference, place)

    def _operations_of(self, item: PathItem) -> Iterator[tuple[str, Place]]:
        for key in item.keys():  # noqa: SIM118 - a method of ours, not a mapping
            place = item.get(key)
            if place is None or key.startswith("x-"):
                continue
            if key in self.methods:
                yield key.upper(), place
            elif key == "additionalOperations" and "query" in self.methods:
                yield from ((method, place[method]) for method in place.object())
            elif isinstance(place.value, Mapping) and "responses" in place.value:
                self.note(place, f"{key!r} is no method that OpenAPI {self.version} knows; the operation is left out")

    def _read_operation(self, path: str, item: PathItem, method: str, place: Place) -> Operation:
        operation = self.documents.follow(place)
        operation.object()
        described = self._parameters(item, operation)
        security = self._security(operation)
        parameters = [found for found in map(self.parameter, described) if found is not None]
        return Operation(
            place=operation,
            method=method,
            path=path,
            operation_id=operation.text("operationId"),
            summary=operation.text("summary") or self._item_text(item, "summary"),
            description=operation.text("description") or self._item_text(item, "description"),
            tags=tuple(tag.value for tag in operation.items("tags") if isinstance(tag.value, str)),
            deprecated=operation.flag("deprecated", default=False),
            parameters=self._fitting(path, operation, parameters, security),
            body=self.body(operation, described, method),
            responses=tuple(self._responses(operation)),
            server=self.chosen or self._server(item, operation),
            security=security,
        )

    @staticmethod
    def _item_text(item: PathItem, key: str) -> str | None:
        found = item.get(key)
        return found.value if found is not None and isinstance(found.value, str) else None

    def _server(self, item: PathItem, operation: Place) -> Server | None:
        try:
            return self.server(item, operation)
        except DescriptionError as fault:
            self.note(fault.place, fault.reason, rule="openapi.server", fix=fault.fix)
            return None

    # --- parameters -----------------------------------------------------------------------------

    def _parameters(self, item: PathItem, operation: Place) -> list[Place]:
        """The parameter objects that hold for an operation: its own go before the path item's."""
        merged: dict[tuple[str, str], Place] = {}
        for level in (item.items("parameters"), operation.items("parameters")):
            seen: set[tuple[str, str]] = set()
            for place in map(self.documents.follow, level):
                key = _wire_name(place.text("in") or "", place.text("name") or "")
                if key in seen:
                    self.note(place, f"the parameter {key[1]!r} in {key[0]} stands twice in one list; the last counts")
                seen.add(key)
                merged[key] = place
        return list(merged.values())

    def _fitting(
        self, path: str, operation: Place, parameters: list[Parameter], security: Security
    ) -> tuple[Parameter, ...]:
        """The parameters that a caller gives: those in the path fit its template, and no credentials."""
        expressions = list(dict.fromkeys(_TEMPLATE.findall(path)))
        keys = self._credential_places(security)
        kept: list[Parameter] = []
        for parameter in parameters:
            if parameter.location == "header" and parameter.name.lower() in _IGNORED_HEADERS:
                continue
            if _wire_name(parameter.location, parameter.name) in keys:
                continue
            if parameter.location == "path" and parameter.name not in expressions:
                self.note(parameter.place, f"the path has no {{{parameter.name}}}; the parameter is left out")
                continue
            kept.append(parameter)
        described = {parameter.name for parameter in kept if parameter.location == "path"}
        kept += [self._undescribed(name, operation) for name in expressions if name not in described]
        return tuple(kept)

    def _undescribed(self, name: str, operation: Place) -> Parameter:
        self.note(operation, f"{{{name}}} in the path is not described; any text is taken for it")
        return Parameter(
            place=operation, name=name, location="path", required=True, description=None, deprecated=False,
            schema=Place({"type": "string"}, operation.uri, operation.pointer), style="simple", explode=False,
        )  # fmt: skip

    def _credential_places(self, security: Security) -> set[tuple[str, str]]:
        """Where the operation's API keys go: a parameter there is the credential, which is not the model's to give."""
        schemes = [self._schemes.get(use.name) for alternative in security for use in alternative]
        return {_wire_name(s.location, s.parameter) for s in schemes if s is not None and s.location and s.parameter}

    # --- the rest -------------------------------------------------------------------------------

    def _security(self, operation: Place) -> Security:
        place = operation.get("security") or self.root.get("security")
        if place is None:
            return ()
        security = tuple(
            tuple(replace(use, name=self._scheme_name(use.name, place)) for use in alternative)
            for alternative in read_requirements(place)
        )
        for use in {use for alternative in security for use in alternative}:
            if use.name not in self._schemes:
                self.note(place, f"the security scheme {use.name!r} is not described", rule="openapi.security")
        return security

    def _scheme_name(self, name: str, place: Place) -> str:
        """The name of the scheme that a requirement at `place` asks for; the reader's version may know other ways."""
        del place
        return name

    def _responses(self, operation: Place) -> Iterator[Response]:
        for status, place in operation.mapping("responses", extensible=True).items():
            try:
                yield self.response(status, self.documents.follow(place), operation)
            except DescriptionError as fault:
                self.note(fault.place, f"the response {status} is left out: {fault.reason}", rule=fault.rule)
                yield Response(status=status)
