"""The command line: parse, run a command or start a server, write the answer, set the exit code.

    discern init [--module M | --folder DIR [--handlers M] | --openapi FILE|URL [--base-url URL]]
                 [--name NAME] [--dry-run]
    discern status
    discern map [NAME]
    discern check [--format sarif]
    discern accept [--dry-run] [--overwrite]
    discern era [--require REVISION] [--forbid-legacy] [--strict] [--transcript] [--no-call]
                [--format junit|sarif] [URL | -- COMMAND...]
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
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from discern_server import __version__, console
from discern_server.commands import COMMANDS, Command, UsageError
from discern_server.verbs.program import GENERATE_DEFINITIONS

if TYPE_CHECKING:
    from discern_server.project import LegacyPolicy
    from discern_server.protocol.factory import ServerFactory
    from discern_server.result import DiscernResult

OK, SAID_NO, USAGE, INTERRUPTED, UNREAD = 0, 1, 2, 130, 141

_POLICIES: Final = ("reject", "serve")
_LEGACY_VARIABLE: Final = "DISCERN_LEGACY"
_LOG_VARIABLE: Final = "DISCERN_LOG"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; `argv` is the process's own where it is None. Returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--") if "--" in words else len(words)
    words, command = words[:end], words[end + 1 :]
    try:
        return _run(words, command)
    except _Shown as shown:
        return _show(shown, as_json="--json" in words)
    except UsageError as error:
        return _refuse(error, console.STDOUT, as_json="--json" in words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return UNREAD


def _run(words: list[str], command: list[str]) -> int:
    if words[:1] == [GENERATE_DEFINITIONS]:
        from discern_server.verbs.generate import run_child

        return run_child(Path(words[1]))
    arguments = _parser().parse_args(words, argparse.Namespace(command=command))
    if command and not arguments.takes_command:
        raise UsageError(f"discern {arguments.verb}: there is no command to run after --")
    run: Callable[[argparse.Namespace], int] = arguments.run
    return run(arguments)


# --- the parser ---------------------------------------------------------------------------------------


class _Shown(Exception):  # noqa: N818 - nothing is wrong
    """The command line asks for help or the version, which is shown in the place of an answer."""

    def __init__(self, verb: str, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.verb = verb
        self.text = text
        self.data = data


class _Parser(argparse.ArgumentParser):
    """argparse, which would print and exit by itself, made to raise."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}", hint=f"{self.prog} --help")


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        raise _Shown("help", parser.format_help().rstrip())


class _Version(argparse.Action):
    def __call__(self, *_: Any) -> NoReturn:
        raise _Shown("version", f"discern {__version__}", {"version": __version__})


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
    for command in COMMANDS:
        added = verbs.add_parser(command.name, help=command.summary, description=command.summary, add_help=False)
        _common_arguments(added, has_json=True)
        forms = ("text", "json", *command.formats)
        added.add_argument("--format", choices=forms, help="how to answer; text if not given")
        added.add_argument("--output", metavar="FILE", type=Path, help="write that to a file, and show the text")
        if command.arguments:
            command.arguments(added)
        added.set_defaults(verb=command.name, run=_command_runner(command), takes_command=command.takes_command)
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


# --- running a command --------------------------------------------------------------------------------


def _command_runner(command: Command) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        if level := os.environ.get(_LOG_VARIABLE):
            console.log_to_stderr(_known(level, console.LOG_LEVELS, _LOG_VARIABLE))
        answer = console.claim_stdout()
        form = "json" if "json" in arguments else arguments.format or "text"
        if progress := command.progress(arguments):
            console.tell_progress(progress)
        try:
            result = command.core(arguments, _root(arguments, finds=command.finds_project))
        except UsageError as error:
            return _refuse(error, answer, as_json=form == "json")
        kept = True
        if arguments.output is not None:
            kept = _keep(command, result, form, arguments.output)
            form = "text"
        _write(command, result, form, answer)
        return OK if result.ok and kept else SAID_NO

    return run


def _root(arguments: argparse.Namespace, *, finds: bool = True) -> Path:
    """The folder that ``--root`` names; else that of the nearest project; else the working directory."""
    if "root" in arguments:
        root: Path = arguments.root
        return root
    from discern_server.project import Project

    return (Project.find(Path.cwd()) if finds else None) or Path.cwd()


def _known(value: str, options: Sequence[str], variable: str) -> str:
    if value not in options:
        raise UsageError(f"{variable} is {value!r}, not one of {', '.join(options)}")
    return value


# --- writing answers ----------------------------------------------------------------------------------


def _write(command: Command, result: DiscernResult, form: str, stream: int) -> None:
    """Write an answer to a descriptor in one of the command's forms."""
    if form in command.formats:
        console.write_text(command.formats[form](result), stream)
    else:
        as_json = form == "json"
        console.write_answer(result if as_json else command.text(result), stream, as_json=as_json)


def _keep(command: Command, result: DiscernResult, form: str, file: Path) -> bool:
    """Write an answer to a file, and return whether that could be done; standard error tells why not."""
    try:
        with file.open("wb") as opened:
            _write(command, result, form, opened.fileno())
    except OSError as error:
        console.write_text(f"discern {command.name}: cannot write {file}: {error.strerror}", console.STDERR)
        return False
    return True


def _show(shown: _Shown, *, as_json: bool) -> int:
    if as_json:
        from discern_server.result import DiscernResult

        result = DiscernResult(ok=True, verb=shown.verb, message=shown.text, data=shown.data)
        console.write_answer(result, console.STDOUT, as_json=True)
    else:
        console.write_text(shown.text, console.STDOUT)
    return OK


def _refuse(error: UsageError, stdout: int, *, as_json: bool) -> int:
    if as_json:
        from discern_server.result import failure

        result = failure("usage", "usage", error.message, hints=(error.hint,) if error.hint else ())
        console.write_answer(result, stdout, as_json=True)
    else:
        text = f"{error.message}\nnext: {error.hint}" if error.hint else error.message
        console.write_text(text, console.STDERR)
    return USAGE


# --- starting a server --------------------------------------------------------------------------------


def _server_runner(server: Server) -> Callable[[argparse.Namespace], int]:
    """Serves what a server prepares, or tells on standard error why that cannot be done."""

    def run(arguments: argparse.Namespace) -> int:
        level = arguments.log_level or os.environ.get(_LOG_VARIABLE) or "info"
        console.log_to_stderr(_known(level, console.LOG_LEVELS, _LOG_VARIABLE))
        asked = arguments.legacy or os.environ.get(_LEGACY_VARIABLE)
        if asked:
            _known(asked, _POLICIES, _LEGACY_VARIABLE)
        if "http" in arguments and not arguments.http and (arguments.allowed_host or arguments.allowed_origin):
            raise UsageError("discern serve: --allowed-host and --allowed-origin need --http")
        prepared = _prepare(server, arguments)
        if not isinstance(prepared, tuple):
            return _cannot_serve(prepared)
        factory, policy = prepared
        return _serve(factory, arguments, "serve" if (asked or policy) == "serve" else "reject")

    return run


def _prepare(server: Server, arguments: argparse.Namespace) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    from discern_server.protocol.quick_start import collector_paused, import_sdk
    from discern_server.protocol.state_keys import StateKeysError

    try:
        with collector_paused():
            if "http" not in arguments or not arguments.http:
                import_sdk()
            return server.prepare(arguments)
    except StateKeysError as error:
        raise UsageError(f"discern {server.name}: {error}") from None


def _cannot_serve(why: DiscernResult) -> int:
    console.write_answer(why, console.STDERR, as_json=False)
    return SAID_NO


def _serve(factory: ServerFactory, arguments: argparse.Namespace, legacy: LegacyPolicy) -> int:
    if "http" in arguments and arguments.http:
        return _serve_http(factory, arguments, legacy)
    from discern_server.protocol.stdio import serve_stdio

    serve_stdio(factory, legacy=legacy)
    return OK


def _serve_http(factory: ServerFactory, arguments: argparse.Namespace, legacy: LegacyPolicy) -> int:
    from discern_server.protocol.http import http_app
    from discern_server.protocol.http_serve import parse_address, serve_http

    hosts, origins = arguments.allowed_host, arguments.allowed_origin
    try:
        host, port = parse_address(arguments.http)
        app = http_app(factory, legacy=legacy, allowed_hosts=hosts, allowed_origins=origins)
    except ValueError as error:
        raise UsageError(f"discern serve: {error}") from None
    try:
        serve_http(app, host, port)
    except ValueError as error:
        raise UsageError(f"discern serve: {error}") from None
    except (ImportError, OSError) as error:
        from discern_server.result import failure

        return _cannot_serve(failure("serve", "cannot_listen", f"{arguments.http}: {error}"))
    return OK


def _verbs_to_serve(arguments: argparse.Namespace) -> tuple[ServerFactory, LegacyPolicy]:
    from discern_server.verbs.mcp import verbs_factory

    return verbs_factory(_root(arguments).resolve()), "reject"


def _project_to_serve(arguments: argparse.Namespace) -> tuple[ServerFactory, LegacyPolicy] | DiscernResult:
    from discern_server.verbs.serve import project_factory

    # Standard output is for MCP; a project's modules may print while they are imported.
    claimed = console.claim_stdout()
    try:
        return project_factory(_root(arguments))
    finally:
        console.give_back_stdout(claimed)


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
    prepare: Callable[[argparse.Namespace], tuple[ServerFactory, LegacyPolicy] | DiscernResult]
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
