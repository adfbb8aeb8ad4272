"""``discern serve``: the project's own tools, prompts and resources.

The files in ``schemas/`` are what is served, as they stand. The sources are asked for their handlers alone: generating
anew at every start would cost time, and let an update of a generator stop a server whose files and code fit each
other. Whether the files are current is for ``discern check``, in CI. A file that nothing can serve, and a handler
that has no file, are refused here, with what to run, rather than on a call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discern_server.catalog import Catalog, CatalogError
from discern_server.handler import Handler
from discern_server.project import LegacyPolicy, OffersConfig, OpenApiSource, Project
from discern_server.result import Diagnostic, DiscernResult, failure
from discern_server.sources.importing import open_lifespan
from discern_server.verbs.offers import Offers, offers_of
from discern_server.verbs.projects import project_with_schemas
from discern_server.verbs.sources import OpenSource, handlers_of, open_sources
from discern_server.verbs.states import States

if TYPE_CHECKING:
    from discern_server.protocol.factory import ServerFactory
    from discern_server.resources import ResourceTemplate


def project_factory(root: Path) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    """A factory for what the project in the folder `root` serves, and its policy; else why it cannot be served.

    The project's folder becomes the working directory: hosts start servers anywhere, and what handlers
    read by a relative path should not depend on it.
    """
    project = project_with_schemas("serve", root)
    if isinstance(project, DiscernResult):
        return project
    os.chdir(project.root)
    states = _ProjectStates(project)
    found, faults = handlers_of(open_sources(project))
    offers = offers_of(project, states.of_table)
    if faults or offers.handler_faults:
        message = "the sources have faults" if faults else "prompts or resources have no handler"
        return failure("serve", "invalid_sources", message, diagnostics=(*faults, *offers.handler_faults))
    if wrong := (*offers.definition_faults, *_template_faults(offers.templates)):
        return failure("serve", "invalid_definitions", "the definitions cannot be used", diagnostics=wrong)
    catalog = _catalog(project, tuple(found), offers)
    if isinstance(catalog, DiscernResult):
        return catalog
    handlers = {name: states.of_source(*found[name]) for name in catalog.names}
    return _factory(project, catalog, handlers, offers, states), project.server.legacy


def _catalog(project: Project, served: Sequence[str], offers: Offers) -> Catalog | DiscernResult:
    """The tools, each of which is one of those `served`; or what is amiss."""
    if not served and not offers.are_there:
        message = "there is nothing to serve: no source has a tool, and there is no prompt and no resource"
        return failure("serve", "no_definitions", message, hints=("discern help sources", "discern help prompts"))
    missing = tuple(_without_file(name) for name in served if not (project.schemas / f"{name}.json").is_file())
    if missing:
        hints = ("discern accept writes the definitions; then serve again",)
        return failure("serve", "stale", "schemas/ lacks definitions", diagnostics=missing, hints=hints)
    if not served and not any(project.schemas.glob("*.json")):
        return Catalog.of([])
    try:
        catalog = Catalog.load(project.schemas)
    except CatalogError as error:
        message = "the definitions cannot be used"
        return failure("serve", "invalid_definitions", message, diagnostics=error.diagnostics)
    unserved = tuple(_without_handler(name) for name in catalog.names if name not in served)
    if unserved:
        return failure("serve", "no_handler", "there are definitions that nothing serves", diagnostics=unserved)
    return catalog


def _factory(
    project: Project, catalog: Catalog, handlers: Mapping[str, Handler], offers: Offers, states: States
) -> ServerFactory:
    from discern_server.protocol.factory import ServerFactory
    from discern_server.protocol.surface import Surface

    server = project.server
    surface = Surface(
        server.name,
        server.version,
        catalog,
        handlers,
        prompts=offers.prompts,
        resources=offers.resources,
        templates=offers.templates,
        title=server.title,
        instructions=server.instructions,
        logging=True,  # an entry goes only to a request that asked for it
    )
    return ServerFactory(surface, lifespan=states.lifespan)


class _ProjectStates(States):
    """The states of a project's handlers, told apart by what the project file names."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._root = project.root

    def of_source(self, opened: OpenSource, handler: Handler) -> Handler:
        """The handler of a source, with what its lifespan opens."""
        config = opened.config
        key = id(opened) if isinstance(config, OpenApiSource) else (config.lifespan, config.path)
        return self.bound(handler, key, opened.source.lifespan)

    def of_table(self, config: OffersConfig, handler: Handler) -> Handler:
        """A handler of ``[prompts]`` or ``[resources]``, with what the table's lifespan opens."""
        key = (config.lifespan, config.path)
        return self.bound(handler, key, lambda: open_lifespan(config.lifespan, config.path, self._root))


def _template_faults(templates: Sequence[ResourceTemplate]) -> Iterator[Diagnostic]:
    """A fault for each URI template that cannot be matched."""
    from discern_server.protocol.surface import PreparedTemplate

    for template in templates:
        try:
            PreparedTemplate(template)
        except ValueError as error:
            yield Diagnostic(
                rule="serve.template",
                message=str(error),
                path=f"{template.definition.origin}#/uriTemplate",
                fix="write a URI template as RFC 6570 has it, such as shop://things/{name}",
            )


def _without_file(name: str) -> Diagnostic:
    return Diagnostic(
        rule="schemas.missing",
        message=f"{name} has no file",
        path=f"schemas/{name}.json",
        fix="run discern accept, and check the file in",
    )


def _without_handler(name: str) -> Diagnostic:
    return Diagnostic(
        rule="serve.handler",
        message=f"{name} has no handler",
        path=f"schemas/{name}.json",
        fix="give its source a handlers module with a function of that name (discern help sources)",
    )
