"""Prompts: messages that a user picks, with arguments (server/prompts)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discern_server.definition import check_wire, load_folder
from discern_server.handler import Handler
from discern_server.rules.offers import PROMPT
from discern_server.schema.frozen import freeze


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefinition:
    """One prompt as it is told to clients, frozen all the way down.

    Attributes:
        name: What it is asked for by.
        required: The names of the arguments that must be given, in order.
        optional: The names of those that may be.
        wire: The whole definition as it goes to a client.
        origin: The file it came from, or None.
    """

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    wire: Mapping[str, Any] = field(hash=False)
    origin: str | None = None

    @classmethod
    def from_wire(cls, definition: Mapping[str, Any], origin: str | None = None) -> PromptDefinition:
        """A definition from its wire form, copied and frozen.

        Raises:
            DefinitionError: it does not have the shape of a prompt; every fault is told.
        """
        check_wire(PROMPT, definition, origin)
        arguments = definition.get("arguments", ())
        return cls(
            name=definition["name"],
            required=tuple(argument["name"] for argument in arguments if argument.get("required")),
            optional=tuple(argument["name"] for argument in arguments if not argument.get("required")),
            wire=freeze(definition),
            origin=origin,
        )

    @classmethod
    def load(cls, directory: str | Path | Traversable) -> tuple[PromptDefinition, ...]:
        """The definitions in the ``*.json`` files of a folder, such as ``schemas/prompts``.

        Raises:
            DefinitionError: see `discern_server.definition.load_folder`.
        """
        return load_folder(PROMPT, directory, cls.from_wire)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with what answers it.

    Attributes:
        definition: What clients are told of it.
        handler: ``(args, ctx)`` to the messages: text for one message of the user, or a list of texts and
            of ``{"role": ..., "content": ...}`` objects, or an SDK result object. The arguments are strings.
        completions: For an argument's name, ``(args, ctx)`` to the values that it may be completed to. ``args`` holds
            ``value``, what was typed so far, and ``arguments``, those that are known already.
    """

    definition: PromptDefinition
    handler: Handler
    completions: Mapping[str, Handler] = field(default_factory=lambda: MappingProxyType({}))
