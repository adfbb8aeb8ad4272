"""Security schemes and requirements, read out of a description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, get_args
from urllib.parse import urljoin

from discern_server.sources.openapi.documents import DescriptionError, Documents, Place, shorten
from discern_server.upstream.binding import OAuthFlow, SchemeUse, Security, SecurityScheme

_FlowKind = Literal["implicit", "password", "clientCredentials", "authorizationCode", "deviceAuthorization"]
_FLOWS: Final[Mapping[str, _FlowKind]] = {kind: kind for kind in get_args(_FlowKind)}
_SWAGGER_FLOWS: Final[Mapping[str, _FlowKind]] = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_KEY_PLACES: Final[Mapping[str, Literal["header", "query", "cookie"]]] = {
    "header": "header",
    "query": "query",
    "cookie": "cookie",
}


class SchemeReader:
    """Reads Security Scheme Objects of either kind of description."""

    def __init__(self, documents: Documents, *, guarded: bool) -> None:
        self._documents = documents
        self._guarded = guarded

    def read(self, name: str, place: Place) -> SecurityScheme:
        """The scheme at `place`.

        Raises:
            DescriptionError: It is none that the specification knows.
        """
        place = self._documents.follow(place)
        match place.text("type"):
            case "apiKey":
                return self._api_key(name, place)
            case "http":
                return SecurityScheme(name=name, kind="http", scheme=_required(place, "scheme").lower())
            case "basic":
                return SecurityScheme(name=name, kind="http", scheme="basic")
            case "oauth2":
                flows = self._flows(place)
                return SecurityScheme(name=name, kind="oauth2", flows=flows, guarded=self._guarded)
            case "openIdConnect":
                return SecurityScheme(name=name, kind="openIdConnect", guarded=self._guarded)
            case "mutualTLS":
                return SecurityScheme(name=name, kind="mutualTLS")
            case kind:
                raise DescriptionError(
                    place, f"the security scheme {name!r} is of the unknown type {shorten(str(kind))}"
                )

    @staticmethod
    def _api_key(name: str, place: Place) -> SecurityScheme:
        where = _KEY_PLACES.get(_required(place, "in"))
        if where is None:
            raise DescriptionError(
                place, f"the security scheme {name!r} puts its key neither in a header, query nor cookie"
            )
        return SecurityScheme(name=name, kind="apiKey", location=where, parameter=_required(place, "name"))

    def _flows(self, place: Place) -> tuple[OAuthFlow, ...]:
        if (kind := _SWAGGER_FLOWS.get(place.text("flow") or "")) is not None:
            return (OAuthFlow(kind=kind, token_url=self._address(place.text("tokenUrl"))),)
        return tuple(
            OAuthFlow(kind=_FLOWS[kind], token_url=self._address(flow.text("tokenUrl")))
            for kind, flow in place.mapping("flows").items()
            if kind in _FLOWS
        )

    def _address(self, url: str | None) -> str | None:
        try:
            return None if url is None else urljoin(self._documents.base_uri, url)
        except ValueError:
            return url  # it is refused where it is used


def _required(place: Place, key: str) -> str:
    value = place.text(key)
    if value is None:
        raise DescriptionError(place, f"{key!r} is missing")
    return value


def read_requirements(place: Place) -> Security:
    """The list of Security Requirement Objects at `place`: any one of them will do, all schemes of it are needed.

    Raises:
        DescriptionError: It is no list of objects.
    """
    if not isinstance(place.value, list):
        raise DescriptionError(place, "security has to be a list of requirements")
    return tuple(
        tuple(SchemeUse(name=name, scopes=_scopes(scopes)) for name, scopes in place[index].object().items())
        for index in range(len(place.value))
    )


def _scopes(value: Any) -> tuple[str, ...]:
    return tuple(str(scope) for scope in value) if isinstance(value, list) else ()
