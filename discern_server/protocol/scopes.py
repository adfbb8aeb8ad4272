"""Scopes that single tools, prompts and resources ask for, beyond what every request needs.

What a caller lacks a scope for is not there for it: not listed, and unknown when it is called. That is decided for
each request, from the scopes of its token; a request without a token has none, on any transport.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RequiredScopes:
    """The scopes that a caller needs, all of them, for each name; what is not named is for everyone.

    Attributes:
        tools: By the tool's name.
        prompts: By the prompt's name.
        resources: By the resource's URI.
        templates: By the template's URI template.

    Raises:
        TypeError: Scopes given as one text instead of a collection of texts.
    """

    tools: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    prompts: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    resources: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    templates: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Copy what the caller could still change."""
        for kind, required in self._kinds():
            object.__setattr__(self, kind, MappingProxyType({name: _checked(required[name]) for name in required}))

    def __bool__(self) -> bool:
        """Whether anything asks for a scope."""
        return bool(self.every)

    @cached_property
    def every(self) -> frozenset[str]:
        """Every scope that is asked for anywhere."""
        return frozenset(scope for _, required in self._kinds() for scopes in required.values() for scope in scopes)

    def unknown(self, names: Mapping[str, Collection[str]]) -> list[str]:
        """What is named here and is none of `names`, given for each kind."""
        return [name for kind, required in self._kinds() for name in required if name not in names[kind]]

    def admits(self, kind: str, name: str, granted: Collection[str]) -> bool:
        """Whether `granted` holds all that `name` asks for; `kind` is ``tools``, ``prompts``, ..."""
        required: Mapping[str, Collection[str]] = getattr(self, kind)
        return all(scope in granted for scope in required.get(name, ()))

    def _kinds(self) -> Iterator[tuple[str, Mapping[str, Collection[str]]]]:
        for kind in ("tools", "prompts", "resources", "templates"):
            yield kind, getattr(self, kind)


def granted_to(token: Any) -> frozenset[str]:
    """The scopes of a verified token, or none where there is no token."""
    return frozenset(getattr(token, "scopes", ()))


def _checked(scopes: Collection[str]) -> frozenset[str]:
    if isinstance(scopes, str):
        raise TypeError(f"scopes are given as a collection of texts, got the text {scopes!r}")
    return frozenset(scopes)
