"""``discern init --openapi``: a project file for an API description.

Operations that only read are on. The others are listed in the file, each as a comment that turns it on when the
``#`` is taken away: what an agent may change is decided by a person. Credentials are named, by environment
variable, and never asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from discern_server.project import FILE_NAME, OpenApiSource, Project, ProjectError
from discern_server.result import DiscernError, DiscernResult, Step, failure
from discern_server.sources.openapi.description import Api, Operation
from discern_server.sources.openapi.documents import DocumentError
from discern_server.sources.openapi.source import Loaded, document_fault, load
from discern_server.upstream.binding import SecurityScheme
from discern_server.verbs.init import member, name_of, written

_READ_ONLY: Final = "method:read"
_NOT_IN_VARIABLE: Final = re.compile(r"[^A-Z0-9]+")
_LONGEST_NOTE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededCredential:
    """A credential that some operations ask for: its scheme, what that is, and the variables that are to hold it."""

    scheme: str
    kind: str
    variables: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOpenApiData:
    """What a description holds, and what of it is on."""

    server: str
    title: str
    specification: str
    operations: int
    tools: list[str]
    off: list[str]
    refused: list[str]
    base_url: str | None
    credentials: list[NeededCredential]


def init_openapi(
    root: Path, document: str, *, base_url: str | None = None, name: str | None = None, dry_run: bool = False
) -> DiscernResult:
    """Write a project file to the folder `root` for the API description `document`.

    Nothing that exists is overwritten, and nothing is written for a description that cannot be read.

    Args:
        root: The folder.
        document: A path below `root`, or a URL.
        base_url: The server to call, where it is not to be the description's own.
        name: The server's name; that of the folder where it is None.
        dry_run: Show the plan and change nothing.
    """
    if (root / FILE_NAME).exists():
        message = f"there is a {FILE_NAME} already; nothing was written"
        return failure("init", "exists", message, hints=("edit it: discern help configuration",))
    source = _source(root, document, base_url)
    if isinstance(source, DiscernResult):
        return source
    try:
        loaded = load(source, root)
    except DocumentError as error:
        message = "the description cannot be read; nothing was written"
        return failure("init", "invalid_sources", message, diagnostics=(document_fault(error),))
    except DiscernError as error:
        message = "the description cannot be used; nothing was written"
        return failure("init", "invalid_sources", message, diagnostics=error.diagnostics)
    data = _data(name or name_of(root), loaded)
    contents = {FILE_NAME: "\n".join(_project_file(data, source, loaded)) + "\n"}
    return _answer(root, contents, data, loaded, dry_run=dry_run)


def _source(root: Path, document: str, base_url: str | None) -> OpenApiSource | DiscernResult:
    """The source as the project file will have it, checked by the same rules."""
    lines = ["[server]", 'name = "x"', 'version = "0"', "", "[[sources]]", *_source_lines(document, base_url)]
    try:
        (source,) = Project.parse("\n".join(lines), root.resolve()).sources
    except ProjectError as error:
        hints = ("copy the description into the project's folder",)
        return failure("init", "invalid_project", "nothing was written", diagnostics=error.diagnostics, hints=hints)
    assert isinstance(source, OpenApiSource)
    return source


def _answer(
    root: Path, contents: dict[str, str], data: InitOpenApiData, loaded: Loaded, *, dry_run: bool
) -> DiscernResult:
    plan = (Step(action="create", target=FILE_NAME),)
    shown = asdict(data)
    if dry_run:
        message = f"{FILE_NAME} would be written"
        result = DiscernResult(ok=True, verb="init", message=message, data=shown, dry_run=True, plan=plan)
    else:
        result = written(root, contents, plan, shown)
    return _with_findings(result, loaded, data)


def _with_findings(result: DiscernResult, loaded: Loaded, data: InitOpenApiData) -> DiscernResult:
    variables = [variable for needed in data.credentials for variable in needed.variables]
    hints = (f"set {', '.join(variables)} where the server is started",) if variables else ()
    return replace(result, diagnostics=loaded.findings, hints=(*hints, *result.hints))


# --- what the description holds -----------------------------------------------------------------------


def _data(server: str, loaded: Loaded) -> InitOpenApiData:
    api = loaded.api
    servers = [operation.server.url for operation in api.operations if operation.server is not None]
    return InitOpenApiData(
        server=server,
        title=api.title,
        specification=api.version,
        operations=len(api.operations) + len(api.refusals),
        tools=[tool.definition.name for tool in loaded.toolset.tools],
        off=[operation.key for operation in _off(loaded)],
        refused=[refusal.key for refusal in (*api.refusals, *loaded.toolset.refusals)],
        base_url=servers[0] if servers else None,
        credentials=list(_credentials(api, server)),
    )


def _off(loaded: Loaded) -> list[Operation]:
    """The operations that are not on, in the order of the description."""
    settled = {tool.operation.key for tool in loaded.toolset.tools}
    settled |= {refusal.key for refusal in loaded.toolset.refusals}
    return [operation for operation in loaded.api.operations if operation.key not in settled]


def _credentials(api: Api, server: str) -> Iterator[NeededCredential]:
    """The schemes that operations ask for; the variables are named after the server and the scheme."""
    asked = {
        use.name: None for operation in api.operations for alternative in operation.security for use in alternative
    }
    for name in asked:
        scheme = api.security_schemes.get(name)
        if scheme is not None and scheme.kind != "mutualTLS":
            variable = _NOT_IN_VARIABLE.sub("_", f"{server}_{name}".upper()).strip("_")
            parts = _parts(scheme)
            variables = [f"{variable}_{part.upper()}" for part in parts] or [variable]
            yield NeededCredential(scheme=name, kind=_kind(scheme), variables=variables)


def _parts(scheme: SecurityScheme) -> tuple[str, ...]:
    """The parts that the scheme's secret has; none where it is one text."""
    if scheme.kind == "http" and scheme.scheme == "basic":
        return ("username", "password")
    if any(flow.kind == "clientCredentials" for flow in scheme.flows):
        return ("client_id", "client_secret")
    return ()


def _kind(scheme: SecurityScheme) -> str:
    match scheme.kind:
        case "apiKey":
            return f"API key in {scheme.location} {scheme.parameter}"
        case "http":
            return f"HTTP {scheme.scheme}"
        case kind:
            return kind


# --- the file -----------------------------------------------------------------------------------------


def _project_file(data: InitOpenApiData, source: OpenApiSource, loaded: Loaded) -> Iterator[str]:
    yield "# discern help configuration lists every key."
    yield from ("", "[server]", member("name", data.server), member("version", "0.1.0"))
    yield from ("", "[[sources]]", *_source_lines(source.document, source.base_url, _off(loaded)))
    if data.base_url is None:
        yield '# base_url = "https://..."  # the description does not say where the API is'
    for needed in data.credentials:
        yield f"credentials.{_key(needed.scheme)} = {_reference(needed, loaded.api)}  # {needed.kind}"


def _source_lines(document: str, base_url: str | None, off: Sequence[Operation] = ()) -> Iterator[str]:
    yield member("kind", "openapi")
    yield member("document", document)
    if base_url is not None:
        yield member("base_url", base_url)
    if not off:
        yield f"include = [{json.dumps(_READ_ONLY)}]"
        return
    yield "include = ["
    yield f"  {json.dumps(_READ_ONLY)},"
    yield "  # These change something. Take the # away from those that agents may call."
    yield from (f"  # {_text(operation.key)},  # {_note(operation)}".rstrip(" #") for operation in off)
    yield "]"


def _note(operation: Operation) -> str:
    said = " ".join((operation.summary or operation.operation_id or "").split())
    printable = "".join(char for char in said if char.isprintable())
    return printable if len(printable) <= _LONGEST_NOTE else printable[: _LONGEST_NOTE - 1] + "…"


def _reference(needed: NeededCredential, api: Api) -> str:
    parts = _parts(api.security_schemes[needed.scheme])
    variables: Iterable[str] = (f"{{ env = {_text(variable)} }}" for variable in needed.variables)
    if not parts:
        return next(iter(variables))
    return "{ " + ", ".join(f"{part} = {variable}" for part, variable in zip(parts, variables, strict=True)) + " }"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: Any) -> str:
    return member("", value).removeprefix(" = ")
