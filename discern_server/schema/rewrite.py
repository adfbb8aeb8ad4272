"""Keywords of other dialects, written as 2020-12 would: one schema object at a time.

A rule takes the value of one keyword, and the whole schema object for the neighbours that bear on it, and returns
the members that say the same in 2020-12. It looks at no schema inside: by the time rules run, those have been
replaced by what they will become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from discern_server.schema.dialects import TELLING, Dialect, Habit
from discern_server.schema.json_value import identity
from discern_server.schema.names import cleaned
from discern_server.schema.values import complaint, is_annotation

Members = dict[str, Any]
Rule = Callable[[Any, Members], Members]

IGNORED_PREFIX: Final = "x-ignored-"
"""Heads the name of a keyword that means nothing in its own dialect but would mean something in 2020-12."""

_SURVIVES_BESIDE_REF: Final = frozenset(
    {"$ref", "$schema", "$defs", "definitions"}
    | {"title", "description", "default", "deprecated", "examples", "example", "$comment"}
)


def rewrite(schema: Members, dialect: Dialect) -> Members:
    """`schema`, which holds keywords of `dialect`, with keywords of 2020-12; order is kept as far as it can be."""
    rules = _rules_of(dialect.habits)
    result: Members = {}
    surplus: list[Members] = []
    for keyword, value in schema.items():
        rule = rules.get(keyword)
        members = {keyword: value} if rule is None else rule(value, schema)
        for name, meaning in members.items():
            if name in result:
                surplus.append({name: meaning})
            else:
                result[name] = meaning
    return with_conjuncts(result, surplus)


def with_conjuncts(schema: Members, conjuncts: list[Members]) -> Members:
    """`schema`, and each of `conjuncts` as well."""
    if conjuncts:
        schema["allOf"] = [*schema.get("allOf", ()), *conjuncts]
    return schema


def survives_beside_ref(keyword: str) -> bool:
    """Whether a keyword beside a ``$ref`` that stands alone is kept: the frame, and what only tells the reader."""
    return keyword in _SURVIVES_BESIDE_REF or keyword.startswith("x-")


def is_ignored(keyword: str, dialect: Dialect, value: Any) -> bool:
    """Whether a keyword means nothing where it stands, yet cannot stand in 2020-12 under its own name."""
    if keyword in dialect.keywords:
        return is_annotation(keyword) and complaint(keyword, value) is not None
    # The meta-schema of 2020-12 still has an opinion on what 2019-09's own references may be.
    return keyword in TELLING or keyword.startswith("$recursive") or complaint(keyword, value) is not None


# --- the rules ------------------------------------------------------------------------------------------


def _items(value: Any, _schema: Members) -> Members:
    """An array of schemas became ``prefixItems``, which may not be empty (2020-12 Core, 10.3.1.1)."""
    if not isinstance(value, list):
        return {"items": value}
    return {"prefixItems": value} if value else {}


def _additional_items(value: Any, schema: Members) -> Members:
    """It means something beside an array of ``items`` only."""
    return {"items": value} if isinstance(schema.get("items"), list) else {}


def _dependencies(value: Any, _schema: Members) -> Members:
    """2019-09 split it in two: ``dependentRequired`` and ``dependentSchemas``."""
    if not isinstance(value, dict):
        return {"dependencies": value}
    names = {name: needs for name, needs in value.items() if isinstance(needs, list)}
    schemas = {name: needs for name, needs in value.items() if not isinstance(needs, list)}
    members: Members = {"dependentRequired": names, "dependentSchemas": schemas}
    return {keyword: member for keyword, member in members.items() if member}


def _bound(exclusive: str) -> Rule:
    """Draft-04 Validation 5.1.2: a true ``exclusiveMaximum`` sharpens ``maximum``."""

    def rule(value: Any, schema: Members) -> Members:
        inclusive = exclusive.removeprefix("exclusive").lower()
        return {exclusive: value} if schema.get(exclusive) is True else {inclusive: value}

    return rule


def _exclusive(keyword: str) -> Rule:
    """A boolean has done its work in the bound that it sharpens; a number can only mean what it means today."""

    def rule(value: Any, _schema: Members) -> Members:
        return {} if isinstance(value, bool) else {keyword: value}

    return rule


def _type(value: Any, schema: Members) -> Members:
    """``nullable`` adds null to a ``type`` in the same object, and does nothing else (OpenAPI 3.0.4, Schema Object)."""
    if schema.get("nullable") is not True:
        return {"type": value}
    types = list(value) if isinstance(value, list) else [value]
    return {"type": types if "null" in types else [*types, "null"]}


def _nothing(_value: Any, _schema: Members) -> Members:
    """What the keyword says is said by a neighbour's rule."""
    return {}


def _names(value: Any, _schema: Members) -> Members:
    """Naming a property twice requires it no more than naming it once."""
    names = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return {"required": list(dict.fromkeys(value)) if names else value}


def _enum(value: Any, _schema: Members) -> Members:
    if not isinstance(value, list):
        return {"enum": value}
    first: dict[str, Any] = {}
    for item in value:
        first.setdefault(identity(item), item)
    return {"enum": list(first.values())}


def _discriminator(value: Any, _schema: Members) -> Members:
    """A hint to the reader (OpenAPI 3.1.1, Discriminator Object); its mapping names definitions, not what is gone."""
    if isinstance(value, str):
        return {"discriminator": {"propertyName": value}}
    if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
        targets = value["mapping"].items()
        mapping = {name: cleaned(target.rpartition("/")[2]) for name, target in targets if isinstance(target, str)}
        return {"discriminator": {**value, "mapping": mapping}}
    return {"discriminator": value}


def _example(value: Any, schema: Members) -> Members:
    return {} if isinstance(schema.get("examples"), list) else {"examples": [value]}


def _examples(value: Any, schema: Members) -> Members:
    if "example" not in schema or not isinstance(value, list) or schema["example"] in value:
        return {"examples": value}
    return {"examples": [schema["example"], *value]}


_RULES: Final[Mapping[Habit, Mapping[str, Rule]]] = {
    Habit.ARRAY_ITEMS: {"items": _items, "additionalItems": _additional_items},
    Habit.DEPENDENCIES: {"dependencies": _dependencies},
    Habit.BOOLEAN_EXCLUSIVE: {
        "minimum": _bound("exclusiveMinimum"),
        "maximum": _bound("exclusiveMaximum"),
        "exclusiveMinimum": _exclusive("exclusiveMinimum"),
        "exclusiveMaximum": _exclusive("exclusiveMaximum"),
    },
    Habit.NULLABLE: {"type": _type, "nullable": _nothing},
    Habit.OPENAPI_ANNOTATIONS: {"example": _example, "examples": _examples, "discriminator": _discriminator},
    Habit.REPEATS: {"required": _names, "enum": _enum},
}


@cache
def _rules_of(habits: frozenset[Habit]) -> Mapping[str, Rule]:
    return {keyword: rule for habit in Habit if habit in habits for keyword, rule in _RULES.get(habit, {}).items()}
