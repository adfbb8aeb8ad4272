"""From a large API description to tool definitions, beside FastMCP's ``from_openapi``: time, and peak memory.

Each measurement is a new process. Its clock runs from before the file is read until the client's view of all tools
is there; its memory is the process's peak. FastMCP is given the parsed document, as its users do, with
PyYAML's C parser where that is YAML. The descriptions lie outside of this repository; without them there are no rows.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import definitions, environments, peers
from benchmarks.paired import Spread, alternate, ratios
from benchmarks.rows import Row

GROUP: Final = "an API description to tool definitions"
CORPUS: Final = environments.ROOT.parent / "shared" / "corpus" / "openapi"
DOCUMENTS: Final[Mapping[str, int]] = {"github.json": 1223, "stripe-2022.yaml": 402}
"""Each description, and how many operations it has."""
_BAR: Final = 0.5
_PATIENCE_S: Final = 300


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: rounds for each description, fewer, or none, for one that takes FastMCP half a minute."""

    rounds: int
    slow_rounds: int


FULL: Final = Size(rounds=7, slow_rounds=3)
QUICK: Final = Size(rounds=3, slow_rounds=0)
_SLOW: Final = frozenset({"stripe-2022.yaml"})


@dataclass(frozen=True, slots=True)
class Load:
    """What one load took.

    Attributes:
        seconds: By the clock.
        cpu_s: Of the processor.
        mebibytes: The process's memory at its peak.
    """

    seconds: float
    cpu_s: float
    mebibytes: float


def rows(size: Size, _directory: Path) -> list[Row]:
    """The rows about API descriptions."""
    found: list[Row] = []
    for name, operations in DOCUMENTS.items():
        rounds = size.slow_rounds if name in _SLOW else size.rounds
        if rounds and (CORPUS / name).is_file():
            found += _compared(name, operations, rounds)
    return found


def _compared(name: str, operations: int, rounds: int) -> list[Row]:
    subjects = {peers.OURS: _load("ours", name, operations), peers.FASTMCP: _load("fastmcp", name, operations)}
    loads = alternate(rounds, subjects)
    ours, theirs = loads[peers.OURS], loads[peers.FASTMCP]
    seconds = Row(
        group=GROUP,
        what=f"time for {name}, {operations:,} operations",
        ours=f"{peers.OURS}: {Spread.of([load.seconds for load in ours]).median:.2f} s",
        theirs=f"{peers.FASTMCP}: {Spread.of([load.seconds for load in theirs]).median:.2f} s",
        value=ratios([load.seconds for load in ours], [load.seconds for load in theirs]),
        cpu=ratios([load.cpu_s for load in ours], [load.cpu_s for load in theirs]),
        bar=_BAR,
    )
    memory = Row(
        group=GROUP,
        what=f"peak memory for {name}",
        ours=f"{peers.OURS}: {Spread.of([load.mebibytes for load in ours]).median:.0f} MiB",
        theirs=f"{peers.FASTMCP}: {Spread.of([load.mebibytes for load in theirs]).median:.0f} MiB",
        value=ratios([load.mebibytes for load in ours], [load.mebibytes for load in theirs]),
        bar=_BAR,
    )
    return [seconds, memory]


def _load(environment: str, name: str, operations: int) -> Callable[[int], Load]:
    script = environments.SERVERS / f"openapi_{environment}.py"

    def measure(_number: int) -> Load:
        command = [environments.python(environment), str(script), str(CORPUS / name)]
        told = json.loads(subprocess.check_output(command, timeout=_PATIENCE_S, stderr=subprocess.DEVNULL))
        if told["tools"] != operations:
            raise definitions.WrongAnswerError(f"{environment} made {told['tools']} tools of {operations} operations")
        return Load(told["seconds"], told["cpu_s"], told["mebibytes"])

    return measure
