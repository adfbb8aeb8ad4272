"""``tools/call`` over stdio: time per call, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import definitions, peers
from benchmarks.client import Batch, StdioServer
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "tools/call over stdio"
WARM_UP_CALLS: Final = 500
COLD_CALLS: Final = 500


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    batch: int
    cold_rounds: int


FULL: Final = Size(rounds=41, batch=400, cold_rounds=5)
QUICK: Final = Size(rounds=9, batch=200, cold_rounds=2)


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about single calls."""
    ten = definitions.write_tools(directory, 10)
    many = definitions.write_tools(directory, 10_000)
    measured = _measure(
        size,
        {
            peers.OURS: (peers.OURS, ten),
            peers.OURS_SHARED: (peers.OURS_SHARED, ten),
            "10,000 tools": (peers.OURS, many),
            peers.OURS_UVLOOP: (peers.OURS_UVLOOP, ten),
            peers.SDK: (peers.SDK, ten),
            peers.MCPSERVER: (peers.MCPSERVER, ten),
            peers.FASTMCP: (peers.FASTMCP, ten),
            peers.TYPESCRIPT: (peers.TYPESCRIPT, ten),
        },
    )
    compare = _Compare(measured)
    return [
        compare("ten tools", peers.OURS, peers.SDK, bar=0.40),
        compare("ten tools", peers.OURS, peers.FASTMCP, bar=0.30),
        compare("ten tools", peers.OURS, peers.MCPSERVER),
        compare("ten tools, JIT warm", peers.OURS, peers.TYPESCRIPT),
        _cold(size, ten),
        compare("a fresh server for each request beside a shared one", peers.OURS, peers.OURS_SHARED, bar=1.10),
        compare("10,000 tools beside ten", "10,000 tools", peers.OURS, bar=1.03),
        compare("on uvloop", peers.OURS_UVLOOP, peers.SDK),
    ]


def _measure(size: Size, servers: dict[str, tuple[str, Path]]) -> dict[str, list[Batch]]:
    with ExitStack() as stack:
        subjects = {}
        for name, (peer, tools) in servers.items():
            server = stack.enter_context(peers.start(peer, tools))
            call_batch(server, range(WARM_UP_CALLS))
            subjects[name] = _batches(server, size.batch)
        return alternate(size.rounds, subjects)


def _batches(server: StdioServer, count: int) -> Callable[[int], Batch]:
    return lambda number: call_batch(server, range(number * count, (number + 1) * count))


def call_batch(server: StdioServer, numbers: Sequence[int]) -> Batch:
    """Make the calls with these numbers one by one, and check the answers afterwards."""
    batch = server.one_by_one([definitions.call(number) for number in numbers])
    definitions.check_calls(numbers, batch.answers)
    return batch


class _Compare:
    def __init__(self, measured: dict[str, list[Batch]]) -> None:
        self._measured = measured

    def __call__(self, what: str, ours: str, theirs: str, *, bar: float | None = None) -> Row:
        return compared(GROUP, what, ours, theirs, self._measured[ours], self._measured[theirs], bar=bar)


def compared(
    group: str,
    what: str,
    ours: str,
    theirs: str,
    our_batches: Sequence[Batch],
    their_batches: Sequence[Batch],
    *,
    bar: float | None = None,
) -> Row:
    """The row that holds one server's batches against another's: time for each answer."""
    both = (our_batches, their_batches)
    return Row(
        group=group,
        what=what,
        ours=f"{ours}: {_per_answer(our_batches)}",
        theirs=f"{theirs}: {_per_answer(their_batches)}",
        value=ratios(*([batch.wall_s / len(batch.answers) for batch in batches] for batches in both)),
        cpu=ratios(*([batch.cpu_s / len(batch.answers) for batch in batches] for batches in both)),
        bar=bar,
    )


def _per_answer(batches: Sequence[Batch]) -> str:
    spread = Spread.of([batch.wall_s / len(batch.answers) * 1e6 for batch in batches])
    return f"{spread.median:,.0f} µs ({1e6 / spread.median:,.0f}/s)"


def _cold(size: Size, tools: Path) -> Row:
    """The first calls of a process: where a JIT has compiled nothing yet."""

    def first_calls(name: str) -> Callable[[int], Batch]:
        def measure(_number: int) -> Batch:
            with peers.start(name, tools) as server:
                server.ask(definitions.request(0, "server/discover"))
                return call_batch(server, range(COLD_CALLS))

        return measure

    names = (peers.OURS, peers.TYPESCRIPT)
    measured = alternate(size.cold_rounds, {name: first_calls(name) for name in names})
    return compared(GROUP, f"ten tools, the first {COLD_CALLS} calls of a process", *names, *measured.values())
