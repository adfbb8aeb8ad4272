"""YAML text as JSON values, by the meaning of YAML 1.2.

PyYAML's parser (libyaml) reads the text; what its plain scalars mean is decided here by the YAML 1.2.2 core
schema (§10.3), which is the JSON schema of §10.2 as people write it: ``NO``, ``on`` and ``2024-01-01`` are
text, ``0o17`` is fifteen and ``017`` seventeen. ``.inf`` and ``.nan`` stay text, for JSON has no such numbers.
Keys are the text as written (OpenAPI 3.2 §4.3: keys are scalar strings), so a response may be called ``200``.
Merge keys (``<<``), which YAML 1.2 leaves out and many documents hold, are carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml import events

from discern_server.sources.openapi.documents import Duplicate

MAX_NODES: Final = 5_000_000
"""How many values a document may have once its aliases are written out."""

_Parser: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o([0-7]+)|0x([0-9a-fA-F]+)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Final = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_STARTS_NUMBER: Final = frozenset("-+.0123456789")
_MERGE: Final = "<<"
_TAG: Final = "tag:yaml.org,2002:"
_MAX_NUMBER: Final = 400
"""Longest text taken for a number; Python's own limit for integers is 4300 digits."""


class YamlError(ValueError):
    """Text that is no YAML, or YAML that stands for no JSON value.

    Attributes:
        reason: What is wrong.
        line: The line, from 1, or None.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(slots=True)
class _Open:
    """A container being filled: a list, or a dict with the key that waits for its value."""

    value: Any
    line: int
    anchor: str | None
    nodes: int = 1
    key: str | None = None
    merging: bool = False
    merges: list[Any] = field(default_factory=list)


def parse(text: str, on_duplicate: Callable[[Duplicate], None] = lambda _duplicate: None) -> Any:
    """The one document in `text` as a JSON value; aliases share what they stand for.

    Raises:
        YamlError: The text is not YAML, holds several documents, or has no meaning in JSON (an alias to
            what encloses it, a key that is no scalar); or its aliases stand for more than `MAX_NODES` values.
    """
    try:
        return _Builder(on_duplicate).build(yaml.parse(text, Loader=_Parser))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise YamlError(reason or "not YAML", mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise YamlError(str(error)) from error


class _Builder:
    """Values out of parse events, without a node graph between and without recursion."""

    def __init__(self, on_duplicate: Callable[[Duplicate], None]) -> None:
        self._on_duplicate = on_duplicate
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._scalars: dict[str, Any] = dict(_WORDS)
        self._documents = 0
        self._nodes = 0
        self._result: Any = None

    def build(self, stream: Iterator[Any]) -> Any:
        for event in stream:
            kind = type(event)
            if kind is events.ScalarEvent:
                self._scalar(event)
            elif kind is events.MappingStartEvent:
                self._open({}, event)
            elif kind is events.SequenceStartEvent:
                self._open([], event)
            elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                self._close()
            elif kind is events.AliasEvent:
                self._alias(event)
            elif kind is events.DocumentStartEvent:
                self._document(event)
        return self._result

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise YamlError("the text holds more than one YAML document", _line(event))

    def _scalar(self, event: Any) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.key is None and type(parent.value) is dict:
            self._take_key(parent, event)
            return
        value = event.value
        if event.tag is not None:
            value = _tagged(event)
        elif event.implicit[0]:
            value = self._scalars[value] if value in self._scalars else self._plain(value)
        self._add(value, 1, event.anchor)

    def _plain(self, text: str) -> Any:
        """The meaning of a plain scalar (§10.3.2), remembered: documents repeat the same few."""
        value: Any = text
        if text[0] in _STARTS_NUMBER and len(text) <= _MAX_NUMBER:
            value = _number(text)
        self._scalars[text] = value
        return value

    def _take_key(self, parent: _Open, event: Any) -> None:
        parent.key = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = (event.value, 1)
        if event.value == _MERGE and event.implicit[0]:
            parent.merging = True
        elif event.value in parent.value:
            self._on_duplicate(Duplicate(event.value, _line(event)))

    def _open(self, value: Any, event: Any) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and type(parent.value) is dict and parent.key is None:
            raise YamlError("a mapping's key has to be text", _line(event))
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 0)
        self._stack.append(_Open(value, _line(event), event.anchor))

    def _close(self) -> None:
        done = self._stack.pop()
        for merged in done.merges:
            for key, value in merged.items():
                done.value.setdefault(key, value)
        self._add(done.value, done.nodes, done.anchor)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise YamlError(f"the alias *{event.anchor} has no anchor", _line(event))
        value, nodes = self._anchors[event.anchor]
        if nodes == 0:
            raise YamlError(f"the alias *{event.anchor} stands inside what it stands for", _line(event))
        parent = self._stack[-1] if self._stack else None
        if parent is not None and type(parent.value) is dict and parent.key is None:
            if not isinstance(value, str):
                raise YamlError("a mapping's key has to be text", _line(event))
            parent.key = value
            return
        self._add(value, nodes, None)

    def _add(self, value: Any, nodes: int, anchor: str | None) -> None:
        """Give a finished value, which stands for `nodes` values, to what encloses it."""
        if anchor is not None:
            self._anchors[anchor] = (value, nodes)
        if not self._stack:
            self._result = value
            return
        parent = self._stack[-1]
        parent.nodes += nodes
        if parent.nodes > MAX_NODES:
            raise YamlError(f"aliases make the document larger than {MAX_NODES} values", parent.line)
        if type(parent.value) is list:
            parent.value.append(value)
            return
        sources = value if isinstance(value, list) else [value]
        if parent.merging and all(isinstance(source, dict) for source in sources):
            parent.merges += sources
        else:
            parent.value[parent.key] = value
        parent.key, parent.merging = None, False


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    if based := _BASED.fullmatch(text):
        return int(based[1], 8) if based[1] else int(based[2], 16)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if number - number == 0 else text
    return text


def _tagged(event: Any) -> Any:
    """A scalar with an explicit tag: the core schema's five are known, any other leaves it text."""
    value: str = event.value
    match event.tag.removeprefix(_TAG):
        case "int" | "float":
            number = _number(value)
            if isinstance(number, str):
                raise YamlError(f"{value!r} is not a number", _line(event))
            return float(number) if event.tag.endswith("float") else number
        case "bool" | "null":
            if value not in _WORDS:
                raise YamlError(f"{value!r} is neither a boolean nor null", _line(event))
            return _WORDS[value]
        case _:
            return value


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1
