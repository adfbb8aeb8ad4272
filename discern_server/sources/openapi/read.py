"""From a description's documents to an `Api`: which version it is, and who reads it."""

from __future__ import annotations

import re
from typing import Final

from discern_server.sources.openapi.description import Api
from discern_server.sources.openapi.documents import DescriptionError, Documents, Place, shorten
from discern_server.sources.openapi.openapi3 import OpenApi3Reader
from discern_server.sources.openapi.reader import Reader
from discern_server.sources.openapi.servers import ServerChoice
from discern_server.sources.openapi.swagger2 import Swagger2Reader

_VERSION: Final = re.compile(r"3\.(\d+)(\.\d+)?(-.*)?")
_NEWEST_MINOR: Final = 2


def read(documents: Documents, choice: ServerChoice | None = None) -> Api:
    """The API that `documents` describe.

    Raises:
        DocumentError: The root document cannot be read.
        DescriptionError: It is no API description, or of a version that is not known.
        ConfigurationError: `choice` does not fit the description.
    """
    return _reader(documents, documents.root(), choice or ServerChoice(published_at=documents.base_uri)).read()


def _reader(documents: Documents, root: Place, choice: ServerChoice) -> Reader:
    swagger, openapi = root.text("swagger"), root.text("openapi")
    if swagger == "2.0":
        return Swagger2Reader(documents, root, swagger, choice)
    found = _VERSION.fullmatch(openapi or "")
    if openapi is not None and found is not None and int(found[1]) <= _NEWEST_MINOR:
        documents.references_describe = int(found[1]) > 0
        return OpenApi3Reader(documents, root, openapi, choice)
    if swagger is None and openapi is None:
        raise DescriptionError(
            root, "the document is no API description: it has neither `openapi` nor `swagger` at its top",
            rule="openapi.version",
        )  # fmt: skip
    raise DescriptionError(
        root, f"version {shorten(openapi or swagger or '')} is not known", rule="openapi.version",
        fix="Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are read",
    )  # fmt: skip
