"""Where an API is served: server objects, their variables, and what the user says instead.

The rule: the user's ``base_url``, where there is one, stands for every server of the description. Otherwise the
first HTTP server of the operation, else of its path item, else of the description; a relative address is
relative to where the description was published (OpenAPI 3.2, sections 4.5 and 4.6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from discern_server.sources.openapi.documents import DescriptionError, Place, shorten
from discern_server.upstream.binding import Server

_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")
_IN_AUTHORITY: Final = re.compile(r"[A-Za-z0-9._~:-]+")
_IN_PATH: Final = re.compile(r"[A-Za-z0-9._~:/%@!$&'()*+,;=-]*")


class ConfigurationError(Exception):
    """What the user configured does not fit the description.

    Attributes:
        reason: What is wrong, in one sentence.
        fix: The mend.
    """

    def __init__(self, reason: str, fix: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChoice:
    """What decides about servers beside the description itself.

    Attributes:
        base_url: The user's own choice, or None.
        variables: Values for server variables, by name.
        published_at: Where the description was published: a relative address is relative to it.
        guarded: Whether the description came from the network.
    """

    base_url: str | None = None
    variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    published_at: str = ""
    guarded: bool = False

    def chosen(self) -> Server | None:
        """The user's server, or None.

        Raises:
            ConfigurationError: It is no absolute HTTP address, or has a query or fragment.
        """
        if self.base_url is None:
            return None
        if not _is_http(self.base_url):
            raise ConfigurationError(f"base_url {shorten(self.base_url)} is no absolute http or https address")
        if _has_more_than_path(self.base_url):
            raise ConfigurationError(f"base_url {shorten(self.base_url)} has a query or fragment; paths follow it")
        return Server(url=self.base_url.rstrip("/"))

    def absolute(self, url: str) -> Server | None:
        """A server address as the description has it, made absolute; None where that cannot be done.

        It can be done where the description was published at an address; it cannot where it is a file.
        """
        try:
            full = urljoin(self.published_at, url) if not urlsplit(url).scheme else url
        except ValueError:  # brackets that do not match
            return None
        return Server(url=full.rstrip("/"), guarded=self.guarded) if _is_http(full) else None


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False


def _has_more_than_path(url: str) -> bool:
    return "?" in url or "#" in url


def pick(servers: list[Place], choice: ServerChoice) -> Server | None:
    """The first of `servers` that is an HTTP address once its variables are replaced; None where none is.

    Raises:
        DescriptionError: A server object is not as it should be.
        ConfigurationError: A configured variable is not among those allowed.
    """
    for server in servers:
        url = server.text("url")
        if url is None:
            raise DescriptionError(server, "a server has to have a url")
        filled = _fill(url.strip(), server.mapping("variables"), choice.variables, server)
        if _has_more_than_path(filled):  # OpenAPI 3.2, Server Object, `url`
            reason = f"the server {shorten(filled)} has a query or fragment, and paths cannot follow those"
            raise DescriptionError(server, reason, rule="openapi.server", fix="set base_url for this source")
        found = choice.absolute(filled)
        if found is not None:
            return found
    return None


def _fill(url: str, variables: Mapping[str, Place], given: Mapping[str, str], place: Place) -> str:
    authority_end = _end_of_authority(url)

    def value(match: re.Match[str]) -> str:
        name = match[1]
        variable = variables.get(name)
        allowed = variable.value.get("enum") if variable is not None and isinstance(variable.value, Mapping) else None
        if name in given:
            return _configured(name, given[name], allowed, in_authority=match.start() < authority_end)
        default = variable.text("default") if variable is not None else None
        if default is None:
            raise DescriptionError(
                place, f"the server variable {name!r} has no default", rule="openapi.server",
                fix=f"set server_variables.{name}",
            )  # fmt: skip
        return default

    return _VARIABLE.sub(value, url)


def _end_of_authority(url: str) -> int:
    start = url.find("://")
    slash = url.find("/", start + 3 if start >= 0 else 0)
    return len(url) if slash < 0 else slash


def _configured(name: str, value: str, allowed: Any, *, in_authority: bool) -> str:
    """A configured value, checked: from the set the description gives, or unable to change the rest of the address."""
    if isinstance(allowed, list) and allowed:
        if value not in [str(item) for item in allowed]:
            raise ConfigurationError(
                f"server_variables.{name} is {shorten(value)}, which the description does not allow",
                f"use one of {', '.join(str(item) for item in allowed)}",
            )
    elif not (_IN_AUTHORITY if in_authority else _IN_PATH).fullmatch(value):
        raise ConfigurationError(
            f"server_variables.{name} is {shorten(value)}, which would change the rest of the address",
            "use letters, digits, dots and hyphens",
        )
    return value


def check_variables(given: Mapping[str, str], known: set[str]) -> None:
    """See that every configured variable is one that some server has.

    Raises:
        ConfigurationError: One is not.
    """
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise ConfigurationError(
                f"server_variables.{name} is set, and no server of the description has such a variable",
                f"the variables are: {names}",
            )
