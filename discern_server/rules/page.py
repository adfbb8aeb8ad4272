"""docs/guide/rules.md, made from the rules: what each demands, why, the mend, and what it says of an example."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from discern_server.jsontext import JsonTextError, read_json
from discern_server.result import Diagnostic
from discern_server.rules import RULES, Rule, check_definition

_HEAD: Final = """\
# Rules

<!-- Made by `python -m discern_server.rules`; a test fails where it is stale. -->

`discern check` looks for these in every definition. A definition that breaks an error is not served: `Catalog.load`
refuses it. A warning can be switched off, or on, by its id.
"""

_MOST_EXAMPLE: Final = 400
"""Characters of an example that is worth showing."""

_GROUPS: Final = {
    "json": "JSON",
    "catalog": "Folders and files",
    "definition": "Members of a definition",
    "schema": "Schemas",
    "header": "x-mcp-header",
    "client": "Known clients",
    "prompt": "Prompts",
    "resource": "Resources",
    "resource-template": "Resource templates",
}


def rules_page() -> str:
    """The page, whole."""
    return "\n".join([_HEAD, *_table(), *_sections()])


def _table() -> Iterator[str]:
    yield "| rule | weight | demand |"
    yield "| --- | --- | --- |"
    for rule in RULES.values():
        demand = rule.demand.replace("|", "\\|")
        yield f"| [`{rule.id}`](#{rule.id.replace('.', '')}) | {_weight(rule)} | {demand} |"
    yield ""


def _sections() -> Iterator[str]:
    group = None
    for rule in RULES.values():
        if rule.id.partition(".")[0] != group:
            group = rule.id.partition(".")[0]
            yield f"## {_GROUPS[group]}\n"
        yield from _section(rule)


def _section(rule: Rule) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{rule.demand} *({_weight(rule)})*\n"
    yield f"{rule.reason}\n"
    yield f"Mend: {rule.fix}.\n"
    finding = next((each for each in findings_of(rule, rule.bad) if each.rule == rule.id), None)
    if finding and len(rule.bad) <= _MOST_EXAMPLE:
        yield f"```json\n{_laid_out(rule.bad)}\n```\n"
        yield f"> {finding.path or 'the whole'}: {finding.message}\n"
        yield f"Mended:\n\n```json\n{_laid_out(rule.good)}\n```\n"


def _laid_out(example: str) -> str:
    """An example as a definition file has it; one that strict reading refuses, as it stands."""
    try:
        value = read_json(example.encode()).value
    except JsonTextError:
        return example
    return json.dumps(value, ensure_ascii=False, indent=2)


def _weight(rule: Rule) -> str:
    if rule.is_error or rule.is_on:
        return rule.severity.value
    return f"{rule.severity.value}, off unless switched on"


def findings_of(rule: Rule, example: str) -> tuple[Diagnostic, ...]:
    """What is found in an example of a rule, with that rule switched on."""
    if not example:
        return ()
    try:
        definition = read_json(example.encode()).value
    except JsonTextError as error:
        return error.diagnostics
    return tuple(check_definition(definition, {rule.id: True}))
