"""The project file, ``discern.toml``: what it may say, and the checked values it says.

A project is a folder with a ``discern.toml``. Loading it reads that one file, checks every key and
value, and reports all faults at once as a `ProjectError`; it touches nothing that the file names.
Paths in it are relative to it and stay inside its folder, also through symbolic links. A secret is
named by reference, `Secret`, and never stands in the file.

A kind of source is a row of `_SOURCE_KINDS`: a function from its ``[[sources]]`` table to its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeAlias

from discern_server.result import Diagnostic, DiscernError
from discern_server.toml import Document, Table, nearest, shortened

FILE_NAME: Final = "discern.toml"

LegacyPolicy: TypeAlias = Literal["reject", "serve"]


class ProjectError(DiscernError):
    """A project file that cannot be used; `diagnostics` tells every fault, in the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """``[server]``: who the project's own server says it is, and which clients it serves.

    Attributes:
        name: Its name, as clients see it.
        version: Its version, any text.
        title: Its name for people, or None.
        instructions: What a model should know before it uses the tools, or None.
        legacy: Whether clients that open with ``initialize`` are refused or served.
    """

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    legacy: LegacyPolicy = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """``[features]``: which of discern's own gated tools ``discern mcp`` offers."""

    map: bool = True
    accept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a secret is to be had: exactly one of an environment variable and a file.

    Attributes:
        env: The variable's name, or None.
        file: The file, inside the project or absolute (where the machine keeps its secrets), or None.
    """

    env: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSource:
    """``kind = "python"``: typed callables of a module.

    Attributes:
        module: The module's dotted name.
        path: The folder it is imported from, put in front of the import path.
        lifespan: ``module:function`` of an async context manager that handlers need open, or None.
    """

    module: str
    path: Path
    lifespan: str | None = None

    kind: ClassVar = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasSource:
    """``kind = "schemas"``: hand-written definitions in a folder.

    Attributes:
        directory: The folder of JSON files.
        dialect: What a schema is that does not say it, such as ``draft-07``; 2020-12 where it is None.
        handlers: The module with a function for each tool name, or None where a host app supplies them.
        path: The folder `handlers` is imported from, put in front of the import path.
        lifespan: ``module:function`` of an async context manager that handlers need open, or None.
    """

    directory: Path
    dialect: str | None = None
    handlers: str | None = None
    path: Path
    lifespan: str | None = None

    kind: ClassVar = "schemas"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallConfig:
    """How the API behind an ``openapi`` source is called; see `discern_server.upstream.limits`.

    Attributes:
        timeout_s: The whole call, in seconds.
        max_response_bytes: The answer's content, after decompression.
        max_attempts: Tries in all.
        retry_methods: Methods that are tried again besides the idempotent ones, such as ``POST``.
        forward_headers: Inbound HTTP fields that go on to the API.
        client_authentication: How an OAuth 2.0 client shows who it is.
        invalid_output: What becomes of an answer that breaks its declared schema: ``error``; or ``deliver``, where
            tools promise no ``outputSchema``.
    """

    timeout_s: float = 30.0
    max_response_bytes: int = 1_048_576
    max_attempts: int = 3
    retry_methods: tuple[str, ...] = ()
    forward_headers: tuple[str, ...] = ()
    client_authentication: Literal["basic", "body"] = "basic"
    invalid_output: Literal["error", "deliver"] = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiSource:
    """``kind = "openapi"``: operations of an HTTP API.

    Attributes:
        document: The description: a path as text (inside the project), or a URL.
        root: The folder that the description's files may lie in, or None for the document's own.
        published_at: Where the description was published, which relative servers are relative to, or None.
        base_url: The server that is called, or None for the document's own.
        server_variables: Values for variables in the document's server addresses.
        include: Which operations: ``METHOD /path/**``, ``tag:NAME``, ``id:OPERATION``; all where empty.
        exclude: Which not, in the same words.
        prefix: What goes before every tool's name.
        credentials: For each security scheme, its secret or the secrets of its parts.
        max_output_schema_bytes: Larger output schemas are left out, or None for the default.
        calls: How the API is called.
    """

    document: str
    root: Path | None = None
    published_at: str | None = None
    base_url: str | None = None
    server_variables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prefix: str = ""
    credentials: Mapping[str, Secret | Mapping[str, Secret]] = field(default_factory=lambda: MappingProxyType({}))
    max_output_schema_bytes: int = 65_536
    calls: CallConfig = field(default_factory=CallConfig)

    kind: ClassVar = "openapi"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffersConfig:
    """``[prompts]`` or ``[resources]``: what answers for the definitions of that kind in ``schemas/``.

    A definition is called by the name of its file, without ``.json``.

    Attributes:
        handlers: The module with a function for each definition that has no file, or None.
        files: For a resource, the file that is its content.
        path: The folder `handlers` is imported from, put in front of the import path.
        lifespan: ``module:function`` of an async context manager that handlers need open, or None.
    """

    handlers: str | None = None
    files: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    path: Path = Path()
    lifespan: str | None = None


SourceConfig: TypeAlias = PythonSource | SchemasSource | OpenApiSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project: its folder and what its file says.

    Attributes:
        root: Its folder.
        server: ``[server]``.
        features: ``[features]``.
        sources: Each ``[[sources]]``, in order.
        prompts: ``[prompts]``.
        resources: ``[resources]``, for resource templates too.
        rules: ``[rules]``: by the id of a rule that gives warnings, whether it is looked at.
    """

    root: Path
    server: ServerConfig
    features: Features = field(default_factory=Features)
    sources: tuple[SourceConfig, ...] = ()
    prompts: OffersConfig = field(default_factory=OffersConfig)
    resources: OffersConfig = field(default_factory=OffersConfig)
    rules: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def schemas(self) -> Path:
        """The folder of generated definitions."""
        return self.root / "schemas"

    @staticmethod
    def find(start: Path) -> Path | None:
        """The nearest folder at or above `start` that holds a project file, or None."""
        start = start.resolve()
        return next((folder for folder in (start, *start.parents) if (folder / FILE_NAME).is_file()), None)

    @staticmethod
    def load(root: Path) -> Project:
        """Read and check the project file in the folder `root`.

        Raises:
            FileNotFoundError: There is none: the folder is not a project.
            ProjectError: It cannot be read, or says something that cannot be meant; with every fault.
        """
        return Project.parse(read_project_file(root), root)

    @staticmethod
    def parse(text: str, root: Path) -> Project:
        """Check the text of a project file as that of the folder `root`.

        Raises:
            ProjectError: It says something that cannot be meant; with every fault.
        """
        document = Document(text, FILE_NAME)
        project = _read_project(document.root, root.resolve())
        if document.faults:
            raise ProjectError(document.faults)
        return project


def read_project_file(root: Path) -> str:
    """The text of the project file in the folder `root`.

    Raises:
        FileNotFoundError: There is none.
        ProjectError: It cannot be read.
    """
    try:
        return (root / FILE_NAME).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        fault = Diagnostic(rule="project.unreadable", message=f"cannot be read: {reason}", path=FILE_NAME)
        raise ProjectError((fault,)) from error


# --- from tables to values ----------------------------------------------------------------------------


def _read_project(table: Table, root: Path) -> Project:
    project = Project(
        root=root,
        server=_read_server(table.table("server")),
        features=_read_features(table.table("features")),
        sources=tuple(source for entry in table.tables("sources") if (source := _read_source(entry, root)) is not None),
        prompts=_read_offers(table.table("prompts"), root),
        resources=_read_offers(resources := table.table("resources"), root, _read_files(resources, root)),
        rules=_read_rules(table.table("rules")),
    )
    table.close()
    return project


def _read_server(table: Table) -> ServerConfig:
    return ServerConfig(
        name=table.required_string("name"),
        version=table.required_string("version"),
        title=table.string("title"),
        instructions=table.string("instructions"),
        legacy="serve" if table.choice("legacy", ("reject", "serve"), default="reject") == "serve" else "reject",
    )


def _read_features(table: Table) -> Features:
    return Features(map=table.boolean("map", default=True), accept=table.boolean("accept", default=True))


def _read_rules(table: Table) -> Mapping[str, bool]:
    """The switches; a rule's id may stand in quotes or, as TOML reads it then, as a path of tables."""
    table.knows_all()
    switches = dict(_switches((), {name: table.value(name) for name in table.names}))
    if switches:
        from discern_server.rules import check_switches

        places = {".".join(place): place for place in switches}
        for fault in check_switches({".".join(place): value for place, value in switches.items()}):
            place = places[(fault.path or "").removeprefix("/")]
            table.document.report((*table.place, *place), fault.rule, fault.message, fault.fix)
    return MappingProxyType({".".join(place): value for place, value in switches.items()})


def _switches(place: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _switches((*place, name), inner)
    else:
        yield place, value


def _read_source(table: Table, root: Path) -> SourceConfig | None:
    kind = table.required_string("kind")
    read = _SOURCE_KINDS.get(kind)
    if read is not None:
        return read(table, root)
    table.knows_all()
    if kind:
        listed = ", ".join(f'"{known}"' for known in _SOURCE_KINDS)
        guess = nearest(kind, _SOURCE_KINDS)
        fix = f'did you mean "{guess}"?' if guess else f"one of {listed}"
        table.report("kind", "toml.value", f"there is no kind of source {shortened(kind)}", fix)
    return None


def _read_python(table: Table, root: Path) -> PythonSource:
    return PythonSource(
        module=_module(table, "module", required=True) or "",
        path=_path(table, "path", root),
        lifespan=_reference(table, "lifespan"),
    )


def _read_schemas(table: Table, root: Path) -> SchemasSource:
    table.required_string("directory")
    directory = _path(table, "directory", root)
    if directory == root / "schemas":
        fix = "keep definitions that you write in another folder, such as definitions"
        table.report("directory", "project.path", "schemas is the folder that discern accept writes", fix)
    return SchemasSource(
        directory=directory,
        dialect=_dialect(table, "dialect"),
        handlers=_module(table, "handlers"),
        path=_path(table, "path", root),
        lifespan=_reference(table, "lifespan"),
    )


def _read_offers(table: Table, root: Path, files: Mapping[str, Path] = MappingProxyType({})) -> OffersConfig:
    if not table.names:
        return OffersConfig()
    return OffersConfig(
        handlers=_module(table, "handlers"),
        files=files,
        path=_path(table, "path", root),
        lifespan=_reference(table, "lifespan"),
    )


def _read_files(table: Table, root: Path) -> Mapping[str, Path]:
    files = table.table("files")
    return MappingProxyType({name: _path(files, name, root) for name in files.names if files.string(name)})


def _read_openapi(table: Table, root: Path) -> OpenApiSource:
    document = table.required_string("document")
    if "://" in document:
        _url(table, "document")
    elif document:
        _path(table, "document", root)
    return OpenApiSource(
        document=document,
        root=_path(table, "root", root) if table.has("root") else None,
        published_at=_url(table, "published_at"),
        base_url=_url(table, "base_url"),
        server_variables=_texts(table.table("server_variables")),
        include=table.strings("include"),
        exclude=table.strings("exclude"),
        prefix=table.string("prefix") or "",
        credentials=_credentials(table.table("credentials"), root),
        max_output_schema_bytes=table.integer("max_output_schema_bytes", default=65_536, least=0),
        calls=_read_calls(table),
    )


def _read_calls(table: Table) -> CallConfig:
    standard = CallConfig()
    authentication = table.choice("client_authentication", ("basic", "body"), default="basic")
    invalid_output = table.choice("invalid_output", ("error", "deliver"), default="error")
    return CallConfig(
        timeout_s=table.number("timeout_s", default=standard.timeout_s, least=0.1),
        max_response_bytes=table.integer("max_response_bytes", default=standard.max_response_bytes),
        max_attempts=table.integer("max_attempts", default=standard.max_attempts),
        retry_methods=table.strings("retry_methods"),
        forward_headers=table.strings("forward_headers"),
        client_authentication="body" if authentication == "body" else "basic",
        invalid_output="deliver" if invalid_output == "deliver" else "error",
    )


_SOURCE_KINDS: Final[Mapping[str, Callable[[Table, Path], SourceConfig]]] = {
    "python": _read_python,
    "schemas": _read_schemas,
    "openapi": _read_openapi,
}


# --- single values ------------------------------------------------------------------------------------

_DOTTED_NAME: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_USER_INFO: Final = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*@", re.IGNORECASE)


def _module(table: Table, name: str, *, required: bool = False) -> str | None:
    value = table.required_string(name) if required else table.string(name)
    if value and not _DOTTED_NAME.fullmatch(value):
        table.report(
            name, "toml.value", f"{shortened(value)} is no module name", 'write it as in "import billing.tools"'
        )
    return value


def _dialect(table: Table, name: str) -> str | None:
    from discern_server.schema.dialects import DIALECTS, find_dialect

    value = table.string(name)
    if value is not None and find_dialect(value) is None:
        fix = f"one of {', '.join(dialect.name for dialect in DIALECTS)}"
        table.report(name, "toml.value", f"{shortened(value)} is no dialect of JSON Schema", fix)
    return value


def _reference(table: Table, name: str) -> str | None:
    value = table.string(name)
    if value is not None:
        module, _, function = value.partition(":")
        if not (_DOTTED_NAME.fullmatch(module) and function.isidentifier()):
            fix = 'write "module:function", such as "billing.app:pool"'
            table.report(name, "toml.value", f"{shortened(value)} names no function", fix)
    return value


def _path(table: Table, name: str, root: Path) -> Path:
    """The path `name`, relative to the file and inside its folder; the folder itself where it is absent."""
    value = table.string(name) or "."
    path = (root / value).resolve()
    if Path(value).is_absolute():
        table.report(
            name, "project.path", f"{shortened(value)} is an absolute path", f"write it relative to {FILE_NAME}"
        )
    elif not path.is_relative_to(root):
        fix = f"name something at or below the folder of {FILE_NAME}"
        table.report(name, "project.path", f"{shortened(value)} leads out of the project", fix)
    return path


def _url(table: Table, name: str) -> str | None:
    value = table.string(name)
    if value and _USER_INFO.match(value):
        fix = "name the credential under credentials, as { env = ... }"
        table.report(name, "project.secret", f"{name} holds a user name or password", fix)
    elif value and not re.match(r"https?://[^/]", value):
        table.report(name, "toml.value", f"{shortened(value)} is no http or https URL", 'write "https://..."')
    return value


def _texts(table: Table) -> Mapping[str, str]:
    """A table of strings."""
    return MappingProxyType({name: value for name in table.names if (value := table.string(name)) is not None})


def _credentials(table: Table, root: Path) -> Mapping[str, Secret | Mapping[str, Secret]]:
    """``credentials``: ``SCHEME = { env = ... }``, or a table of such for a scheme in several parts."""
    found: dict[str, Secret | Mapping[str, Secret]] = {}
    for scheme in table.names:
        entry = _reference_table(table, scheme)
        if entry is None:
            continue
        if not entry.names or entry.has("env") or entry.has("file"):
            found[scheme] = _secret(entry, root)
        else:
            parts = ((part, _reference_table(entry, part)) for part in entry.names)
            found[scheme] = MappingProxyType({part: _secret(inner, root) for part, inner in parts if inner})
    return MappingProxyType(found)


def _reference_table(table: Table, name: str) -> Table | None:
    """The table `name`, or None for a literal in its place, which is reported without repeating it."""
    if isinstance(table.value(name), dict):
        return table.table(name)
    fix = f'name where it is kept: {name} = {{ env = "NAME_OF_VARIABLE" }}'
    table.report(name, "project.secret", f"{name} is a literal; secrets do not stand in {FILE_NAME}", fix)
    return None


def _secret(table: Table, root: Path) -> Secret:
    env, file = table.string("env"), table.string("file")
    if (env is None) == (file is None):
        place = str(table.place[-1])
        fix = 'write { env = "NAME_OF_VARIABLE" } or { file = "path" }'
        table.document.report(table.place, "project.secret", f"{place} names no variable or file, or both", fix)
    return Secret(env=env, file=None if file is None else root / file)
