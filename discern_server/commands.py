"""The verbs as commands: for each its arguments, the core that it calls with them, and its forms of answer.

A row of `COMMANDS` is one. Each imports its core when it is run, and returns what the core returns. Nothing here
prints; the process and its streams are the business of `discern_server.cli`.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from discern_server.result import DiscernResult
    from discern_server.rules.rule import Rule


class UsageError(Exception):
    """A command line, or a variable beside it, that is wrong.

    Attributes:
        message: What is wrong with it.
        hint: What to look at, or None.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A verb on the command line.

    Attributes:
        name: Its name.
        summary: What it does, in a line.
        core: Does it, for the parsed arguments and the project's folder.
        arguments: Adds what it takes beyond the common arguments.
        finds_project: Whether it looks for a project above the working directory.
        takes_command: Whether what follows ``--`` is a command for it to run.
        text: Shortens an answer for people.
        formats: Renders an answer in forms beyond text and JSON, by the name that ``--format`` takes.
        progress: What a person at a terminal is told before it begins; empty where it does not take long.
    """

    name: str
    summary: str
    core: Callable[[Namespace, Path], DiscernResult]
    arguments: Callable[[ArgumentParser], None] | None = None
    finds_project: bool = True
    takes_command: bool = False
    text: Callable[[DiscernResult], DiscernResult] = lambda result: result
    formats: Mapping[str, Callable[[DiscernResult], str]] = field(default_factory=dict)
    progress: Callable[[Namespace], str] = lambda _arguments: ""


# --- the arguments -----------------------------------------------------------------------------------


def _init_arguments(parser: ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--module", metavar="MODULE", help="a Python module with marked functions")
    source.add_argument("--folder", metavar="DIR", help="a folder of definitions, relative to the project")
    source.add_argument("--openapi", metavar="FILE|URL", help="an API description: OpenAPI 3 or Swagger 2.0")
    parser.add_argument("--handlers", metavar="MODULE", help="the module with the functions for --folder")
    parser.add_argument("--base-url", metavar="URL", help="the server that --openapi's API is called at")
    parser.add_argument("--name", help="the server's name")
    _dry_run_argument(parser)


def _map_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the tool to show whole")


def _accept_arguments(parser: ArgumentParser) -> None:
    _dry_run_argument(parser)
    parser.add_argument("--overwrite", action="store_true", help="write over files that were changed by hand")


def _era_arguments(parser: ArgumentParser) -> None:
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


def _call_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the tool to call")
    parser.add_argument("--args", metavar="JSON", default="{}", help="the arguments; @FILE or - reads them")
    parser.add_argument("--dry-run", action="store_true", help="show the HTTP request, and send nothing")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=120.0, help="how long to wait")


def _dry_run_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")


def _help_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="the page to show")


# --- the cores ---------------------------------------------------------------------------------------


def _init(arguments: Namespace, root: Path) -> DiscernResult:
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


def _status(_arguments: Namespace, root: Path) -> DiscernResult:
    from discern_server.verbs.generate import generate
    from discern_server.verbs.status import status

    return status(root, generate)


def _map(arguments: Namespace, root: Path) -> DiscernResult:
    from discern_server.verbs.map import map_tools

    return map_tools(root, arguments.name)


def _check(_arguments: Namespace, root: Path) -> DiscernResult:
    from discern_server.verbs.check import check
    from discern_server.verbs.generate import generate

    return check(root, generate)


def _check_sarif(result: DiscernResult) -> str:
    from discern_server.rules import RULES

    return _sarif(result, RULES.values())


def _sarif(result: DiscernResult, rules: Iterable[Rule]) -> str:
    """The findings of an answer for code hosts; why there was nothing to find, as a finding."""
    import json

    from discern_server import __version__
    from discern_server.result import Diagnostic
    from discern_server.sarif import to_sarif

    why = () if result.ok else (Diagnostic(rule=result.error or "failed", message=result.message or ""),)
    log = to_sarif(result.diagnostics or why, tool_version=__version__, rules=rules)
    return json.dumps(log, indent=2, ensure_ascii=False)


def _accept(arguments: Namespace, root: Path) -> DiscernResult:
    from discern_server.verbs.accept import accept
    from discern_server.verbs.generate import generate

    return accept(root, generate, dry_run=arguments.dry_run, overwrite=arguments.overwrite)


def _era(arguments: Namespace, root: Path) -> DiscernResult:
    from discern_server.verbs.era import era, era_of_project
    from discern_server.wire.expectation import Expectation
    from discern_server.wire.limits import Limits

    if arguments.url and arguments.command:
        raise UsageError("discern era: a URL and a command; give one of them")
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


def _headers(arguments: Namespace) -> dict[str, str]:
    """The HTTP headers that ``--header-env NAME=VARIABLE`` asks for, their values from the environment."""
    headers = {}
    for given in arguments.header_env:
        name, _, variable = given.partition("=")
        if variable not in os.environ:
            message = f"discern era: --header-env {given}: there is no environment variable {variable!r}"
            raise UsageError(message, hint="--header-env NAME=VARIABLE")
        headers[name] = os.environ[variable]
    return headers


def _era_text(result: DiscernResult) -> DiscernResult:
    from discern_server.verbs.era import for_people

    return for_people(result)


def _era_junit(result: DiscernResult) -> str:
    from discern_server.verbs.era import as_junit

    return as_junit(result)


def _era_sarif(result: DiscernResult) -> str:
    from discern_server.verbs.era import rules

    return _sarif(result, rules())


def _call(arguments: Namespace, root: Path) -> DiscernResult:
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
        raise UsageError(f"discern call: {given} cannot be read: {error.strerror}") from None


def _call_text(result: DiscernResult) -> DiscernResult:
    from discern_server.verbs.call import for_people

    return for_people(result)


def _doctor(_arguments: Namespace, _root: Path) -> DiscernResult:
    from discern_server.verbs.doctor import doctor

    return doctor()


def _help(arguments: Namespace, _root: Path) -> DiscernResult:
    from discern_server.verbs.help import help_on

    return help_on(arguments.topic)


COMMANDS: Final = (
    Command(
        name="init",
        summary="write discern.toml",
        core=_init,
        arguments=_init_arguments,
        finds_project=False,
        progress=lambda arguments: f"reading {arguments.openapi} ..." if arguments.openapi else "",
    ),
    Command(name="status", summary="show where the project stands", core=_status),
    Command(name="map", summary="list the tools, or show one definition whole", core=_map, arguments=_map_arguments),
    Command(
        name="check",
        summary="check every definition, and that schemas/ is current",
        core=_check,
        formats={"sarif": _check_sarif},
    ),
    Command(name="accept", summary="write what the sources generate", core=_accept, arguments=_accept_arguments),
    Command(
        name="era",
        summary="prove which protocol revisions a server speaks; the project's own if none is given",
        core=_era,
        arguments=_era_arguments,
        takes_command=True,
        text=_era_text,
        formats={"junit": _era_junit, "sarif": _era_sarif},
    ),
    Command(
        name="call",
        summary="call one of the project's tools, or show the request it would send",
        core=_call,
        arguments=_call_arguments,
        text=_call_text,
        progress=lambda arguments: "" if arguments.dry_run else f"starting the server to call {arguments.name} ...",
    ),
    Command(name="doctor", summary="check the installation", core=_doctor),
    Command(name="help", summary="show the guide", core=_help, arguments=_help_arguments),
)
