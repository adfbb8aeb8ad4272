"""Random schemas of each draft whose references mostly lead somewhere, and random values to judge with them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

NAMES = "abc"
ROOT, INNER, OTHER = "http://example.com/root", "inner", "http://example.com/other"
LATER: dict[str, Any] = {
    "const": 1,
    "contains": False,
    "dependentRequired": {"a": ["b"]},
    "if": False,
    "minContains": 2,
    "prefixItems": [False],
    "then": False,
    "unevaluatedItems": False,
    "unevaluatedProperties": False,
}
"""What a later draft brought in: an earlier one has to ignore it."""


def random_value(random: Random, depth: int = 3) -> Any:
    """A small JSON value."""
    kind = random.random()
    if depth == 0 or kind < 0.3:
        return random.choice([None, True, False, 0, 1, 2, 1.5, "", "a", "bc"])
    if kind < 0.65:
        return [random_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    return {random.choice(NAMES): random_value(random, depth - 1) for _ in range(random.randint(0, 3))}


class SchemaMaker:
    """Makes schemas of one draft. Identifiers, anchors and references go across three resources of one document."""

    def __init__(self, draft: str, random: Random) -> None:
        self._draft = draft
        self._random = random
        self._modern = draft in ("2019-09", "2020-12")
        self._id = "id" if draft == "draft-04" else "$id"
        self._definitions = "$defs" if self._modern else "definitions"
        self._references = [
            *("#", "#/properties/a", "#/allOf/0", "#here", "http://example.com/inner", "inner#here", "other#here"),
            *(f"#/{self._definitions}/{name}" for name in NAMES),
            f"inner#/{self._definitions}/b",
            "#/unknown",
        ]
        self._values = self._value_keywords()
        self._holders = self._schema_keywords()

    def root(self) -> dict[str, Any]:
        """A whole document."""
        random, definitions = self._random, self._definitions
        root, inner, other = (self._object(depth) for depth in (3, 2, 2))
        root[self._id], inner[self._id], other[self._id] = ROOT, INNER, OTHER
        inner[definitions] = {"b": self.schema(1), "h": self._anchored()}
        other[definitions] = {"h": self._anchored()}
        for resource in (root, inner, other):
            if self._draft == "2019-09" and random.random() < 0.6:
                resource["$recursiveAnchor"] = True
        named = {name: self.schema(2) for name in NAMES}
        root["properties"] = {**root.get("properties", {}), "a": named["a"]}
        root["allOf"] = [named["b"], *root.get("allOf", [])]
        root[definitions] = {**named, "h": self._anchored(), "inner": inner, "other": other}
        root["unknown"] = self._object(1)
        return root

    def schema(self, depth: int) -> Any:
        """Any schema; a reference every now and then."""
        random = self._random
        kind = random.random()
        if kind < 0.08 and self._draft != "draft-04":
            return random.random() < 0.8
        if kind < 0.3:
            beside = {"maxLength": 0} if random.random() < 0.3 else {}
            if self._modern and random.random() < 0.3:
                beside["unevaluatedProperties"] = False  # type: ignore[assignment]
            return {"$ref": random.choice(self._references), **beside}
        if kind < 0.4 and self._draft == "2019-09":
            return {"$recursiveRef": "#"}
        return self._object(depth)

    def _object(self, depth: int) -> dict[str, Any]:
        """A schema object that is no reference."""
        random = self._random
        table = {**self._values, **self._holders} if depth else self._values
        keywords = random.sample(sorted(table), k=random.randint(1, 4))
        schema = {keyword: table[keyword](depth - 1) for keyword in keywords}
        if self._draft == "draft-04" and "minimum" in schema and random.random() < 0.5:
            schema["exclusiveMinimum"] = True
        unknown = LATER.keys() - self._values.keys() - self._holders.keys()
        return schema | {keyword: LATER[keyword] for keyword in sorted(unknown) if random.random() < 0.02}

    def _anchored(self) -> dict[str, Any]:
        return {**self._object(1), **({"$anchor": "here"} if self._modern else {self._id: "#here"})}

    def _value_keywords(self) -> dict[str, Callable[[int], Any]]:
        random = self._random
        table: dict[str, Callable[[int], Any]] = {
            "type": lambda _: random.choice(["object", "array", "string", "integer", "null", ["array", "object"]]),
            "enum": lambda _: [random_value(random, 2)],
            "minimum": lambda _: random.randint(0, 2),
            "maxLength": lambda _: random.randint(0, 2),
            "maxItems": lambda _: random.randint(0, 2),
            "uniqueItems": lambda _: random.random() < 0.5,
            "required": lambda _: [random.choice(NAMES)],
            "minProperties": lambda _: 1,
            "title": lambda _: "t",
        }
        if self._draft != "draft-04":
            table |= {"const": lambda _: random_value(random, 1), "exclusiveMinimum": lambda _: random.randint(0, 2)}
        if self._modern:
            table |= {
                "minContains": lambda _: random.randint(0, 2),
                "dependentRequired": lambda _: {random.choice(NAMES): [random.choice(NAMES)]},
            }
        return table

    def _schema_keywords(self) -> dict[str, Callable[[int], Any]]:
        random, one = self._random, self.schema

        def many(depth: int) -> list[Any]:
            return [one(depth) for _ in range(random.randint(1, 2))]

        def named(depth: int) -> dict[str, Any]:
            return {random.choice(NAMES): one(depth) for _ in range(random.randint(1, 2))}

        table: dict[str, Callable[[int], Any]] = {
            "properties": named,
            "patternProperties": lambda depth: {random.choice(["^a", "b"]): one(depth)},
            "additionalProperties": one,
            "items": lambda depth: one(depth) if random.random() < 0.4 else many(depth),
            "additionalItems": one,
            "dependencies": lambda depth: {random.choice(NAMES): random.choice([one(depth), [random.choice(NAMES)]])},
            "allOf": many,
            "anyOf": many,
            "oneOf": many,
            "not": one,
        }
        if self._draft != "draft-04":
            table |= {"contains": one, "propertyNames": one}
        if self._draft not in ("draft-04", "draft-06"):
            table |= {"if": one, "then": one, "else": one}
        if self._draft == "2019-09":
            # `contains` is left out there: the engines take it to evaluate items, which is 2020-12's rule.
            del table["contains"]
            table |= {
                "dependentSchemas": named,
                "unevaluatedItems": lambda depth: random.choice([False, one(depth)]),
                "unevaluatedProperties": lambda depth: random.choice([False, one(depth)]),
            }
        return table
