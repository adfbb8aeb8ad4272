"""Cold start: from spawning the process to its answers."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks import calls, definitions, environments, peers
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "cold start"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int


FULL: Final = Size(rounds=21)
QUICK: Final = Size(rounds=5)


@dataclass(frozen=True, slots=True)
class Start:
    """What one start took, in seconds.

    Attributes:
        discovered_s: From spawning to the answer of ``server/discover``.
        called_s: From spawning to the answer of the first call.
        cpu_s: What the process ran for until then.
    """

    discovered_s: float
    called_s: float
    cpu_s: float


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about starting."""
    tools = definitions.write_tools(directory, 10)
    names = (peers.SERVE, peers.OURS, peers.SDK, peers.FASTMCP, peers.TYPESCRIPT)
    starts: dict[str, list[Start]] = alternate(size.rounds, {name: _start(name, tools) for name in names})
    version = alternate(size.rounds, {"discern --version": _version})["discern --version"]
    sdk = starts[peers.SDK]
    compare = partial(_row, starts)
    return [
        compare("to the answer of server/discover", peers.SERVE, peers.SDK, _discovered, bar=0.62),
        compare("to the first result of a call", peers.SERVE, peers.SDK, _called, bar=0.62),
        compare("a program that uses the library, to the first result", peers.OURS, peers.SDK, _called),
        compare("to the first result of a call", peers.SERVE, peers.FASTMCP, _called),
        compare("to the first result of a call", peers.SERVE, peers.TYPESCRIPT, _called),
        Row(
            group=GROUP,
            what="discern --version beside the SDK's answer of server/discover",
            ours=f"discern --version: {_milliseconds(version)}",
            theirs=f"{peers.SDK}: {_milliseconds([start.discovered_s for start in sdk])}",
            value=ratios(version, [start.discovered_s for start in sdk]),
            bar=0.15,
        ),
    ]


def _start(name: str, tools: Path) -> Callable[[int], Start]:
    def measure(number: int) -> Start:
        with peers.start(name, tools) as server:
            server.ask(definitions.request(number, "server/discover"))
            discovered = time.perf_counter() - server.started
            calls.call_batch(server, [number])
            return Start(discovered, time.perf_counter() - server.started, server.cpu_s())

    return measure


def _version(_number: int) -> float:
    start = time.perf_counter()
    printed = subprocess.check_output([environments.program("discern"), "--version"], encoding="utf-8")
    took = time.perf_counter() - start
    if "0." not in printed:
        raise definitions.WrongAnswerError(f"no version: {printed!r}")
    return took


def _discovered(start: Start) -> float:
    return start.discovered_s


def _called(start: Start) -> float:
    return start.called_s


def _row(
    starts: dict[str, list[Start]],
    what: str,
    subject: str,
    peer: str,
    point: Callable[[Start], float],
    *,
    bar: float | None = None,
) -> Row:
    ours, theirs = ([point(start) for start in starts[name]] for name in (subject, peer))
    return Row(
        group=GROUP,
        what=what,
        ours=f"{subject}: {_milliseconds(ours)}",
        theirs=f"{peer}: {_milliseconds(theirs)}",
        value=ratios(ours, theirs),
        cpu=ratios([start.cpu_s for start in starts[subject]], [start.cpu_s for start in starts[peer]]),
        bar=bar,
    )


def _milliseconds(seconds: list[float]) -> str:
    return f"{Spread.of(seconds).median * 1e3:,.0f} ms"
