"""``kind = "openapi"``: the operations of an HTTP API as tools, and the calls they make.

What the description, the selection in ``discern.toml`` and the names give is worked out once, when it is first
asked for. An operation that cannot be described costs no other: `OpenApi.findings` tells of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discern_server.catalog import ToolDefinition
from discern_server.handler import Handler
from discern_server.project import OpenApiSource
from discern_server.result import Diagnostic, Severity
from discern_server.sources import SourceError
from discern_server.sources.openapi.definitions import ToolMaker, Toolset
from discern_server.sources.openapi.description import Api
from discern_server.sources.openapi.documents import DescriptionError, DocumentError, Documents, file_opener
from discern_server.sources.openapi.fetching import is_url, url_opener
from discern_server.sources.openapi.read import read
from discern_server.sources.openapi.selection import PatternError, Selection
from discern_server.sources.openapi.servers import ConfigurationError, ServerChoice

if TYPE_CHECKING:
    from discern_server.upstream.api import Upstream, UpstreamSettings


@dataclass(frozen=True, slots=True)
class Loaded:
    """A description, read, with the tools that were chosen of it."""

    api: Api
    toolset: Toolset
    findings: tuple[Diagnostic, ...]


class OpenApi:
    """The operations of an API description as a `discern_server.sources.Source`."""

    def __init__(self, config: OpenApiSource, root: Path) -> None:
        self._config = config
        self._root = root

    def definitions(self) -> list[ToolDefinition]:
        """A definition for each chosen operation, in the order of the document.

        Raises:
            SourceError: The description cannot be read, or the configuration does not fit it. An operation that cannot
                be described is left out and told of by `findings`.
        """
        return [tool.definition for tool in self.loaded.toolset.tools]

    def findings(self) -> tuple[Diagnostic, ...]:
        """What was refused, left out, or is odd.

        Raises:
            SourceError: As for `definitions`.
        """
        return self.loaded.findings

    def handlers(self) -> Mapping[str, Handler]:
        """For each tool, the handler that calls the API.

        Raises:
            SourceError: As for `definitions`.
        """
        return {
            tool.definition.name: self.upstream.handler(
                tool.definition.name, tool.binding, tool.definition.output_schema
            )
            for tool in self.loaded.toolset.tools
        }  # fmt: skip

    def lifespan(self) -> AbstractAsyncContextManager[Any]:
        """The pool of connections to the API."""
        return self.upstream.open()

    @cached_property
    def upstream(self) -> Upstream:
        """What carries the calls out."""
        from discern_server.upstream.api import Upstream

        return Upstream(self.loaded.api.security_schemes, upstream_settings(self._config))

    @cached_property
    def loaded(self) -> Loaded:
        """The description and its tools."""
        try:
            return load(self._config, self._root)
        except DocumentError as error:
            raise SourceError([document_fault(error)]) from error


def document_fault(error: DocumentError) -> Diagnostic:
    """A document that cannot be read, as a finding."""
    return Diagnostic(
        rule="openapi.document",
        message=f"the description cannot be read: {error.reason}",
        path=error.uri,
        line=error.line,
        fix=error.fix,
    )


def upstream_settings(config: OpenApiSource) -> UpstreamSettings:
    """How `config` asks for the API to be called.

    Raises:
        SourceError: It asks for what is not to be had.
    """
    from discern_server.upstream.api import UpstreamSettings
    from discern_server.upstream.limits import IDEMPOTENT, Limits, RetryPolicy

    calls = config.calls
    try:
        return UpstreamSettings(
            credentials=config.credentials,
            limits=Limits(timeout_s=calls.timeout_s, max_response_bytes=calls.max_response_bytes),
            retry=RetryPolicy(max_attempts=calls.max_attempts, methods=IDEMPOTENT.union(calls.retry_methods)),
            forward_headers=calls.forward_headers,
            client_authentication=calls.client_authentication,
            invalid_output=calls.invalid_output,
        )
    except ValueError as error:
        raise SourceError([_misconfigured(str(error), None)]) from error


def load(config: OpenApiSource, root: Path) -> Loaded:
    """Read the description of a source in the project folder `root`.

    Raises:
        DocumentError: A document cannot be read.
        SourceError: It is no API description, or the configuration does not fit it.
    """
    with _without_collecting():
        return _load(config, root)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep Python's cyclic garbage collector from looking again and again through all that is being made.

    It finds next to nothing, for what a description is read into lives on, and takes a third of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _load(config: OpenApiSource, root: Path) -> Loaded:
    documents, choice = _open(config, root)
    try:
        api = read(documents, choice)
        selection = Selection.of(config.include, config.exclude)
        maker = ToolMaker(
            documents,
            api,
            prefix=config.prefix,
            max_output_bytes=config.max_output_schema_bytes,
            declare_output=config.calls.invalid_output == "error",
        )
    except DescriptionError as error:
        raise SourceError([documents.diagnose(error)]) from error
    except ConfigurationError as error:
        raise SourceError([_misconfigured(error.reason, error.fix)]) from error
    except PatternError as error:
        raise SourceError([_misconfigured(str(error), None)]) from error
    toolset = maker.make([operation for operation in api.operations if operation in selection])
    findings = (
        *documents.warnings,
        *_refused(api, toolset),
        *api.findings,
        *toolset.findings,
        *_unused(selection, api),
        *_unserved(toolset),
    )
    return Loaded(api, toolset, findings)


def _open(config: OpenApiSource, root: Path) -> tuple[Documents, ServerChoice]:
    if is_url(config.document):
        documents = Documents(config.document, url_opener(config.document))
    else:
        path = root / config.document
        documents = Documents(path.as_uri(), file_opener(config.root or path.parent), base_uri=config.published_at)
    return documents, ServerChoice(
        base_url=config.base_url,
        variables=config.server_variables,
        published_at=documents.base_uri,
        guarded=is_url(config.document),
    )


def _refused(api: Api, toolset: Toolset) -> list[Diagnostic]:
    """Refusals as findings: which operation, and why."""
    return [
        Diagnostic(
            rule="openapi.refused",
            message=f"{refusal.key} is refused: {finding.message}",
            severity=Severity.WARNING,
            path=finding.path,
            line=finding.line,
            fix=finding.fix or "mend the description, or exclude the operation",
        )
        for refusal in (*api.refusals, *toolset.refusals)
        for finding in refusal.findings
    ]


def _unused(selection: Selection, api: Api) -> list[Diagnostic]:
    return [
        Diagnostic(
            rule="openapi.selection",
            message=f"{pattern!r} matches no operation",
            severity=Severity.WARNING,
            path="discern.toml",
            fix="mend the pattern, or remove it",
        )
        for pattern in selection.unused(api.operations)
    ]


def _unserved(toolset: Toolset) -> list[Diagnostic]:
    """That nobody says where the API is, once for all tools."""
    lost = [tool.definition.name for tool in toolset.tools if tool.binding.server is None]
    if not lost:
        return []
    message = f"the description does not say where the API of {lost[0]} is" + (" and others" if lost[1:] else "")
    fix = 'set base_url = "https://..." for the source'
    return [Diagnostic(rule="openapi.server", severity=Severity.WARNING, message=message, path="discern.toml", fix=fix)]


def _misconfigured(message: str, fix: str | None) -> Diagnostic:
    return Diagnostic(rule="openapi.configuration", message=message, path="discern.toml", fix=fix)
