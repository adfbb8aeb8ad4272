"""The verbs on the command line: parse, call a core, render, set the exit code.

    discern init [--module M | --folder DIR [--handlers M] | --openapi FILE|URL [--base-url URL]]
                 [--name NAME] [--dry-run]
    discern status
    discern map [NAME]
    discern check
    discern accept [--dry-run] [--overwrite]
    discern era [--require REVISION] [--forbid-legacy] [--strict] [--transcript] [--no-call] [URL | -- COMMAND...]
    discern call NAME [--args JSON|@FILE|-] [--dry-run]
    discern doctor
    discern help [TOPIC]
    discern mcp   [--legacy reject|serve] [--log-level LEVEL]
    discern serve [--legacy reject|serve] [--log-level LEVEL]
                  [--http HOST:PORT [--allowed-host HOST]... [--allowed-origin ORIGIN]...]

Every verb takes ``--json``, ``--format``, ``--output FILE`` and ``--root DIR``. Without ``--root``, the project is the
nearest folder at or above the working directory that holds a ``discern.toml``; with it, that folder alone. With
``--output``, the file gets the answer in the form asked for, and standard output the text. ``mcp`` and ``serve`` speak
MCP on standard output (``serve --http`` over HTTP), so they take no ``--json``, and tell on standard error why they
cannot start.

Exit codes: 0 it did what was asked, 1 the verb said no, 2 the command line is wrong, 130 interrupted, 141 nobody
read the answer. With ``--json`` the answer is one JSON object on standard output, for a wrong command line too
(``error: "usage"``). Whatever else is written to standard output meanwhile, as by a project's own modules when they
are imported, goes to standard error.

Nothing heavy is imported before it is known which verb is asked for.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from discern_server import __version__, console
from discern_server.verbs.program import GENERATE_DEFINITIONS

if TYPE_CHECKING:
    from discern_server.project import LegacyPolicy
    from discern_server.protocol.factory import ServerFactory
    from discern_server.result import DiscernResult

OK, SAID_NO, USAGE, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141

Arguments = argparse.Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` is the process's own where it is None. Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--") if "--" in words else len(words)
    words, command = words[:end], words[end + 1 :]
    try:
        return _run(words, command)
    except _Told as told:
        return _tell(told, as_json="--json" in words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return UNREAD


def _run(words: list[str], command: list[str]) -> int:
    if words[:1] == [GENERATE_DEFINITIONS]:
        from discern_server.verbs.generate import run_child

        return run_child(Path(words[1]))
    arguments = _parser().parse_args(words, Arguments(command=command))
    if command and not arguments.takes_command:
        raise _Told("usage", f"discern {arguments.verb}: there is no command to run after --", is_fault=True)
    run: Callable[[Arguments], int] = arguments.run
    return run(arguments)


# --- the command line ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb of the command line.

    Attributes:
        name: Its name.
        summary: What it does, in a line.
        core: Does it, for the parsed arguments and the project's folder.
        arguments: Adds what it takes beyond the common arguments.
        finds_project: Whether it looks for a project above the working directory.
        takes_command: Whether what follows ``--`` is a command for it to run.
        text: Shortens an answer for people.
        formats: Renders an answer in forms beyond text and JSON, by the name that ``--format`` takes.
    """

    name: str
    summary: str
    core: Callable[[Arguments, Path], DiscernResult]
    arguments: Callable[[argparse.ArgumentParser], None] | None = None
    finds_project: bool = True
    takes_command: bool = False
    text: Callable[[DiscernResult], DiscernResult] = lambda result: result
    formats: Mapping[str, Callable[[DiscernResult], str]] = field(default_factory=dict)


class _Told(Exception):  # noqa: N818 - most of the time nothing is wrong
    """The command line is answered without running a verb: with help, the version, or what is wrong with it."""

    def __init__(
        self, verb: str, text: str, *, data: Any = None, hint: str | None = None, is_fault: bool = False
    ) -> None:
        super().__init__(text)
        self.verb = verb
        self.text = text
        self.data = data
        self.hint = hint
        self.is_fault = is_fault


class _Parser(argparse.ArgumentParser):
    """argparse, which would print and exit by itself, made to raise `_Told`."""

    def error(self, message: str) -> NoReturn:
        raise _Told("usage", f"{self.prog}: {message}", hint=f"{self.prog} --help", is_fault=True)


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        raise _Told("help", parser.format_help().rstrip())


class _Version(argparse.Action):
    def __call__(self, *_: Any) -> NoReturn:
        raise _Told("version", f"discern {__version__}", data={"version": __version__})


def _parser() -> _Parser:
    parser = _Parser(
        prog="discern",
        description="Turn tool definitions into an MCP server, and prove on the wire that it is one.",
        epilog="discern help shows the guide.",
        add_help=False,
        allow_abbrev=False,
    )
    _common_arguments(parser, has_json=True)
    parser.add_argument("--version", nargs=0, action=_Version, help="show the version")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True, parser_class=_Parser)
    for verb in VERBS:
        added = verbs.add_parser(verb.name, help=verb.summary, description=verb.summary, add_help=False)
        _common_arguments(added, has_json=True)
        added.add_argument("--format", choices=("text", "json", *verb.formats), help="how to answer; text if not given")
        added.add_argument("--output", metavar="FILE", type=Path, help="write that to a file, and show the text")
        if verb.arguments:
            verb.arguments(added)
        added.set_defaults(verb=verb.name, run=_runner(verb), takes_command=verb.takes_command)
    for server in SERVERS:
        added = verbs.add_parser(server.name, help=server.summary, description=server.summary, add_help=False)
        _common_arguments(added, has_json=False)
        _server_arguments(added)
        if server.arguments:
            server.arguments(added)
        added.set_defaults(verb=server.name, run=_server_runner(server), takes_command=False)
    return parser


def _common_arguments(parser: argparse.ArgumentParser, *, has_json: bool) -> None:
    # SUPPRESS: an option given before the verb must not be undone by the verb's own default.
    parser.add_argument("-h", "--help", nargs=0, action=_Help, help="show this help")
    parser.add_argument("--root", metavar="DIR", type=Path, default=argparse.SUPPRESS, help="the project's folder")
    if has_json:
        parser.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="answer with one JSON object"
        )


def _init_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--module", metavar="MODULE", help="a Python module with marked functions")
    source.add_argument("--folder", metavar="DIR", help="a folder of definitions, relative to the project")
    source.add_argument("--openapi", metavar="FILE|URL", help="an API description: OpenAPI 3 or Swagger 2.0")
    parser.add_argument("--handlers", metavar="MODULE", help="the module with the functions for --folder")
    parser.add_argument("--base-url", metavar="URL", help="the server that --openapi's API is called at")
    parser.add_argument("--name", help="the server's name")
    _dry_run_argument(parser)


def _map_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the tool to show whole")


def _accept_arguments(parser: argparse.ArgumentParser) -> None:
    _dry_run_argument(parser)
    parser.add_argument("--overwrite", action="store_true", help="write over files that were changed by hand")


def _era_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "discern era [options] [URL | -- COMMAND...]"
    parser.add_argument("url", metavar="URL", nargs="?", help="a server over HTTP; a command follows --")
    parser.add_argument("--require", metavar="REVISION", help="fail unless it serves this revision")
    parser.add_argument("--forbid-legacy", action="store_true", help="fail unless it refuses initialize")
    parser.add_argument("--strict", action="store_true", help="fail where any check fails")
    parser.add_argument("--transcript", action="store_true", help="show every message")
    parser.add_argument("--no-call", action="store_true", help="call no tool")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=15.0, help="how long to wait for an answer")
    parser.add_argument(
        "--header-env",
        metavar="NAME=VARIABLE",
        action="append",
        default=[],
        help="send an HTTP header with the value of an environment variable",
    )


def _dry_run_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")


def _help_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="the page to show")


def _server_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--legacy", choices=_POLICIES, help="refuse clients that open with initialize, or serve them too"
    )
    parser.add_argument(
        "--log-level",
        choices=console.LOG_LEVELS,
        help="from which level on to log to standard error; info if not given",
    )


def _http_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(http=None)
    group = parser.add_argument_group("over HTTP")
    group.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP instead of stdio; port 0 is any free one")
    group.add_argument(
        "--allowed-host",
        metavar="HOST",
        action="append",
        help="a name that clients reach the server by, :* for any port; loopback names if none is given",
    )
    group.add_argument(
        "--allowed-origin", metavar="ORIGIN", action="append", help="an origin whose pages may call the server"
    )


# --- the verbs: each imports its core when it is run --------------------------------------------------


def _init(arguments: Arguments, root: Path) -> DiscernResult:
    if arguments.openapi:
        from discern_server.verbs.init_openapi import init_openapi

        options = {"base_url": arguments.base_url, "name": arguments.name, "dry_run": arguments.dry_run}
        return init_openapi(root, arguments.openapi, **options)
    from discern_server.verbs.generate import generate
    from discern_server.verbs.init import init

    return init(
        root,
        generate,
        module=arguments.module,
        folder=arguments.folder,
        handlers=arguments.handlers,
        name=arguments.name,
        dry_run=arguments.dry_run,
    )


def _status(_arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.generate import generate
    from discern_server.verbs.status import status

    return status(root, generate)


def _map(arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.map import map_tools

    return map_tools(root, arguments.name)


def _check(_arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.check import check
    from discern_server.verbs.generate import generate

    return check(root, generate)


def _accept(arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.accept import accept
    from discern_server.verbs.generate import generate

    return accept(root, generate, dry_run=arguments.dry_run, overwrite=arguments.overwrite)


def _era(arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.era import era, era_of_project
    from discern_server.wire.expectation import Expectation
    from discern_server.wire.limits import Limits

    if arguments.url and arguments.command:
        raise _Told("usage", "discern era: a URL and a command; give one of them", is_fault=True)
    expectation = Expectation(
        revision=arguments.require, legacy="reject" if arguments.forbid_legacy else "any", strict=arguments.strict
    )
    options: dict[str, Any] = {
        "limits": Limits(answer_s=arguments.timeout),
        "transcript": arguments.transcript,
        "call": not arguments.no_call,
    }
    if arguments.url or arguments.command:
        return era(arguments.url or arguments.command, expectation, headers=_headers(arguments), **options)
    return era_of_project(root, expectation, **options)


def _headers(arguments: Arguments) -> dict[str, str]:
    """The HTTP headers that ``--header-env NAME=VARIABLE`` asks for, their values from the environment."""
    headers = {}
    for given in arguments.header_env:
        name, _, variable = given.partition("=")
        if variable not in os.environ:
            message = f"discern era: --header-env {given}: there is no environment variable {variable!r}"
            raise _Told("usage", message, hint="--header-env NAME=VARIABLE", is_fault=True)
        headers[name] = os.environ[variable]
    return headers


def _era_text(result: DiscernResult) -> DiscernResult:
    from discern_server.verbs.era import for_people

    return for_people(result)


def _era_junit(result: DiscernResult) -> str:
    from discern_server.verbs.era import as_junit

    return as_junit(result)


def _call_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the tool to call")
    parser.add_argument("--args", metavar="JSON", default="{}", help="the arguments; @FILE or - reads them")
    parser.add_argument("--dry-run", action="store_true", help="show the HTTP request, and send nothing")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=120.0, help="how long to wait")


def _call(arguments: Arguments, root: Path) -> DiscernResult:
    from discern_server.verbs.call import call

    text = _given_text(arguments.args)
    return call(root, arguments.name, text, dry_run=arguments.dry_run, timeout_s=arguments.timeout)


def _given_text(given: str) -> bytes:
    """What an option says: itself, or what the file ``@FILE`` holds, or with ``-`` standard input."""
    try:
        if given == "-":
            return sys.stdin.buffer.read()
        return Path(given[1:]).read_bytes() if given.startswith("@") else given.encode("utf-8", "surrogateescape")
    except OSError as error:
        raise _Told("usage", f"discern call: {given} cannot be read: {error.strerror}", is_fault=True) from None


def _call_text(result: DiscernResult) -> DiscernResult:
    from discern_server.verbs.call import for_people

    return for_people(result)


def _doctor(_arguments: Arguments, _root: Path) -> DiscernResult:
    from discern_server.verbs.doctor import doctor

    return doctor()


def _help(arguments: Arguments, _root: Path) -> DiscernResult:
    from discern_server.verbs.help import help_on

    return help_on(arguments.topic)


VERBS: Final = (
    Verb(name="init", summary="write discern.toml", core=_init, arguments=_init_arguments, finds_project=False),
    Verb(name="status", summary="show where the project stands", core=_status),
    Verb(name="map", summary="list the tools, or show one definition whole", core=_map, arguments=_map_arguments),
    Verb(name="check", summary="check every definition, and that schemas/ is current", core=_check),
    Verb(name="accept", summary="write what the sources generate", core=_accept, arguments=_accept_arguments),
    Verb(
        name="era",
        summary="prove which protocol revisions a server speaks; the project's own if none is given",
        core=_era,
        arguments=_era_arguments,
        takes_command=True,
        text=_era_text,
        formats={"junit": _era_junit},
    ),
    Verb(
        name="call",
        summary="call one of the project's tools, or show the request it would send",
        core=_call,
        arguments=_call_arguments,
        text=_call_text,
    ),
    Verb(name="doctor", summary="check the installation", core=_doctor),
    Verb(name="help", summary="show the guide", core=_help, arguments=_help_arguments),
)


# --- running them -------------------------------------------------------------------------------------


def _runner(verb: Verb) -> Callable[[Arguments], int]:
    def run(arguments: Arguments) -> int:
        if level := os.environ.get(_LOG_VARIABLE):
            console.log_to_stderr(_known(level, console.LOG_LEVELS, _LOG_VARIABLE))
        answer = console.claim_stdout()
        form = "json" if "json" in arguments else arguments.format or "text"
        try:
            result = verb.core(arguments, _root(arguments, finds=verb.finds_project))
        except _Told as told:
            return _tell(told, as_json=form == "json", stdout=answer)
        kept = True
        if arguments.output is not None:
            kept = _keep(verb, result, form, arguments.output)
            form = "text"
        _show(verb, result, form, answer)
        return OK if result.ok and kept else SAID_NO

    return run


def _show(verb: Verb, result: DiscernResult, form: str, stream: int) -> None:
    """Write an answer to a descriptor in one of the verb's forms."""
    if form in verb.formats:
        console.write_text(verb.formats[form](result), stream)
    else:
        as_json = form == "json"
        console.write_answer(result if as_json else verb.text(result), stream, as_json=as_json)


def _keep(verb: Verb, result: DiscernResult, form: str, file: Path) -> bool:
    """Write an answer to a file, and return whether that could be done; standard error tells why not."""
    try:
        with file.open("wb") as opened:
            _show(verb, result, form, opened.fileno())
    except OSError as error:
        console.write_text(f"discern {verb.name}: cannot write {file}: {error.strerror}", sys.stderr.fileno())
        return False
    return True


def _verbs_to_serve(arguments: Arguments) -> tuple[ServerFactory, LegacyPolicy]:
    from discern_server.verbs.mcp import verbs_factory

    return verbs_factory(_root(arguments).resolve()), "reject"


def _project_to_serve(arguments: Arguments) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    from discern_server.verbs.serve import project_factory

    # Standard output is for MCP; a project's modules may print while they are imported.
    claimed = console.claim_stdout()
    try:
        return project_factory(_root(arguments))
    finally:
        console.give_back_stdout(claimed)


def _server_runner(server: Server) -> Callable[[Arguments], int]:
    """Serves what a server prepares, or tells on standard error why that cannot be done."""

    def run(arguments: Arguments) -> int:
        level = arguments.log_level or os.environ.get(_LOG_VARIABLE) or "info"
        console.log_to_stderr(_known(level, console.LOG_LEVELS, _LOG_VARIABLE))
        asked = arguments.legacy or os.environ.get(_LEGACY_VARIABLE)
        if asked:
            _known(asked, _POLICIES, _LEGACY_VARIABLE)
        if "http" in arguments and not arguments.http and (arguments.allowed_host or arguments.allowed_origin):
            raise _Told("usage", "discern serve: --allowed-host and --allowed-origin need --http", is_fault=True)
        gc.disable()  # importing the SDK makes a million objects and no garbage: a tenth of the start and more
        prepared = server.prepare(arguments)
        gc.enable()
        if not isinstance(prepared, tuple):
            console.write_answer(prepared, console.STDERR, as_json=False)
            return SAID_NO
        factory, policy = prepared
        return _serve(factory, arguments, "serve" if (asked or policy) == "serve" else "reject")

    return run


def _serve(factory: ServerFactory, arguments: Arguments, legacy: LegacyPolicy) -> int:
    if "http" in arguments and arguments.http:
        return _serve_http(factory, arguments, legacy)
    from discern_server.protocol.stdio import serve_stdio

    serve_stdio(factory, legacy=legacy)
    return OK


def _serve_http(factory: ServerFactory, arguments: Arguments, legacy: LegacyPolicy) -> int:
    from discern_server.protocol.http import http_app
    from discern_server.protocol.http_serve import parse_address, serve_http

    try:
        host, port = parse_address(arguments.http)
        app = http_app(
            factory,
            legacy=legacy,
            allowed_hosts=arguments.allowed_host,
            allowed_origins=arguments.allowed_origin,
        )
        serve_http(app, host, port)
    except (ValueError, ImportError, OSError) as error:
        raise _Told("serve", f"discern serve --http {arguments.http}: {error}", is_fault=True) from None
    return OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that can be started.

    Attributes:
        name: Its name.
        summary: What it serves, in a line.
        prepare: Gives the factory and the era policy that holds where nothing else says more; or why it cannot.
        arguments: Adds what it takes beyond the arguments of every server.
    """

    name: str
    summary: str
    prepare: Callable[[Arguments], tuple[ServerFactory, LegacyPolicy] | DiscernResult]
    arguments: Callable[[argparse.ArgumentParser], None] | None = None


SERVERS: Final = (
    Server(name="mcp", summary="serve the verbs as MCP tools over stdio", prepare=_verbs_to_serve),
    Server(
        name="serve",
        summary="serve the project's own tools over stdio, or over HTTP",
        prepare=_project_to_serve,
        arguments=_http_arguments,
    ),
)

_POLICIES: Final = ("reject", "serve")
_LEGACY_VARIABLE: Final = "DISCERN_LEGACY"
_LOG_VARIABLE: Final = "DISCERN_LOG"


def _known(value: str, options: Sequence[str], variable: str) -> str:
    if value not in options:
        raise _Told("usage", f"{variable} is {value!r}, not one of {', '.join(options)}", is_fault=True)
    return value


def _root(arguments: Arguments, *, finds: bool = True) -> Path:
    """The folder that ``--root`` names; else that of the nearest project; else the working directory."""
    if "root" in arguments:
        root: Path = arguments.root
        return root
    from discern_server.project import Project

    return (Project.find(Path.cwd()) if finds else None) or Path.cwd()


def _tell(told: _Told, *, as_json: bool, stdout: int = console.STDOUT) -> int:
    if as_json:
        from discern_server.result import DiscernResult

        hints = (told.hint,) if told.hint else ()
        error = "usage" if told.is_fault else None
        result = DiscernResult(
            ok=not told.is_fault, verb=told.verb, message=told.text, data=told.data, hints=hints, error=error
        )
        console.write_answer(result, stdout, as_json=True)
    else:
        text = f"{told.text}\nnext: {told.hint}" if told.hint else told.text
        console.write_text(text, console.STDERR if told.is_fault else stdout)
    return USAGE if told.is_fault else OK
