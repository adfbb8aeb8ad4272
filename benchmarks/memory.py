"""What a server holds in memory: idle, before a client that does not read, and after very many calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import calls, definitions, peers
from benchmarks.client import StdioServer
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "memory over stdio"
UNREAD: Final = 20_000
MANY: Final = 100_000
_BURST: Final = 200
_SETTLED_AFTER: Final = 10_000


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    idle_rounds: int
    unread_rounds: int


FULL: Final = Size(idle_rounds=7, unread_rounds=3)
QUICK: Final = Size(idle_rounds=2, unread_rounds=1)


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about memory."""
    tools = definitions.write_tools(directory, 10)
    return [
        *_idle_rows(_peaks(size.idle_rounds, tools, _idle, (peers.SERVE, peers.OURS, peers.SDK))),
        _compared(
            f"{UNREAD:,} calls of a client that reads nothing till then",
            peers.OURS,
            _peaks(size.unread_rounds, tools, _unread_calls, (peers.OURS, peers.SDK)),
            bar=0.35,
        ),
        _growth(tools),
    ]


def _idle_rows(peaks: dict[str, list[float]]) -> list[Row]:
    return [
        _compared("idle, after one call", peers.SERVE, peaks, bar=0.80),
        _compared("idle, after one call, a program that uses the library", peers.OURS, peaks),
    ]


def _peaks(
    rounds: int, tools: Path, use: Callable[[StdioServer], None], names: Sequence[str]
) -> dict[str, list[float]]:
    """The peak memory of each server, a new process in each round."""

    def peak_of(name: str) -> Callable[[int], float]:
        def measure(_number: int) -> float:
            with peers.start(name, tools) as server:
                use(server)
                return server.peak_memory_mib()

        return measure

    return alternate(rounds, {name: peak_of(name) for name in names})


def _idle(server: StdioServer) -> None:
    server.ask(definitions.request(0, "server/discover"))
    calls.call_batch(server, [1])


def _unread_calls(server: StdioServer) -> None:
    numbers = range(UNREAD)
    written = threading.Event()

    def write() -> None:
        server.write(b"".join(definitions.call(number) for number in numbers))
        written.set()

    threading.Thread(target=write, daemon=True).start()
    written.wait(_PATIENCE_S)  # a server that takes no more than it can answer lets the writer wait
    definitions.check_calls(numbers, [server.read_line() for _ in numbers])


_PATIENCE_S: Final = 20.0


def _growth(tools: Path) -> Row:
    """How much the resident memory grows over very many calls, once the first of them are done."""
    with peers.start(peers.OURS, tools) as server:
        sizes = []
        for start in range(0, _SETTLED_AFTER + MANY, _BURST):
            if start == _SETTLED_AFTER:
                sizes.append(server.memory_mib())
            numbers = range(start, start + _BURST)
            batch = server.at_once([definitions.call(number) for number in numbers])
            definitions.check_calls(numbers, batch.answers)
        sizes.append(server.memory_mib())
    return Row(
        group=GROUP,
        what=f"growth over {MANY:,} calls, after the first {_SETTLED_AFTER:,}",
        ours=f"{peers.OURS}: {sizes[0]:.1f} to {sizes[1]:.1f} MiB",
        theirs="",
        value=Spread.of([sizes[1] - sizes[0]]),
        bar=2.0,
        unit=" MiB",
    )


def _compared(what: str, subject: str, peaks: dict[str, list[float]], *, bar: float | None = None) -> Row:
    ours, theirs = peaks[subject], peaks[peers.SDK]
    return Row(
        group=GROUP,
        what=what,
        ours=f"{subject}: {Spread.of(ours).median:.0f} MiB",
        theirs=f"{peers.SDK}: {Spread.of(theirs).median:.0f} MiB",
        value=ratios(ours, theirs),
        bar=bar,
    )
