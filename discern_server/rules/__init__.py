"""The rules that a tool definition must keep, and the ones that known clients would like it to keep.

`check_definition` finds what breaks them; `RULES` says what each is, and docs/guide/rules.md is made from it
(``python -m discern_server.rules``). Errors are errors for everyone. What is a warning can be switched.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from discern_server.result import Diagnostic
from discern_server.rules.clients import CLIENT_RULES, check_clients
from discern_server.rules.dialects import DIALECT_RULES, check_dialects
from discern_server.rules.folders import FOLDER_RULES
from discern_server.rules.headers import HEADER_RULES, check_headers
from discern_server.rules.members import MEMBER_RULES, OBJECT, check_members
from discern_server.rules.offers import OFFER_RULES
from discern_server.rules.rule import Rule
from discern_server.rules.schemas import SCHEMA_RULES, check_schemas
from discern_server.rules.texts import TEXT_RULES
from discern_server.schema.frozen import thaw
from discern_server.schema.json_value import is_json, json_faults
from discern_server.schema.words import show

__all__ = ["RULES", "Rule", "check_definition", "check_switches", "definition_errors", "switchable"]

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.id: rule
        for rules in (
            TEXT_RULES,
            FOLDER_RULES,
            MEMBER_RULES,
            SCHEMA_RULES,
            DIALECT_RULES,
            HEADER_RULES,
            CLIENT_RULES,
            OFFER_RULES,
        )
        for rule in rules
    }
)
"""Every rule by its id, in the order of the guide."""

_CHECKS: Final = (
    (check_members, MEMBER_RULES),
    (check_schemas, SCHEMA_RULES),
    (check_dialects, DIALECT_RULES),
    (check_headers, HEADER_RULES),
    (check_clients, CLIENT_RULES),
)


def check_definition(definition: Any, switches: Mapping[str, bool] = MappingProxyType({})) -> Iterator[Diagnostic]:
    """Every finding about a definition, frozen or plain, by a pointer into it.

    Args:
        definition: The wire form of one tool. Any value is taken: what is no definition is a finding, too.
        switches: By rule id, whether a warning is looked for; see `check_switches`.
    """
    faults = [] if is_json(definition) else list(json_faults(definition))
    if faults:
        yield from (fault.diagnostic() for fault in faults)
        return
    plain = thaw(definition)
    if not isinstance(plain, dict):
        yield OBJECT.at("", f"a definition is an object, not {show(plain)}")
        return
    for check, rules in _CHECKS:
        if any(_is_wanted(rule, switches) for rule in rules):
            yield from (finding for finding in check(plain) if _is_wanted(RULES[finding.rule], switches))


def definition_errors(definition: Any) -> tuple[Diagnostic, ...]:
    """What makes a definition one that cannot be served."""
    return tuple(check_definition(definition, dict.fromkeys(switchable(), False)))


def _is_wanted(rule: Rule, switches: Mapping[str, bool]) -> bool:
    return rule.is_error or switches.get(rule.id, rule.is_on)


def switchable() -> tuple[str, ...]:
    """The ids of the rules that a project may switch on or off."""
    return tuple(rule.id for rule in RULES.values() if not rule.is_error)


def check_switches(switches: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """What is wrong with the switches of a project: a rule that there is not or that is an error, or no boolean."""
    for name, value in switches.items():
        path = f"/{name}"
        if name not in RULES:
            near = difflib.get_close_matches(name, switchable(), 1)
            fix = f"write {near[0]}" if near else f"those there are: {', '.join(switchable())}"
            yield Diagnostic(rule="rules.unknown", message=f"there is no rule {show(name)}", path=path, fix=fix)
        elif RULES[name].is_error:
            message, fix = f"{name} is an error, which cannot be switched off", "leave the switch out"
            yield Diagnostic(rule="rules.error", message=message, path=path, fix=fix)
        elif not isinstance(value, bool):
            message = f"a switch is true or false, not {show(value)}"
            yield Diagnostic(rule="rules.switch", message=message, path=path, fix="write true or false")
