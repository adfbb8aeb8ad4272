"""Lets Prism judge the requests that tools send: ``python -m tests.suites.openapi_prism DIR --prism COMMAND``.

Prism (``@stoplight/prism-cli``) serves a description as a mock that validates requests. For each description a project
is made, ``discern serve`` is asked over stdio, and every tool is called twice with arguments made from its
``inputSchema`` alone: with what is required, and with everything. A small proxy between the two keeps what Prism
found wrong with each request (its ``sl-violations`` header). Prints every rejection, and closes with their share;
the exit code is 1 where it is above 2 %.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self

from discern_server.wire.limits import Limits
from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.suites.openapi_arguments import arguments

DOCUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "swagger-petstore-v3.yaml": (),
    "redoc-petstore-31.yaml": (),
    "museum-31.yaml": (),
    "scalar-galaxy-31.yaml": (),
    "spring-petclinic.yaml": (),
    "readme-parameters-style-30.json": ("/anything/form-data/**",),
    "readme-security-30.json": (),
    "spotify.yaml": (),
    "uber-v2.json": (),
    "tictactoe-31.yaml": (),
}
"""The descriptions, each with the operations that are left out since Prism 5 cannot judge them.

It leaves every part of a multipart body text, so that one with an array or an object never conforms (Encoding
Object: items are parts of their own, objects are JSON). ``redoc-petstore-v2.yaml`` is left out whole: it names no
``consumes``, of which Swagger 2.0 says nothing, and Prism takes that for "no body of any type".
"""
EXPLAINED: Final[Mapping[str, str]] = {
    "addresses.0 must be string": "beside prefixItems, Prism 5 holds items for the whole array rather than for what"
    " follows them (2020-12 Core, 10.3.1.2)",
}
"""Rejections that are Prism's error, by what they say, each with the clause."""
ALLOWED_SHARE: Final = 0.02
_DISCERN: Final = [sys.executable, "-m", "discern_server"]
_TOKEN: Final = "prism-token"


@dataclass
class Judged:
    """What was seen of one description.

    Attributes:
        document: Its file.
        tools: How many tools it gave.
        calls: How many calls were made.
        requests: How many of them reached Prism.
        unmade: Tools for which no arguments could be made.
        unsent: Calls that sent nothing, with what the tool said.
        rejections: What Prism found wrong, one line for each request.
        broken: Requests that Prism died of.
    """

    document: str
    tools: int = 0
    calls: int = 0
    requests: int = 0
    unmade: list[str] = field(default_factory=list)
    unsent: list[str] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


# --- Prism and the proxy before it ------------------------------------------------------------------


class Prism:
    """Prism, serving a description; started anew where it dies of a request."""

    def __init__(self, command: Sequence[str], document: Path) -> None:
        self._command = command
        self._document = document
        self.port = _free_port()

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(10)

    def start(self) -> None:
        """Start it, and wait until it serves."""
        words = ["mock", "--host", "127.0.0.1", "--port", str(self.port), str(self._document)]
        self._process = subprocess.Popen(
            [*self._command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        assert self._process.stdout is not None
        if not any("is listening" in line for line in self._process.stdout):
            raise RuntimeError(f"Prism does not serve {self._document.name}")
        threading.Thread(target=self._process.stdout.read, daemon=True).start()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Seen:
    """One request, and what Prism found wrong with it; `broke` where Prism died of it."""

    line: str
    body: bytes
    wrong: tuple[str, ...] = ()
    broke: bool = False


@contextmanager
def proxy(judge: Prism) -> Iterator[tuple[str, list[Seen]]]:
    """A proxy before Prism: its address, and what it has seen."""
    seen: list[Seen] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self) -> None:
            line = f"{self.command} {self.path}"
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                answer, content = self._ask(body)
            except OSError:
                seen.append(Seen(line, body, broke=True))
                judge.start()
                self.send_error(502)
                return
            seen.append(Seen(line, body, tuple(_wrong(answer, content))))
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _ask(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", judge.port, timeout=30)
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            try:
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                return answer, answer.read()
            finally:
                connection.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _forward  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing: what was seen is kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()


def _wrong(answer: http.client.HTTPResponse, content: bytes) -> Iterator[str]:
    """What Prism found wrong with a request; that something is deprecated is no fault."""
    for one in json.loads(answer.headers.get("sl-violations", "[]")):
        if one["location"][0] == "request" and one["severity"] == "Error":
            yield f"{'.'.join(map(str, one['location'][1:]))} {one['message']}".strip()
    if _is_prisms_own(answer, content):
        problem = json.loads(content)
        told = [one["message"] for one in problem.get("validation", [])] or [problem.get("title", answer.reason)]
        yield from told


_OF_THE_MOCK: Final = ("NO_RESPONSE", "NOT_ACCEPTABLE", "NO_COMPLEX_OBJECT_TEXT", "SCHEMA_TOO_COMPLEX", "UNKNOWN")


def _is_prisms_own(answer: http.client.HTTPResponse, content: bytes) -> bool:
    """Whether Prism refuses the request itself; that it can make up no answer says nothing of the request."""
    if "problem+json" not in answer.headers.get("Content-Type", "") or b"stoplight.io/prism/errors#" not in content:
        return False
    return not any(name.encode() in content for name in _OF_THE_MOCK) and "sl-violations" not in answer.headers


# --- the project ------------------------------------------------------------------------------------


def make_project(folder: Path, document: Path, base_url: str, exclude: Sequence[str]) -> None:
    """A project with every operation of the description on, and something in the place of every credential."""
    shutil.copy(document, folder / document.name)
    begun = _discern(folder, "init", "--openapi", document.name, "--base-url", base_url, "--name", "judged")
    basic = '{ username = { env = "JUDGED" }, password = { env = "JUDGED" } }'
    lines = ["[server]", 'name = "judged"', 'version = "1"', "[[sources]]", 'kind = "openapi"']
    lines += [f'document = "{document.name}"', f'base_url = "{base_url}"', "max_attempts = 1"]
    lines.append(f"exclude = {json.dumps(list(exclude))}")
    for needed in begun["data"]["credentials"]:
        value = basic if needed["kind"] == "HTTP basic" else '{ env = "JUDGED" }'
        lines.append(f'credentials."{needed["scheme"]}" = {value}')
    (folder / "discern.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _discern(folder, "accept")


def _discern(folder: Path, *words: str) -> Any:
    done = subprocess.run([*_DISCERN, *words, "--json"], cwd=folder, stdout=subprocess.PIPE, timeout=120, check=False)
    answer = json.loads(done.stdout)
    if not answer["ok"]:
        raise RuntimeError(f"discern {words[0]}: {answer}")
    return answer


def _tools(server: StdioServer) -> Iterator[dict[str, Any]]:
    params: dict[str, Any] = {}
    while True:
        page = server.ask(modern_request("tools/list", params))["result"]
        yield from page["tools"]
        if "nextCursor" not in page:
            return
        params = {"cursor": page["nextCursor"]}


def judge(document: Path, command: Sequence[str], exclude: Sequence[str] = ()) -> Judged:
    """Call every tool of a description before Prism."""
    judged = Judged(document.name)
    environment = {**os.environ, "JUDGED": _TOKEN}
    with tempfile.TemporaryDirectory() as name, Prism(command, document) as mock, proxy(mock) as (address, seen):
        make_project(Path(name), document, address, exclude)
        limits = Limits(answer_s=60)
        with StdioServer([*_DISCERN, "serve"], cwd=Path(name), env=environment, limits=limits) as server:
            tools = list(_tools(server))
            judged.tools = len(tools)
            for tool in tools:
                _call_twice(server, tool, seen, judged)
    return judged


def _call_twice(server: StdioServer, tool: dict[str, Any], seen: list[Seen], judged: Judged) -> None:
    tried: list[Any] = []
    for full in (False, True):
        given = arguments(tool["inputSchema"], full=full)
        if given is None:
            judged.unmade.append(tool["name"])
        elif given not in tried:
            tried.append(given)
            seen.clear()
            answer = server.ask(modern_request("tools/call", {"name": tool["name"], "arguments": given}))
            judged.calls += 1
            _note(judged, tool["name"], seen, answer)


def _note(judged: Judged, tool: str, seen: Sequence[Seen], answer: Any) -> None:
    judged.requests += bool(seen)
    if not seen:
        told = answer["result"]["content"][0]["text"] if "result" in answer else str(answer)
        judged.unsent.append(f"{tool}: {' '.join(told.split())[:200]}")
    for one in seen:
        if one.broke:
            judged.broken.append(f"{tool}: {one.line}")
        elif one.wrong:
            judged.rejections.append(f"{tool}: {one.line}: {'; '.join(one.wrong)} | body {one.body[:120]!r}")


def main(words: list[str]) -> int:
    """Judge the documents; the exit code is 1 where more than the allowed share of calls is rejected."""
    parser = argparse.ArgumentParser(prog="python -m tests.suites.openapi_prism")
    parser.add_argument("directory", type=Path)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="documents; a list of the suite's own if none is given"
    )
    parser.add_argument("--prism", required=True, metavar="COMMAND", help="the command that runs Prism")
    options = parser.parse_args(words)
    judged = []
    for name in options.names or DOCUMENTS:
        found = judge(options.directory / name, shlex.split(options.prism), DOCUMENTS.get(name, ()))
        judged.append(found)
        _print(found)
    calls, rejected = sum(one.requests for one in judged), sum(len(one.rejections) for one in judged)
    share = rejected / calls if calls else 1.0
    print(f"{rejected} of {calls} requests rejected by Prism: {share:.1%}, at most {ALLOWED_SHARE:.0%} allowed")
    return 1 if share > ALLOWED_SHARE else 0


def _print(found: Judged) -> None:
    print(
        f"{found.document}: {found.tools} tools, {found.calls} calls, {found.requests} reached Prism,"
        f" {len(found.rejections)} rejected, {len(found.unmade)} without arguments",
        flush=True,
    )
    kinds = {"rejected": found.rejections, "not sent": found.unsent, "Prism died of": found.broken}
    for kind, lines in kinds.items():
        for line in lines:
            print(f"  {kind} {line}")
            for said, why in EXPLAINED.items():
                if kind == "rejected" and said in line:
                    print(f"    explained: {why}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
