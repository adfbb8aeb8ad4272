"""Prints what it took to make the tools of an API description."""

import json
import time
from collections.abc import Callable
from pathlib import Path


def tell(make: Callable[[], int]) -> None:
    """Call `make`, which returns the number of tools, and print as JSON what it took."""
    start, cpu = time.perf_counter(), time.process_time()
    tools = make()
    took = {"tools": tools, "seconds": time.perf_counter() - start, "cpu_s": time.process_time() - cpu}
    print(json.dumps({**took, "mebibytes": _peak_mib()}))


def _peak_mib() -> float:
    """The most that this program has held; ``ru_maxrss`` would begin with what its parent held."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return int(status["VmHWM"].split()[0]) / 1024
