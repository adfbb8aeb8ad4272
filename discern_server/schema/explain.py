"""From a `Failure` of an engine to a `Diagnostic` that a model or a person can act on.

The words are ours, so that both engines say the same and a secret never reaches a message: a value is
shown shortened, an object or array never by its contents, and a value that the schema marks
``writeOnly`` or ``format: password`` not at all.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from discern_server.result import Diagnostic
from discern_server.schema.failure import Failure
from discern_server.schema.json_value import identity
from discern_server.schema.pointer import pointer
from discern_server.schema.secrets import Secrets
from discern_server.schema.words import SECRET, SHOWN_CHARACTERS, any_of, cut, listed, quote, short, show, type_name


def explain(failures: Iterable[Failure], secrets: Secrets) -> Iterator[Diagnostic]:
    """One diagnostic or more for each failure: an alternative that was missed brings its own along.

    What several keywords say in the same words is said once.
    """
    said = set()
    for diagnostic in _explain_all(failures, secrets):
        words = (diagnostic.rule, diagnostic.path, diagnostic.message)
        if words not in said:
            said.add(words)
            yield diagnostic


def _explain_all(failures: Iterable[Failure], secrets: Secrets) -> Iterator[Diagnostic]:
    for failure in failures:
        shown = _with_secrets_hidden(failure, secrets)
        if failure.branches:
            yield from _explain_alternatives(shown, secrets)
        else:
            yield from _explain_one(shown)


def _with_secrets_hidden(failure: Failure, secrets: Secrets) -> Failure:
    hidden = secrets.hide(failure.evaluation_path, failure.instance_path)
    return replace(failure, instance=SECRET) if hidden else failure


def _explain_one(failure: Failure) -> Iterator[Diagnostic]:
    if failure.note:
        yield _diagnostic(failure, f"{show(failure.instance)} cannot be checked: {failure.note}", None)
    elif failure.keyword in _UNKNOWN_PROPERTIES and failure.names:
        for name in failure.names:
            yield _diagnostic(failure, f"{quote(name)} is not a known property", _rename(name, failure), name)
    elif failure.of_name:
        message, _ = _sentence(failure)
        yield _diagnostic(failure, f"not a good property name: {message}", None, str(failure.instance))
    else:
        yield _explained(failure)


def _explained(failure: Failure) -> Diagnostic:
    return _diagnostic(failure, *_sentence(failure))


def _diagnostic(failure: Failure, message: str, fix: str | None, name: str | None = None) -> Diagnostic:
    place = failure.instance_path if name is None else (*failure.instance_path, name)
    return Diagnostic(
        rule=failure.keyword,
        message=message,
        path=pointer(place),
        schema_path=pointer(failure.evaluation_path),
        fix=fix,
    )


# --- one sentence for each keyword ----------------------------------------------------------------------

_MOST_COMPARED: Final = 200
_MOST_PARSED: Final = 10_000
_ADD_ITEM: Final = "add such an item"

_Sentence: TypeAlias = tuple[str, str | None]
_MORE: Final = ""
_PARTS: Final = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else"})
_UNKNOWN_PROPERTIES: Final = ("additionalProperties", "unevaluatedProperties")


def _sentence(failure: Failure) -> _Sentence:
    special = _SPECIAL.get(failure.keyword)
    if special:
        return special(failure)
    plain = _PLAIN.get(failure.keyword)
    if plain:
        message, fix = plain
        value = short(failure.value)
        return message.format(shown=show(failure.instance), value=value), fix.format(value=value)
    return f"{show(failure.instance)} does not satisfy {quote(failure.keyword)}", None


def _type(failure: Failure) -> _Sentence:
    wanted = [failure.value] if isinstance(failure.value, str) else list(failure.value)
    mend = _other_type(failure.instance, wanted) or f"give {any_of(wanted)}"
    return f"expected {any_of(wanted)}, got {show(failure.instance)}", mend


def _other_type(instance: Any, wanted: list[str]) -> str | None:
    """The mend for the usual slips: a number or an object given as text, null for nothing."""
    if instance is None:
        return "leave it out, or give a value"
    if not isinstance(instance, str) or len(instance) > _MOST_PARSED:
        return None
    try:
        meant = json.loads(instance)
    except (ValueError, RecursionError):
        return None
    kind = type_name(meant)
    if kind in wanted or (kind == "integer" and "number" in wanted):
        return f"give the {kind} itself, not text that holds it"
    return None


def _required(failure: Failure) -> _Sentence:
    name = failure.names[0] if failure.names else ""
    return f"{quote(name)} is missing", f"add {quote(name)}{_described(name, failure)}"


def _dependent(failure: Failure) -> _Sentence:
    name = failure.names[0] if failure.names else ""
    dependencies = failure.value if isinstance(failure.value, Mapping) else {}
    because = next((key for key, needed in dependencies.items() if isinstance(needed, list) and name in needed), None)
    message, fix = _required(failure)
    return (f"{message}, which {quote(because)} needs" if because is not None else message), fix


def _described(name: str, failure: Failure) -> str:
    properties = (failure.parent or {}).get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    if not isinstance(schema, Mapping):
        return ""
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else [k for k in kind or () if isinstance(k, str)]
    text = schema.get("description")
    words = [any_of(kinds)] if kinds else []
    words += [cut(text, SHOWN_CHARACTERS)] if isinstance(text, str) and text else []
    return f" ({'; '.join(words)})" if words else ""


def _enum(failure: Failure) -> _Sentence:
    choices = [short(choice) for choice in failure.value]
    near = _near_choice(failure.instance, failure.value)
    fix = None if near is None else f"use {short(near)}"
    return f"{show(failure.instance)} is not one of {listed(choices)}", fix


def _near_choice(given: Any, choices: Iterable[Any]) -> Any:
    """The choice that was probably meant by a text; None where it is none."""
    if not isinstance(given, str):
        return None
    by_text = {choice if isinstance(choice, str) else short(choice): choice for choice in choices}
    near = _nearest(given, list(by_text))
    return None if near is None else by_text[near]


def _const(failure: Failure) -> _Sentence:
    return f"{show(failure.instance)} is not {short(failure.value)}", f"use {short(failure.value)}"


def _unique(failure: Failure) -> _Sentence:
    message, fix = f"{show(failure.instance)} holds the same item twice", "give each item once"
    if not isinstance(failure.instance, list) or len(failure.instance) > _MOST_COMPARED:
        return message, fix
    first: dict[str, int] = {}
    for index, item in enumerate(failure.instance):
        before = first.setdefault(identity(item), index)
        if before != index:
            return f"{message}, at {before} and {index}", fix
    return message, fix


def _contains(failure: Failure) -> _Sentence:
    return f"{show(failure.instance)} has no item that {_matches((failure.parent or {}).get('contains'))}", _ADD_ITEM


def _not(failure: Failure) -> _Sentence:
    return f"{show(failure.instance)} {_matches(failure.value)}, which is not allowed here", "give another value"


def _matches(schema: Any) -> str:
    """What is said of a value that matches a schema: the schema itself, where it can be read alone."""
    text = short(schema)
    return "is of the kind described" if "$ref" in text or not isinstance(schema, Mapping) else f"matches {text}"


def _no_alternative(failure: Failure) -> _Sentence:
    count = len(failure.branches or failure.value)
    return (f"matches none of the {count} alternatives" if count > 1 else "does not match"), None


def _nothing_allowed(_: Failure) -> _Sentence:
    return "nothing is allowed here", "leave it out"


_SPECIAL: Final[Mapping[str, Callable[[Failure], _Sentence]]] = {
    "type": _type,
    "required": _required,
    "dependencies": _dependent,
    "dependentRequired": _dependent,
    "enum": _enum,
    "const": _const,
    "anyOf": _no_alternative,
    "oneOf": _no_alternative,
    "uniqueItems": _unique,
    "contains": _contains,
    "not": _not,
    "false": _nothing_allowed,
}

_PLAIN: Final[Mapping[str, tuple[str, str]]] = {
    "minimum": ("{shown} is less than {value}", "give {value} or more"),
    "maximum": ("{shown} is more than {value}", "give {value} or less"),
    "exclusiveMinimum": ("{shown} is not more than {value}", "give more than {value}"),
    "exclusiveMaximum": ("{shown} is not less than {value}", "give less than {value}"),
    "multipleOf": ("{shown} is not a multiple of {value}", "give a multiple of {value}"),
    "minLength": ("{shown} is too short", "give at least {value} characters"),
    "maxLength": ("{shown} is too long", "give at most {value} characters"),
    "pattern": ("{shown} does not match the pattern {value}", "give text that matches {value}"),
    "format": ("{shown} is not of the format {value}", "give text in the format {value}"),
    "minItems": ("{shown} has too few items", "give at least {value}"),
    "maxItems": ("{shown} has too many items", "give at most {value}"),
    "minContains": ("{shown} has too few items of the kind that must be there", "give at least {value} of them"),
    "maxContains": ("{shown} has too many items of one kind", "give at most {value} of them"),
    "minProperties": ("{shown} has too few properties", "give at least {value}"),
    "maxProperties": ("{shown} has too many properties", "give at most {value}"),
    "unevaluatedItems": ("{shown} has more items than are described", "leave out the last ones"),
}


def _rename(name: str, failure: Failure) -> str:
    known = list(_known(failure.parent or {}, and_parts=failure.keyword == "unevaluatedProperties"))
    near = _nearest(name, [name for name in known if name])
    if near is not None:
        return f"did you mean {quote(near)}?"
    if not known or _MORE in known:
        return "leave it out"
    return f"leave it out; known are {listed([quote(name) for name in dict.fromkeys(known)])}"


def _known(schema: Any, *, and_parts: bool) -> Iterator[str]:
    """The properties that a schema names; with `and_parts` those of its parts too, `_MORE` for a part elsewhere."""
    if not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    yield from properties if isinstance(properties, Mapping) else ()
    if not and_parts:
        return
    if "$ref" in schema:
        yield _MORE
    for keyword in _PARTS & schema.keys():
        parts = schema[keyword]
        for part in parts if isinstance(parts, list) else [parts]:
            yield from _known(part, and_parts=True)


def _nearest(word: str, words: list[str]) -> str | None:
    """The one of `words` that was probably meant. Comparing costs time: long words and long lists are let be."""
    if len(word) > _MOST_COMPARED:
        return None
    return next(iter(difflib.get_close_matches(word, words[:_MOST_COMPARED], 1)), None)


# --- alternatives -----------------------------------------------------------------------------------------


def _explain_alternatives(failure: Failure, secrets: Secrets) -> Iterator[Diagnostic]:
    matching = [index for index, branch in enumerate(failure.branches) if not branch]
    if matching:
        those = listed([_alternative(failure, index) for index in matching])
        yield _diagnostic(failure, f"matches {those}; exactly one is allowed", "make it match only one of them")
        return
    types = _types_of_all(failure)
    if types:
        message = f"expected {any_of(types)}, got {show(failure.instance)}"
        yield _diagnostic(failure, message, _other_type(failure.instance, types))
        return
    choice = _choice_of_all(failure)
    if choice is not None:
        yield replace(_explained(_with_secrets_hidden(choice, secrets)), rule=failure.keyword)
        return
    index = min(range(len(failure.branches)), key=lambda index: _distance(failure, failure.branches[index]))
    message, _ = _no_alternative(failure)
    yield _diagnostic(failure, f"{message}; {_alternative(failure, index)} comes closest", None)
    yield from _explain_all(failure.branches[index], secrets)


def _types_of_all(failure: Failure) -> list[str]:
    """The types the alternatives ask for, where each failed by nothing but the type of the value itself."""
    types: list[str] = []
    for branch in failure.branches:
        if len(branch) != 1 or branch[0].keyword != "type" or branch[0].instance_path != failure.instance_path:
            return []
        value = branch[0].value
        types += [value] if isinstance(value, str) else value
    return list(dict.fromkeys(types))


def _choice_of_all(failure: Failure) -> Failure | None:
    """One failed ``enum`` for what each alternative asks of the same value: the tag of a union, or the value itself."""
    choices: list[Any] = []
    found: Failure | None = None
    for branch in failure.branches:
        asked = next((cause for cause in branch if _asked(cause, failure) is not None), None)
        if asked is None or (found is not None and asked.instance_path != found.instance_path):
            return None
        found = found or asked
        choices += _asked(asked, failure) or []
    if found is None:
        return None
    distinct = {identity(choice): choice for choice in choices}
    return replace(found, keyword="enum", value=list(distinct.values()))


def _asked(cause: Failure, failure: Failure) -> list[Any] | None:
    """The values that a failed keyword asks for, at the value of the alternatives or a member of it."""
    if len(cause.instance_path) > len(failure.instance_path) + 1:
        return None
    match cause.keyword:
        case "const":
            return [cause.value]
        case "enum":
            return list(cause.value)
        case "type" if cause.value == "null":
            return [None]
    return None


def _distance(failure: Failure, branch: tuple[Failure, ...]) -> tuple[int, int]:
    """How far an alternative is off: first the telling failures, then their number.

    The wrong type of the value itself, or a wrong constant in one of its members (the usual tag of a
    union), says that the alternative was not meant at all.
    """
    here = len(failure.instance_path)
    telling = sum(
        (cause.keyword == "type" and len(cause.instance_path) == here) * 2
        + (cause.keyword in ("const", "enum") and len(cause.instance_path) <= here + 1)
        for cause in branch
    )
    return telling, len(branch)


def _alternative(failure: Failure, index: int) -> str:
    schema = failure.value[index] if isinstance(failure.value, list) else None
    title = None
    if isinstance(schema, Mapping):
        title = schema.get("title") or str(schema.get("$ref", "")).rpartition("/")[2]
    number = f"alternative {index + 1}"
    return f"{number} ({cut(title, SHOWN_CHARACTERS)})" if isinstance(title, str) and title else number
