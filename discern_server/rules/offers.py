"""The shapes that definitions of prompts, resources and resource templates must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.rules.rule import Rule
from discern_server.rules.shapes import COMMON, NAME, TEXT
from discern_server.schema.validate import Validator, compile_validator

_ARGUMENT: Final = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": NAME,
        "title": TEXT,
        "description": TEXT,
        "required": {"type": "boolean"},
    },
}
_ANNOTATIONS: Final = {
    "type": "object",
    "properties": {
        "audience": {"type": "array", "items": {"enum": ["user", "assistant"]}},
        "priority": {"type": "number", "minimum": 0, "maximum": 1},
        "lastModified": TEXT,
    },
}
_READABLE: Final = {
    **COMMON,
    "name": NAME,
    "mimeType": NAME,
    "annotations": _ANNOTATIONS,
}
_ABSOLUTE_URI: Final = {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9+.\-]*:"}


@dataclass(frozen=True, slots=True)
class Offer:
    """One kind of definition beside tools: what it must look like, and where its files lie beside the tools'.

    Attributes:
        rule: What a definition of no such shape breaks.
        folder: The folder of its files, inside the folder of tool definitions.
        shape: Judges its wire form. Unknown members are let through, as they are on the wire.
    """

    rule: Rule
    folder: str
    shape: Validator

    def findings(self, definition: Any) -> Iterator[Diagnostic]:
        """What is wrong with a definition, by a pointer into it."""
        for finding in self.shape.diagnose(definition):
            yield replace(finding, rule=self.rule.id, fix=finding.fix or self.rule.fix)


def _shape(required: list[str], properties: Mapping[str, Any]) -> Validator:
    return compile_validator({"type": "object", "required": required, "properties": dict(properties)})


PROMPT: Final = Offer(
    Rule(
        id="prompt.shape",
        demand="A prompt has a name, and arguments that have names.",
        reason="server/prompts, Data Types.",
        fix="give it the shape of a prompt",
    ),
    "prompts",
    _shape(
        ["name"],
        {
            **COMMON,
            "name": {"type": "string", "minLength": 1, "maxLength": 128},
            "arguments": {"type": "array", "items": _ARGUMENT},
        },
    ),
)
RESOURCE: Final = Offer(
    Rule(
        id="resource.shape",
        demand="A resource has an absolute URI and a name.",
        reason="server/resources, Data Types; RFC 3986, section 4.3.",
        fix="give it the shape of a resource",
    ),
    "resources",
    _shape(["uri", "name"], {**_READABLE, "uri": _ABSOLUTE_URI, "size": {"type": "integer", "minimum": 0}}),
)
TEMPLATE: Final = Offer(
    Rule(
        id="resource-template.shape",
        demand="A resource template has an absolute URI template and a name.",
        reason="server/resources, Resource Templates; RFC 6570.",
        fix="give it the shape of a resource template",
    ),
    "resource-templates",
    _shape(["uriTemplate", "name"], {**_READABLE, "uriTemplate": _ABSOLUTE_URI}),
)

OFFERS: Final = (PROMPT, RESOURCE, TEMPLATE)
OFFER_RULES: Final = tuple(offer.rule for offer in OFFERS)
