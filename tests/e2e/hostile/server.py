"""A modern server of the standard library alone, and its ill-behaved siblings.

Usage: server.py MODE     where MODE is a key of `MODES`; ``Server`` is the good one
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

REVISION = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "hand-made", "version": "1"}}
HINTS = {"ttlMs": 0, "cacheScope": "private"}
EMPTY = {"type": "object", "additionalProperties": False}
TOOLS: list[dict[str, Any]] = [
    {"name": "now", "inputSchema": EMPTY, "annotations": {"readOnlyHint": True}},
    {"name": "wipe", "inputSchema": EMPTY},
]


class Server:
    """Does what the revision asks for."""

    def run(self) -> None:
        for line in sys.stdin.buffer:
            self.on_line(line)

    def on_line(self, line: bytes) -> None:
        self.on_message(json.loads(line))

    def on_message(self, message: dict[str, Any]) -> None:
        self.write({"jsonrpc": "2.0", "id": message["id"], **self.answer(message)})

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        params = message.get("params", {})
        meta = params.get("_meta", {})
        if message["method"] == "initialize":
            return error(-32022, "not this era", {"supported": [REVISION], "requested": params["protocolVersion"]})
        if VERSION not in meta:
            return error(-32602, "the envelope is missing")
        if meta[VERSION] != REVISION:
            return error(-32022, "unsupported", {"supported": [REVISION], "requested": meta[VERSION]})
        return self.serve(message["method"], params)

    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "server/discover":
            return result(supportedVersions=[REVISION], capabilities={"tools": {}}, **HINTS)
        if method == "tools/list":
            return result(tools=self.tools(), **HINTS)
        if method == "tools/call":
            return result(content=[{"type": "text", "text": f"called {params['name']}"}])
        return error(-32601, "no such method")

    def tools(self) -> list[dict[str, Any]]:
        return TOOLS

    def write(self, message: Any) -> None:
        self.write_raw(json.dumps(message).encode() + b"\n")

    def write_raw(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def result(**members: Any) -> dict[str, Any]:
    return {"result": {"resultType": "complete", "_meta": SERVER, **members}}


def error(code: int, message: str, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **({"data": data} if data else {})}}


# --- those that never get anywhere ----------------------------------------------------------------------


class Silent(Server):
    def on_line(self, line: bytes) -> None:
        pass


class Deaf(Server):
    def run(self) -> None:
        time.sleep(600)


class Stubborn(Deaf):
    """Ends neither with its input nor when asked to."""

    def run(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().run()


class FloodOfLines(Server):
    def run(self) -> None:
        for number in itertools.count():
            self.write({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": number}})


class FloodOfBlankLines(Server):
    """Small enough to be endless in memory and time before the bytes are many."""

    def run(self) -> None:
        while True:
            self.write_raw(b"\n" * 65536)


class EndlessLine(Server):
    def run(self) -> None:
        while True:
            self.write_raw(b"x" * 65536)


class FloodOfStderr(Server):
    def on_line(self, line: bytes) -> None:
        while True:
            sys.stderr.buffer.write(b"complaint\n" * 5000)


class Drip(Server):
    """One byte at a time, never a newline."""

    def on_line(self, line: bytes) -> None:
        while True:
            self.write_raw(b" ")
            time.sleep(0.01)


class DiesAtOnce(Server):
    def run(self) -> None:
        sys.exit("no configuration")


class DiesWhenAsked(Server):
    def on_line(self, line: bytes) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class HalfAnAnswer(Server):
    def on_line(self, line: bytes) -> None:
        self.write_raw(b'{"jsonrpc":"2.0","id":1,"resu')
        sys.exit(3)


class NeverAWholeLine(Server):
    def on_message(self, message: dict[str, Any]) -> None:
        self.write_raw(json.dumps({"jsonrpc": "2.0", "id": message["id"], **self.answer(message)}).encode())


class WrongIds(Server):
    def on_message(self, message: dict[str, Any]) -> None:
        super().on_message({**message, "id": message["id"] + 1000})


class TextIds(Server):
    def on_message(self, message: dict[str, Any]) -> None:
        super().on_message({**message, "id": str(message["id"])})


class Echo(Server):
    def on_line(self, line: bytes) -> None:
        self.write_raw(line)


class Shell(Server):
    def on_line(self, line: bytes) -> None:
        self.write_raw(b"sh: syntax error\n\xff\xfe\n")


class Nested(Server):
    def on_line(self, line: bytes) -> None:
        self.write_raw(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n")


class OddShapes(Server):
    """Answers whose members are of any type but the right one."""

    shapes: Iterator[Any] = itertools.cycle(
        [None, 1, "text", [], True, {"error": "text"}, {"result": []}, {"error": {"code": True}}]
    )

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        shape = next(self.shapes)
        return shape if isinstance(shape, dict) else {"result": shape, "error": shape}


class Both(Server):
    """Never decides whether it worked."""

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**result(supportedVersions=[REVISION]), **error(-32022, "no", {"supported": [REVISION]})}


class LanguageServer(Server):
    """Frames its messages as another protocol does."""

    def write_raw(self, data: bytes) -> None:
        super().write_raw(b"Content-Length: %d\r\n\r\n%s" % (len(data) - 1, data[:-1]))


# --- those that are servers, with a fault ------------------------------------------------------------------


class Banner(Server):
    def run(self) -> None:
        self.write_raw(b"Welcome to my server!\n\n")
        super().run()


class Chatty(Server):
    """Sends requests of its own, and answers what nobody asked."""

    def on_message(self, message: dict[str, Any]) -> None:
        self.write({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
        self.write({"jsonrpc": "2.0", "id": 777, "result": {}})
        super().on_message(message)


class EndlessPages(Server):
    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            return result(tools=TOOLS, nextCursor=params.get("cursor", "") + "x", **HINTS)
        return super().serve(method, params)


class SameCursor(Server):
    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            return result(tools=TOOLS, nextCursor="again", **HINTS)
        return super().serve(method, params)


class DiesInTheList(Server):
    def tools(self) -> list[dict[str, Any]]:
        sys.exit(4)


class HangsInTheCall(Server):
    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            time.sleep(600)
        return super().serve(method, params)


class RandomTools(Server):
    def tools(self) -> list[dict[str, Any]]:
        return [{"name": f"tool-{os.getpid()}", "inputSchema": EMPTY}]


class BadTools(Server):
    def tools(self) -> list[dict[str, Any]]:
        bad: list[Any] = [{"name": "two words", "inputSchema": {"type": "objekt"}}, "not a tool", {}, *TOOLS, *TOOLS]
        return bad


class HalfCharacters(Server):
    """What its tools and cursors are called is half of a surrogate pair, which no encoding can carry."""

    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            more = {} if "cursor" in params else {"nextCursor": "\ud800"}
            return result(tools=[{**TOOLS[0], "name": f"{len(more)}\ud800"}], **more, **HINTS)
        return super().serve(method, params)


class NoHints(Server):
    def write(self, message: Any) -> None:
        body = message.get("result", {})
        for member in ("ttlMs", "_meta"):
            body.pop(member, None)
        super().write(message)


class AnyVersion(Server):
    """Looks at the version of the first request alone."""

    seen = False

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        meta = message.get("params", {}).get("_meta", {})
        if self.seen and VERSION in meta:
            meta[VERSION] = REVISION
        self.seen = True
        return super().answer(message)


class AnyEnvelope(Server):
    """Serves a request that carries no envelope."""

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["method"] == "initialize":
            return super().answer(message)
        message.setdefault("params", {}).setdefault("_meta", {}).setdefault(VERSION, REVISION)
        return super().answer(message)


class Mute(Server):
    """Refuses initialize by saying nothing."""

    def on_message(self, message: dict[str, Any]) -> None:
        if message["method"] != "initialize":
            super().on_message(message)


class Curt(Server):
    """Refuses initialize without a word about versions."""

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["method"] == "initialize":
            return error(-32601, "no such method")
        return super().answer(message)


class DropsAtEnd(Server):
    """Loses what was asked right before the end of input."""

    def run(self) -> None:
        while chunk := os.read(0, 65536):
            lines = chunk.splitlines()
            for line in lines[:1] if len(lines) > 1 else lines:
                self.on_line(line)


class StaysAfterEnd(Server):
    def run(self) -> None:
        super().run()
        time.sleep(600)


class Undead(StaysAfterEnd):
    def run(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().run()


class ForbiddenCode(Server):
    def serve(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = super().serve(method, params)
        return error(-32042, "reserved") if "error" in answer else answer


KINDS: tuple[type[Server], ...] = (Server, *Server.__subclasses__(), Stubborn, Undead)
MODES = {kind.__name__: kind for kind in KINDS}

if __name__ == "__main__":
    MODES[sys.argv[1]]().run()
