"""The documents of one API description: opened, parsed, and walked by reference.

A description is one file or many. What may be opened is decided here and by nobody else: the document that
the user named, and files below the folder it lies in (or the folder the user allows); for a description given
as a URL, addresses below that URL's own folder. Everything else that a document names is refused by name:
no reference ever makes a request to another host.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from discern_server.result import Diagnostic, Severity
from discern_server.schema.errors import UnresolvableError
from discern_server.schema.pointer import parse as parse_pointer
from discern_server.schema.pointer import pointer
from discern_server.schema.references import join, split

MAX_BYTES: Final = 64 * 1024 * 1024
"""The largest document that is read."""
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]+")
_SAID: Final = ("summary", "description")
_MAX_CHAIN: Final = 64
"""How many references may follow one another."""

Opener: TypeAlias = Callable[[str], bytes]
"""Opens the document at an absolute URI; raises `DocumentError` where it may not, `OSError` where it cannot."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key that an object holds twice; the last one counts.

    Attributes:
        key: The key.
        line: The line of its second use, or 0 where it is not known.
    """

    key: str
    line: int


class DocumentError(Exception):
    """A document that cannot be read.

    Attributes:
        uri: Which one.
        reason: Why, as the end of a sentence.
        line: The line, where it is known.
        fix: What to do about it.
    """

    def __init__(self, uri: str, reason: str, *, line: int | None = None, fix: str | None = None) -> None:
        super().__init__(f"{uri}: {reason}")
        self.uri = uri
        self.reason = reason
        self.line = line
        self.fix = fix


class DescriptionError(Exception):
    """Something in a description that keeps what holds it from being described.

    Attributes:
        place: Where it stands.
        reason: What is wrong, in one sentence.
        rule: The stable id of the finding.
        fix: The mend, where one can be said.
    """

    def __init__(self, place: Place, reason: str, *, rule: str = "openapi.invalid", fix: str | None = None) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason
        self.rule = rule
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a document, and where it stands there.

    Attributes:
        value: The JSON value.
        uri: The document's URI: what references in the value are relative to.
        pointer: The JSON Pointer of the value in that document.
    """

    value: Any
    uri: str
    pointer: str = ""

    def __getitem__(self, key: str | int) -> Place:
        """The value under a key or index that is there."""
        return Place(self.value[key], self.uri, self.pointer + pointer((key,)))

    def get(self, key: str) -> Place | None:
        """The value under a key, or None where this is no mapping or does not hold it (or holds null)."""
        if isinstance(self.value, Mapping) and self.value.get(key) is not None:
            return self[key]
        return None

    def mapping(self, key: str, *, extensible: bool = False) -> Mapping[str, Place]:
        """The members of the object under a key; empty where it is absent.

        An object that is `extensible` may hold extensions among its members: names that begin with ``x-`` are left
        out. In any other, such as a map of security schemes, they are names like others.

        Raises:
            DescriptionError: What stands there is no object.
        """
        found = self.get(key)
        if found is None:
            return {}
        return {name: found[name] for name in found.object() if not (extensible and name.startswith("x-"))}

    def items(self, key: str) -> list[Place]:
        """The items of the array under a key; empty where it is absent.

        Raises:
            DescriptionError: What stands there is no array.
        """
        found = self.get(key)
        if found is None:
            return []
        if not isinstance(found.value, list):
            raise DescriptionError(found, f"an array is expected here, not {kind_of(found.value)}")
        return [found[index] for index in range(len(found.value))]

    def object(self) -> Mapping[str, Any]:
        """The value as an object.

        Raises:
            DescriptionError: It is none.
        """
        if not isinstance(self.value, Mapping):
            raise DescriptionError(self, f"an object is expected here, not {kind_of(self.value)}")
        return self.value

    def text(self, key: str) -> str | None:
        """The text under a key, or None; a number or boolean, which YAML makes of bare words, is written out."""
        value = self.object().get(key)
        if isinstance(value, str):
            return value
        return None if value is None or isinstance(value, Mapping | list) else json.dumps(value)

    def flag(self, key: str, default: bool) -> bool:
        """The boolean under a key, or `default`."""
        value = self.object().get(key)
        return value if isinstance(value, bool) else default


def kind_of(value: Any) -> str:
    """What JSON calls a value, with its article."""
    kinds = {dict: "an object", list: "an array", str: "text", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


class Documents:
    """The documents of one description, each opened at most once."""

    def __init__(self, root_uri: str, opener: Opener, *, base_uri: str | None = None) -> None:
        """`root_uri` names the document that the user gave; `base_uri`, where it differs, is where it was published."""
        self.root_uri = root_uri
        self.warnings: list[Diagnostic] = []
        self.references_describe = False
        """Whether ``summary`` and ``description`` beside a ``$ref`` stand for the target's (3.1, Reference Object)."""
        self._opener = opener
        self._base = base_uri or root_uri
        self._loaded: dict[str, Any] = {}
        self._failed: dict[str, DocumentError] = {}

    @property
    def base_uri(self) -> str:
        """What relative server addresses in the root document are relative to."""
        return self._base

    def root(self) -> Place:
        """The root document, which references may also name by its ``$self`` (OpenAPI 3.2).

        Raises:
            DocumentError: It cannot be read.
        """
        value = self.load(self.root_uri)
        own = value.get("$self") if isinstance(value, Mapping) else None
        if isinstance(own, str):
            with suppress(UnresolvableError):  # then nothing can refer to it by that name
                self._loaded.setdefault(split(join(self.root_uri, own))[0], value)
        return Place(value, self.root_uri)

    def load(self, uri: str) -> Any:
        """The document at an absolute URI.

        Raises:
            DocumentError: It may not be opened, cannot be, or is neither JSON nor YAML.
        """
        if uri in self._failed:
            raise self._failed[uri]
        if uri not in self._loaded:
            try:
                self._loaded[uri] = self._parse(uri, self._open(uri))
            except DocumentError as error:
                self._failed[uri] = error
                raise
        return self._loaded[uri]

    def _open(self, uri: str) -> bytes:
        try:
            data = self._opener(uri)
        except OSError as error:
            raise DocumentError(self.name(uri), f"it cannot be opened: {error.strerror or error}") from error
        if len(data) > MAX_BYTES:
            raise DocumentError(self.name(uri), f"it is larger than {MAX_BYTES} bytes")
        return data

    def _parse(self, uri: str, data: bytes) -> Any:
        value, duplicates = parse(data, self.name(uri))
        for duplicate in duplicates:
            self.warnings.append(
                Diagnostic(
                    rule="openapi.duplicate-key",
                    severity=Severity.WARNING,
                    message=f"the key {duplicate.key!r} stands twice in one object; the last one counts",
                    path=self.name(uri),
                    line=duplicate.line or None,
                    fix="remove or rename one of them",
                )
            )
        return value

    def name(self, uri: str) -> str:
        """A document's name for a person: relative to the root document where it can be."""
        folder, slash, _ = self.root_uri.rpartition("/")
        if uri.startswith("file:") and uri.startswith(folder + slash):
            return unquote(uri[len(folder) + 1 :])
        return uri

    def path(self, place: Place) -> str:
        """Where a place is, as ``file#/pointer``."""
        return f"{self.name(place.uri)}#{place.pointer}"

    def diagnose(self, fault: DescriptionError, severity: Severity = Severity.ERROR) -> Diagnostic:
        """A fault as a finding."""
        return Diagnostic(
            rule=fault.rule, message=fault.reason, severity=severity, path=self.path(fault.place), fix=fault.fix
        )

    def resolve(self, reference: str, place: Place) -> Place:
        """What `reference`, standing at `place`, leads to; one step.

        Raises:
            DescriptionError: It leads nowhere, or somewhere that may not be opened.
        """
        try:
            uri, fragment = split(join(place.uri, reference))
            document = self.load(uri)
        except UnresolvableError as error:
            message = f"the reference {shorten(reference)} {error.reason}"
            raise DescriptionError(place, message, rule="openapi.reference") from error
        except DocumentError as error:
            raise DescriptionError(
                place, f"the reference {shorten(reference)} leads to {error.uri}, and {error.reason}",
                rule="openapi.reference", fix=error.fix,
            ) from error  # fmt: skip
        return self._descend(Place(document, uri), fragment, reference, place)

    def _descend(self, target: Place, fragment: str, reference: str, place: Place) -> Place:
        try:
            tokens = parse_pointer(fragment)
        except ValueError:
            message = f"the reference {shorten(reference)} is no JSON Pointer"
            raise DescriptionError(place, message, rule="openapi.reference") from None
        for token in tokens:
            key = int(token) if isinstance(target.value, list) and token.isdecimal() else token
            try:
                target = target[key]
            except (KeyError, IndexError, TypeError):
                where = f"there is no {token!r} at {self.path(target)}"
                message = f"the reference {shorten(reference)} leads to nothing: {where}"
                raise DescriptionError(place, message, rule="openapi.reference") from None
        return target

    def follow(self, place: Place) -> Place:
        """The value itself, at the end of however many references.

        Raises:
            DescriptionError: A reference leads nowhere, or back to itself.
        """
        start = place
        said: dict[str, Any] = {}
        for _ in range(_MAX_CHAIN):
            reference = place.value.get("$ref") if isinstance(place.value, Mapping) else None
            if not isinstance(reference, str):
                if not said or not isinstance(place.value, Mapping):
                    return place
                return Place({**place.value, **said}, place.uri, place.pointer)
            if self.references_describe:
                said = {**{key: place.value[key] for key in _SAID if key in place.value}, **said}
            place = self.resolve(reference, place)
        raise DescriptionError(start, "the reference leads back to itself", rule="openapi.reference")


def shorten(text: str, limit: int = 120) -> str:
    """A value of the document, quoted and bounded, for a message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


# --- parsing ----------------------------------------------------------------------------------------


def parse(data: bytes, name: str) -> tuple[Any, list[Duplicate]]:
    """A document's text as a JSON value, with the keys it holds twice; JSON and YAML are told apart by the text.

    Raises:
        DocumentError: It is neither, or nested deeper than can be read.
    """
    duplicates: list[Duplicate] = []
    try:
        text = _text_of(data)
        if text.lstrip()[:1] not in ("{", "["):
            return _parse_yaml(data, name, duplicates), duplicates
        return _parse_json(text, duplicates), duplicates
    except UnicodeDecodeError as error:
        raise DocumentError(name, f"its text is not {error.encoding}: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise DocumentError(name, "it is nested too deeply to be read") from error
    except ValueError as error:
        return _bracketed_yaml(data, name, error)


def _bracketed_yaml(data: bytes, name: str, json_error: ValueError) -> tuple[Any, list[Duplicate]]:
    """YAML that begins with a bracket; where it is none, or is called JSON, the document is told of as broken JSON."""
    duplicates: list[Duplicate] = []
    with suppress(DocumentError):
        if not name.lower().endswith(".json"):
            return _parse_yaml(data, name, duplicates), duplicates
    line = json_error.lineno if isinstance(json_error, json.JSONDecodeError) else None
    raise DocumentError(name, f"it is not JSON: {json_error}", line=line) from json_error


def _parse_yaml(data: bytes, name: str, duplicates: list[Duplicate]) -> Any:
    try:
        from discern_server.sources.openapi import yaml12
    except ModuleNotFoundError as error:
        reason = "it is not JSON, and YAML is not read without PyYAML"
        raise DocumentError(name, reason, fix="pip install 'discern-server[openapi]'") from error
    try:
        return yaml12.parse(data.decode(json.detect_encoding(data)), duplicates.append)
    except yaml12.YamlError as error:
        raise DocumentError(name, f"it is not YAML: {error.reason}", line=error.line) from error


def _text_of(data: bytes) -> str:
    """The document as text, beyond ASCII in JSON's escapes.

    Python keeps a text in as many bytes a character as its widest one needs. A single emoji makes 13 MB of
    description 52 MB of text; written as an escape, which stands for the same in JSON, it does not.
    """
    encoding = json.detect_encoding(data)
    if encoding in ("utf-8", "utf-8-sig") and not data.isascii():
        data = _BEYOND_ASCII.sub(_escaped, data.removeprefix(codecs.BOM_UTF8))
    return data.decode(encoding)


def _escaped(found: re.Match[bytes]) -> bytes:
    return json.dumps(found[0].decode("utf-8"))[1:-1].encode("ascii")


def _parse_json(text: str, duplicates: list[Duplicate]) -> Any:
    """JSON text as a value; a number that no float can hold stays text.

    Raises:
        ValueError: It is no JSON.
    """

    def to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            duplicates.extend(Duplicate(key, 0) for key, count in counts.items() if count > 1)
        return members

    return json.loads(text, object_pairs_hook=to_object, parse_constant=_refuse_constant, parse_float=_finite)


def _finite(text: str) -> float | str:
    number = float(text)
    return number if number - number == 0 else text


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


# --- openers ----------------------------------------------------------------------------------------


def file_opener(root: Path) -> Opener:
    """Opens files below the folder `root`, symbolic links followed before the question is asked."""
    allowed = root.resolve()

    def open_file(uri: str) -> bytes:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            raise _not_fetched(uri)
        path = Path(url2pathname(parts.path)).resolve()
        if not path.is_relative_to(allowed):
            raise DocumentError(
                uri, f"it lies outside of {allowed}", fix="name a folder that holds all files as the source's `root`"
            )
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(uri, f"it is larger than {MAX_BYTES} bytes")
        return path.read_bytes()

    return open_file


def memory_opener(documents: Mapping[str, bytes]) -> Opener:
    """Opens what the caller already holds, by URI."""

    def open_held(uri: str) -> bytes:
        if uri in documents:
            return documents[uri]
        if urlsplit(uri).scheme in ("http", "https"):
            raise _not_fetched(uri)
        raise FileNotFoundError(2, "No such file", uri)

    return open_held


def _not_fetched(uri: str) -> DocumentError:
    return DocumentError(
        uri, "references to the network are not fetched", fix="keep a copy beside the document and refer to that"
    )
