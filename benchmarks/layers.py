"""Where the time of one call goes, layer by layer.

``python -m benchmarks.layers`` measures the stdio loop cut off at each layer, with a constant answer above it, and
prints what each layer adds. The figures in ``docs/benchmarks-profile.md`` come from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks import calls, definitions, environments
from benchmarks.client import Batch, StdioServer
from benchmarks.environments import SERVERS
from benchmarks.paired import alternate

LAYERS: Final = {
    "a program that copies its input": "copy",
    "pipes: lines on the event loop": "pipes",
    "messages: the SDK's models parse and serialize": "messages",
    "dispatcher: a task for each request, counted by the window": "dispatcher",
    "the request: era, server, SDK runner, arguments, handler, reply": "whole",
}
_COPY: Final = "import os\nwhile data := os.read(0, 1 << 16): os.write(1, data)"
_ROUNDS: Final = 15
_BATCH: Final = 400


def main() -> None:
    """Measure and print: CPU and wall time for each call, the least of all rounds, and what each layer adds."""
    environments.prepare()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        tools = definitions.write_tools(Path(directory), 10)
        subjects = {}
        for name, layer in LAYERS.items():
            server = stack.enter_context(StdioServer(_command(layer, tools)))
            subjects[name] = _measure(server, checked=layer != "copy")
            subjects[name](0)
        measured = alternate(_ROUNDS, subjects)
    below = (0.0, 0.0)
    print(f"{'':64} {'CPU µs':>8} {'adds':>6} {'wall µs':>8} {'adds':>6}")
    for name, batches in measured.items():
        cpu, wall = (min(each) / _BATCH * 1e6 for each in ([b.cpu_s for b in batches], [b.wall_s for b in batches]))
        print(f"{name:64} {cpu:8.0f} {cpu - below[0]:6.0f} {wall:8.0f} {wall - below[1]:6.0f}")
        below = (cpu, wall)


def _command(layer: str, tools: Path) -> list[str]:
    python = environments.python("ours")
    return [python, "-c", _COPY] if layer == "copy" else [python, str(SERVERS / "layers.py"), str(tools), layer]


def _measure(server: StdioServer, *, checked: bool) -> Callable[[int], Batch]:
    def measure(number: int) -> Batch:
        numbers = range(number * _BATCH, (number + 1) * _BATCH)
        if checked:
            return calls.call_batch(server, numbers)
        return server.one_by_one([definitions.call(number) for number in numbers])

    return measure


if __name__ == "__main__":
    main()
