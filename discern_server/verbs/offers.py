"""What a project offers beside tools: the prompts and resources that ``schemas/`` defines, and what answers for them.

Their definitions are written by hand, one JSON file each, in ``schemas/prompts``, ``schemas/resources`` and
``schemas/resource-templates``. A definition is called by the name of its file. What answers for it is the function of
that name (``-`` and ``.`` read as ``_``) in the module that ``[prompts]`` or ``[resources]`` names, or, for a
resource, the file that ``[resources]`` gives it, which takes no Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from discern_server.handler import Handler
from discern_server.project import OffersConfig, Project
from discern_server.result import Diagnostic
from discern_server.rules.offers import OFFERS

if TYPE_CHECKING:
    from discern_server.prompts import Prompt
    from discern_server.resources import Resource, ResourceTemplate

WithState: TypeAlias = Callable[[OffersConfig, Handler], Handler]
"""Makes of a module's function a handler that sees what the lifespan of its table opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """What a project offers beside tools.

    Attributes:
        prompts: The prompts, in the order of their files.
        resources: The resources.
        templates: The resource templates.
        definition_faults: What is wrong with definitions by themselves. Where there are any, the rest is not all.
        handler_faults: Why definitions cannot be served, and what is named that is not there.
    """

    prompts: tuple[Prompt, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[ResourceTemplate, ...] = ()
    definition_faults: tuple[Diagnostic, ...] = ()
    handler_faults: tuple[Diagnostic, ...] = ()

    @property
    def are_there(self) -> bool:
        """Whether there is any."""
        return bool(self.prompts or self.resources or self.templates)


def offers_of(project: Project, with_state: WithState = lambda _config, handler: handler) -> Offers:
    """The prompts and resources of `project`, with what answers for them, and every fault."""
    if not project.resources.files and not any((project.schemas / offer.folder).is_dir() for offer in OFFERS):
        return Offers()
    # Most projects have tools alone, and start without this.
    from discern_server.verbs.answering import read_offers

    return read_offers(project, with_state)
