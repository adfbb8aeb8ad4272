"""What answers for the prompts and resources of a project: the functions of a module, or a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, Final, TypeVar

from discern_server.definition import DefinitionError, load_folder
from discern_server.handler import Handler
from discern_server.project import FILE_NAME, OffersConfig, Project
from discern_server.prompts import Prompt, PromptDefinition
from discern_server.resources import (
    Resource,
    ResourceDefinition,
    ResourceTemplate,
    ResourceTemplateDefinition,
    read_from,
)
from discern_server.result import Diagnostic
from discern_server.rules.offers import PROMPT, RESOURCE, TEMPLATE, Offer
from discern_server.schema.pointer import pointer
from discern_server.sources import SourceError
from discern_server.sources.importing import function_of, import_module, lifespan_of
from discern_server.toml import nearest
from discern_server.verbs.drift import FOLDER_NAME
from discern_server.verbs.offers import Offers, WithState

_Definition = TypeVar("_Definition", PromptDefinition, ResourceDefinition, ResourceTemplateDefinition)

_IDENTITIES: Final[Mapping[str, str]] = {
    PROMPT.folder: "name",
    RESOURCE.folder: "uri",
    TEMPLATE.folder: "uriTemplate",
}


def read_offers(project: Project, with_state: WithState) -> Offers:
    """As `discern_server.verbs.offers.offers_of`, whatever there is."""
    folders = _Folders(project)
    prompts = folders.load(PROMPT, PromptDefinition.from_wire)
    resources = folders.load(RESOURCE, ResourceDefinition.from_wire)
    templates = folders.load(TEMPLATE, ResourceTemplateDefinition.from_wire)
    of_prompts = _Answers(project, project.prompts, with_state)
    of_resources = _Answers(project, project.resources, with_state)
    return Offers(
        prompts=tuple(Prompt(prompt, handler) for prompt, handler in of_prompts.to(prompts)),
        resources=tuple(Resource(resource, handler) for resource, handler in of_resources.to(resources)),
        templates=tuple(ResourceTemplate(template, handler) for template, handler in of_resources.to(templates)),
        definition_faults=tuple(folders.faults),
        handler_faults=(
            *dict.fromkeys((*of_prompts.faults, *of_resources.faults)),  # both tables may name the same module
            *(() if folders.faults else _file_faults(project, map(_name, resources))),
        ),
    )


class _Folders:
    """Reads the definitions of a project, folder by folder, and keeps the faults."""

    def __init__(self, project: Project) -> None:
        self._schemas = project.schemas
        self.faults: list[Diagnostic] = []

    def load(self, offer: Offer, from_wire: Callable[[Mapping[str, Any], str], _Definition]) -> list[_Definition]:
        """The definitions in the folder of `offer`; of two with the same name or URI, the first."""
        folder = self._schemas / offer.folder
        if not folder.is_dir():
            return []
        try:
            definitions = load_folder(offer, folder, from_wire, shown=f"{FOLDER_NAME}/{offer.folder}")
        except DefinitionError as error:
            self.faults += error.diagnostics
            return []
        member = _IDENTITIES[offer.folder]
        first: dict[str, _Definition] = {}
        for definition in definitions:
            known = first.setdefault(definition.wire[member], definition)
            if known is not definition:
                self.faults.append(_taken(member, definition, known))
        return list(first.values())


class _Answers:
    """What answers for the definitions of one table of the project file; the module is imported if one needs it."""

    def __init__(self, project: Project, config: OffersConfig, with_state: WithState) -> None:
        self._project = project
        self._config = config
        self._with_state = with_state
        self.faults: list[Diagnostic] = []

    def to(self, definitions: Iterable[_Definition]) -> Iterator[tuple[_Definition, Handler]]:
        """Each definition that something answers for, with its handler."""
        for definition in definitions:
            file = self._config.files.get(_name(definition))
            if file is not None and isinstance(definition, ResourceDefinition):
                yield definition, read_from(file, definition.mime_type)
            elif self._config.handlers is None:
                self.faults.append(_unanswered(definition))
            elif self._module is not None:
                try:
                    function = function_of(self._module, re.sub(r"[-.]", "_", _name(definition)), self._project.root)
                except SourceError as error:
                    self.faults += error.diagnostics
                else:
                    yield definition, self._with_state(self._config, function)

    @cached_property
    def _module(self) -> ModuleType | None:
        config, root = self._config, self._project.root
        try:
            lifespan_of(config.lifespan, config.path, root)
        except SourceError as error:
            self.faults += error.diagnostics
        try:
            return import_module(config.handlers or "", config.path, root)
        except SourceError as error:
            self.faults += error.diagnostics
            return None


def _name(definition: PromptDefinition | ResourceDefinition | ResourceTemplateDefinition) -> str:
    """What a definition is called: its file's name, without ``.json``."""
    return PurePosixPath(definition.origin or "").name.removesuffix(".json")


# --- faults -------------------------------------------------------------------------------------------


def _taken(member: str, definition: _Definition, first: _Definition) -> Diagnostic:
    return Diagnostic(
        rule="offers.unique",
        message=f"the {member} {definition.wire[member]} is taken by {first.origin}",
        path=f"{definition.origin}#/{member}",
        fix=f"give one of the two another {member}",
    )


def _unanswered(definition: PromptDefinition | ResourceDefinition | ResourceTemplateDefinition) -> Diagnostic:
    name = _name(definition)
    table = "prompts" if isinstance(definition, PromptDefinition) else "resources"
    file = f'its content (files."{name}" = "PATH") or ' if isinstance(definition, ResourceDefinition) else ""
    return Diagnostic(
        rule="serve.handler",
        message=f"{name} has no handler",
        path=definition.origin,
        fix=f'under [{table}], name {file}a module that answers (handlers = "MODULE"); see discern help prompts',
    )


def _file_faults(project: Project, names: Iterable[str]) -> Iterator[Diagnostic]:
    """A fault for each ``files`` entry that no resource takes, or that leads to no file."""
    known = set(names)
    for name, file in project.resources.files.items():
        place = f"{FILE_NAME}#{pointer(('resources', 'files', name))}"
        if name not in known:
            guess = nearest(name, known)
            yield Diagnostic(
                rule="offers.file",
                message=f"there is no resource {name}",
                path=place,
                fix=f"did you mean {guess}?" if guess else f"define it in {FOLDER_NAME}/{RESOURCE.folder}/{name}.json",
            )
        elif not file.is_file():
            shown = file.relative_to(project.root).as_posix()
            yield Diagnostic(
                rule="offers.file", message=f"{shown} is no file", path=place, fix="name the file with its content"
            )
