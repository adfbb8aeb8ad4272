"""The dialects of JSON Schema, as data.

A dialect says which keywords it knows, where schemas stand inside a schema, how identifiers are
written, and which habits it has that 2020-12 lacks (`Habit`). Everything else in this package works
from that data; no other module compares dialect names.

Sources: draft-fge-json-schema-validation-00 (draft-04), the draft-06 and draft-07 releases, JSON Schema
2019-09 and 2020-12 (Core and Validation), and the Schema Object of Swagger 2.0, OpenAPI 3.0.4, 3.1.1, 3.2.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Final

Shapes = Mapping[str, "Shape"]


class Shape(Enum):
    """How schemas stand in the value of a keyword."""

    ONE = "a schema"
    MANY = "an array of schemas"
    NAMED = "an object of schemas"
    ONE_OR_MANY = "a schema or an array of schemas"
    DEPENDENCIES = "an object of schemas or arrays of property names"


class Habit(StrEnum):
    """What a dialect does that 2020-12 does not."""

    REF_STANDS_ALONE = "keywords beside $ref are ignored"
    ANCHOR_IN_ID = "an id that is a fragment names an anchor"
    ARRAY_ITEMS = "items may be an array, and additionalItems says what follows it"
    DEPENDENCIES = "dependencies holds schemas and property names alike"
    BOOLEAN_EXCLUSIVE = "exclusiveMinimum and exclusiveMaximum are booleans that sharpen minimum and maximum"
    CONTAINS_LEAVES_UNEVALUATED = "items that contains matched are still unevaluated"
    NULLABLE = "nullable adds null to type"
    OPENAPI_ANNOTATIONS = "example and discriminator tell the reader something"
    REPEATS = "required and enum may say a thing twice, which descriptions of real interfaces do"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One dialect.

    Attributes:
        name: What the project calls it, such as ``draft-07``.
        uri: Its ``$schema``; None where schemas of this dialect cannot carry one.
        keywords: Every keyword it knows. Any other is an annotation without meaning.
        shapes: The keywords of it that hold schemas.
        habits: What it does that 2020-12 does not.
        id_keyword: The keyword that gives a schema its URI; None where there is none.
        asserts_format: Whether its vocabulary demands that ``format`` is asserted.
    """

    name: str
    uri: str | None
    keywords: frozenset[str]
    shapes: Shapes
    habits: frozenset[Habit] = frozenset()
    id_keyword: str | None = "$id"
    asserts_format: bool = False

    def limited_to(self, keywords: Iterable[str], *, name: str, asserts_format: bool) -> Dialect:
        """This dialect, knowing only `keywords`: what a meta-schema with ``$vocabulary`` makes of it."""
        known = frozenset(keywords)
        return replace(
            self, name=name, uri=name, keywords=known, shapes=_shapes(known, self.shapes), asserts_format=asserts_format
        )


_SHAPES: Final[Shapes] = MappingProxyType(
    {
        "$defs": Shape.NAMED,
        "additionalItems": Shape.ONE,
        "additionalProperties": Shape.ONE,
        "allOf": Shape.MANY,
        "anyOf": Shape.MANY,
        "contains": Shape.ONE,
        "contentSchema": Shape.ONE,
        "definitions": Shape.NAMED,
        "dependencies": Shape.DEPENDENCIES,
        "dependentSchemas": Shape.NAMED,
        "else": Shape.ONE,
        "if": Shape.ONE,
        "items": Shape.ONE_OR_MANY,
        "not": Shape.ONE,
        "oneOf": Shape.MANY,
        "patternProperties": Shape.NAMED,
        "prefixItems": Shape.MANY,
        "properties": Shape.NAMED,
        "propertyNames": Shape.ONE,
        "then": Shape.ONE,
        "unevaluatedItems": Shape.ONE,
        "unevaluatedProperties": Shape.ONE,
    }
)

IN_PLACE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
"""The keywords whose schemas look at the same instance as the schema they stand in (2020-12 Core, 10.2)."""


def _shapes(keywords: frozenset[str], table: Shapes) -> Shapes:
    return MappingProxyType({keyword: shape for keyword, shape in table.items() if keyword in keywords})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- keywords by dialect and vocabulary ---------------------------------------------------------------

_DRAFT_04 = _words(
    """$schema id $ref title description default multipleOf maximum exclusiveMaximum minimum exclusiveMinimum
    maxLength minLength pattern additionalItems items maxItems minItems uniqueItems maxProperties minProperties
    required additionalProperties definitions properties patternProperties dependencies enum type allOf anyOf oneOf
    not format"""
)
_DRAFT_06 = (_DRAFT_04 - {"id"}) | _words("$id const contains propertyNames examples")
_DRAFT_07 = _DRAFT_06 | _words("if then else $comment contentEncoding contentMediaType readOnly writeOnly")

_VALIDATION = _words(
    """multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems
    uniqueItems maxContains minContains maxProperties minProperties required dependentRequired const enum type"""
)
_APPLICATOR = _words(
    """items contains additionalProperties properties patternProperties dependentSchemas propertyNames if then else
    allOf anyOf oneOf not"""
)
_META_DATA = _words("title description default deprecated readOnly writeOnly examples")
_CONTENT = _words("contentMediaType contentEncoding contentSchema")
_LEGACY = _words("definitions dependencies")  # both meta-schemas still describe them, for compatibility

_VOCAB_2019: Final = "https://json-schema.org/draft/2019-09/vocab/"
_VOCAB_2020: Final = "https://json-schema.org/draft/2020-12/vocab/"

VOCABULARIES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        _VOCAB_2019 + "core": _words(
            "$schema $id $ref $anchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs"
        )
        | _LEGACY,
        _VOCAB_2019 + "applicator": _APPLICATOR | _words("additionalItems unevaluatedItems unevaluatedProperties"),
        _VOCAB_2019 + "validation": _VALIDATION,
        _VOCAB_2019 + "meta-data": _META_DATA,
        _VOCAB_2019 + "format": _words("format"),
        _VOCAB_2019 + "content": _CONTENT,
        _VOCAB_2020 + "core": _words("$schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment $defs")
        | _LEGACY,
        _VOCAB_2020 + "applicator": _APPLICATOR | _words("prefixItems"),
        _VOCAB_2020 + "unevaluated": _words("unevaluatedItems unevaluatedProperties"),
        _VOCAB_2020 + "validation": _VALIDATION,
        _VOCAB_2020 + "meta-data": _META_DATA,
        _VOCAB_2020 + "format-annotation": _words("format"),
        _VOCAB_2020 + "format-assertion": _words("format"),
        _VOCAB_2020 + "content": _CONTENT,
    }
)
"""The keywords of each vocabulary that is understood, by the vocabulary's URI."""

FORMAT_ASSERTION: Final = _VOCAB_2020 + "format-assertion"


def _vocabularies(prefix: str) -> frozenset[str]:
    return frozenset().union(*(words for uri, words in VOCABULARIES.items() if uri.startswith(prefix)))


_OPENAPI = _words("discriminator xml externalDocs example")
_SWAGGER_20 = (_DRAFT_04 - {"$schema", "id"}) | _OPENAPI | {"readOnly"}
_OPENAPI_30 = _SWAGGER_20 | _words("nullable writeOnly deprecated")

# --- the dialects --------------------------------------------------------------------------------------

_OLD_HABITS = frozenset({Habit.REF_STANDS_ALONE, Habit.ANCHOR_IN_ID, Habit.ARRAY_ITEMS, Habit.DEPENDENCIES})
_SWAGGER_HABITS = frozenset(
    {
        Habit.REF_STANDS_ALONE,
        Habit.ARRAY_ITEMS,
        Habit.DEPENDENCIES,
        Habit.BOOLEAN_EXCLUSIVE,
        Habit.OPENAPI_ANNOTATIONS,
        Habit.REPEATS,
    }
)


def _dialect(
    name: str,
    uri: str | None,
    keywords: frozenset[str],
    habits: frozenset[Habit] = frozenset(),
    id_keyword: str | None = "$id",
) -> Dialect:
    table = _SHAPES if Habit.ARRAY_ITEMS in habits else {**_SHAPES, "items": Shape.ONE}
    return Dialect(
        name=name, uri=uri, keywords=keywords, shapes=_shapes(keywords, table), habits=habits, id_keyword=id_keyword
    )


DRAFT_04: Final = _dialect(
    "draft-04",
    "http://json-schema.org/draft-04/schema",
    _DRAFT_04,
    _OLD_HABITS | {Habit.BOOLEAN_EXCLUSIVE},
    id_keyword="id",
)
DRAFT_06: Final = _dialect("draft-06", "http://json-schema.org/draft-06/schema", _DRAFT_06, _OLD_HABITS)
DRAFT_07: Final = _dialect("draft-07", "http://json-schema.org/draft-07/schema", _DRAFT_07, _OLD_HABITS)
DRAFT_2019_09: Final = _dialect(
    "2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    _vocabularies(_VOCAB_2019),
    frozenset({Habit.ARRAY_ITEMS, Habit.DEPENDENCIES, Habit.CONTAINS_LEAVES_UNEVALUATED}),
)
DRAFT_2020_12: Final = _dialect(
    "2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    _vocabularies(_VOCAB_2020),
    frozenset({Habit.DEPENDENCIES}),
)
SWAGGER_20: Final = _dialect("swagger-2.0", None, _SWAGGER_20, _SWAGGER_HABITS, id_keyword=None)
OPENAPI_30: Final = _dialect("openapi-3.0", None, _OPENAPI_30, _SWAGGER_HABITS | {Habit.NULLABLE}, id_keyword=None)
OPENAPI_31: Final = _dialect(
    "openapi-3.1",
    "https://spec.openapis.org/oas/3.1/dialect/base",
    DRAFT_2020_12.keywords | _OPENAPI,
    # Booleans as exclusive bounds are no longer allowed there, but are what 3.0 left in many descriptions.
    DRAFT_2020_12.habits | {Habit.OPENAPI_ANNOTATIONS, Habit.REPEATS, Habit.BOOLEAN_EXCLUSIVE},
)
OPENAPI_32: Final = _dialect(
    "openapi-3.2", "https://spec.openapis.org/oas/3.2/dialect/2025-09-17", OPENAPI_31.keywords, OPENAPI_31.habits
)

DIALECTS: Final = (
    DRAFT_04,
    DRAFT_06,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
    SWAGGER_20,
    OPENAPI_30,
    OPENAPI_31,
    OPENAPI_32,
)

_MEANINGLESS = _META_DATA | _CONTENT - {"contentSchema"} | {"$schema", "$comment", "$vocabulary", "format"} | _LEGACY
TELLING: Final = DRAFT_2020_12.keywords - _MEANINGLESS
"""The keywords of 2020-12 that identify, refer, apply or assert: no older dialect may bring them in by accident."""


def find_dialect(name_or_uri: str) -> Dialect | None:
    """The dialect of that name or ``$schema`` URI; an empty fragment and http for https make no difference."""
    name = name_or_uri.replace("draft-20", "20", 1)  # 2020-12 is called draft-2020-12 as well
    return _BY_NAME.get(name) or _BY_URI.get(_comparable(name_or_uri))


def _comparable(uri: str) -> str:
    bare = uri.removesuffix("#").removeprefix("http://").removeprefix("https://")
    # OpenAPI dates its dialects: .../oas/3.1/dialect/base and .../oas/3.1/dialect/2024-11-10 are one to us.
    head, marker, _ = bare.partition("/dialect/")
    return head + marker if head.startswith("spec.openapis.org/oas/") else bare


_BY_NAME: Final = {dialect.name: dialect for dialect in DIALECTS}
_BY_URI: Final = {_comparable(dialect.uri): dialect for dialect in DIALECTS if dialect.uri}

# --- where schemas stand ---------------------------------------------------------------------------------


def subschemas(schema: Mapping[str, Any], dialect: Dialect) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each schema directly in `schema`, after the tokens that lead to it. What has the wrong shape is passed over."""
    for keyword, value in schema.items():
        shape = dialect.shapes.get(keyword)
        if shape is None:
            continue
        if isinstance(value, list):
            if shape in (Shape.MANY, Shape.ONE_OR_MANY):
                yield from (((keyword, index), item) for index, item in enumerate(value))
        elif shape in (Shape.ONE, Shape.ONE_OR_MANY):
            yield (keyword,), value
        elif isinstance(value, dict):
            yield from (((keyword, name), item) for name, item in value.items() if _may_be_schema(name, item))


def _may_be_schema(name: object, item: object) -> bool:
    return isinstance(name, str) and not isinstance(item, list)
