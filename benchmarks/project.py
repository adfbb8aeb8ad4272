"""A project with a ``discern.toml`` that has the tools of the comparison."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks import environments

_CONFIGURATION: Final = """\
[server]
name = "bench"
version = "1"

[[sources]]
kind = "schemas"
directory = "definitions"
handlers = "handlers"
"""

_HANDLERS: Final = """\
async def _give_back(args, ctx):
    return {"a": args["a"], "b": args["b"]}


"""


@cache
def made_of(tools: Path) -> Path:
    """A project beside the file `tools`, with its tools accepted."""
    root = tools.with_suffix("")
    (root / "definitions").mkdir(parents=True)
    definitions = json.loads(tools.read_text(encoding="utf-8"))
    for definition in definitions:
        file = root / "definitions" / f"{definition['name']}.json"
        file.write_text(json.dumps(definition, indent=2) + "\n", encoding="utf-8")
    handlers = _HANDLERS + "".join(f"{definition['name']} = _give_back\n" for definition in definitions)
    (root / "handlers.py").write_text(handlers, encoding="utf-8")
    (root / "discern.toml").write_text(_CONFIGURATION, encoding="utf-8")
    subprocess.run(
        [environments.program("discern"), "accept", "--root", str(root)], check=True, stdout=subprocess.DEVNULL
    )
    return root
