"""``tools/list`` over stdio: the first page, and a walk of all pages, beside the SDK's one answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import definitions, peers
from benchmarks.calls import compared
from benchmarks.client import Batch, StdioServer
from benchmarks.paired import alternate
from benchmarks.rows import Row

GROUP: Final = "tools/list over stdio"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: rounds for each number of tools."""

    rounds: int


FULL: Final = Size(rounds=15)
QUICK: Final = Size(rounds=5)

FIRST_PAGE_BARS: Final = {10: None, 1_000: 0.03, 10_000: 0.005}
WALK_BAR: Final = 0.25


def rows(size: Size, directory: Path) -> list[Row]:
    """The rows about lists."""
    found = []
    for count, bar in FIRST_PAGE_BARS.items():
        measured = _measure(size, definitions.write_tools(directory, count), count)
        page, walk, theirs = measured["page"], measured["walk"], measured["SDK"]
        what = f"{count:,} tools, the first page beside the SDK's one answer"
        found.append(compared(GROUP, what, peers.OURS, peers.SDK, page, theirs, bar=bar))
        if count > len(definitions.listed_names(page[0].answers[0])[0]):
            what = f"{count:,} tools, a walk of all pages beside the SDK's one answer"
            whole = [Batch(batch.wall_s, batch.cpu_s, [b""]) for batch in walk]
            found.append(compared(GROUP, what, peers.OURS, peers.SDK, whole, theirs, bar=WALK_BAR))
    return found


def _measure(size: Size, tools: Path, count: int) -> dict[str, list[Batch]]:
    with ExitStack() as stack:
        ours = stack.enter_context(peers.start(peers.OURS, tools))
        sdk = stack.enter_context(peers.start(peers.SDK, tools))
        once = max(1, 1_000 // count)  # answers that are quick are timed together
        subjects = {
            "page": _first_page(ours, count, repeat=max(once, 20)),
            "walk": _walk(ours, count),
            "SDK": _first_page(sdk, count, repeat=once),
        }
        for measure in subjects.values():
            measure(0)
        return alternate(size.rounds, subjects)


def _first_page(server: StdioServer, count: int, *, repeat: int) -> Callable[[int], Batch]:

    def measure(number: int) -> Batch:
        batch = server.one_by_one([definitions.request(number, "tools/list")] * repeat)
        for answer in batch.answers:
            names, cursor = definitions.listed_names(answer)
            definitions.check_names(names, len(names) if cursor else count)
        return batch

    return measure


def _walk(server: StdioServer, count: int) -> Callable[[int], Batch]:
    def measure(number: int) -> Batch:
        walked: list[Batch] = []
        names: list[str] = []
        cursor: str | None = None
        while cursor or not walked:
            params = {"cursor": cursor} if cursor else {}
            batch = server.one_by_one([definitions.request(number, "tools/list", **params)])
            page, cursor = definitions.listed_names(batch.answers[0])
            walked.append(batch)
            names += page
        definitions.check_names(names, count)
        answers = [batch.answers[0] for batch in walked]
        return Batch(sum(batch.wall_s for batch in walked), sum(batch.cpu_s for batch in walked), answers)

    return measure
