"""Running the installed program in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discern_server.wire.limits import Limits
from discern_server.wire.stdio import StdioServer

DISCERN: Final = (sys.executable, "-P", "-m", "discern_server")
_TIMEOUT_S: Final = 180

SHOP: Final = '''
"""A shop."""
from __future__ import annotations

import datetime
from contextlib import asynccontextmanager

from discern_server import RequestContext, tool

print("the shop is imported")


@asynccontextmanager
async def stock():
    yield {"apples": 3}


@tool(title="Count", read_only=True, idempotent=True, open_world=False)
def count(what: str, ctx: RequestContext) -> int:
    """Count what is in stock.

    Args:
        what: The thing.
        ctx: Its state is the stock.
    """
    print("counting", what)
    return ctx.state[what]


@tool(title="Deliver", destructive=False)
async def deliver(on: datetime.date) -> str:
    """Deliver on a day."""
    return on.strftime("%d.%m.%Y")
'''

SHOP_PROJECT: Final = """
[server]
name = "shop"
version = "1.0"
instructions = "Count first."

[[sources]]
kind = "python"
module = "shop"
lifespan = "shop:stock"
"""


@dataclass(frozen=True)
class Answer:
    """What a process gave."""

    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """Standard output as one JSON object."""
        value: dict[str, Any] = json.loads(self.out)
        return value


def environment(**more: str) -> dict[str, str]:
    """This process's environment, without what would change the program's ways, or Python's of leaving files behind."""
    changing = ("DISCERN_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    return {**kept, **more}


def discern(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> Answer:
    """Run ``discern`` with `words` in the folder `cwd` until it ends."""
    done = subprocess.run(
        [*DISCERN, *map(str, words)],
        cwd=cwd,
        env=environment() if env is None else env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_TIMEOUT_S,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def served(*words: str | Path, cwd: Path, **settings: str) -> StdioServer:
    """``discern`` with `words`, which serve, started in `cwd` with `settings` in its environment."""
    limits = Limits(answer_s=_TIMEOUT_S, exit_s=_TIMEOUT_S)  # discern_era starts a server half a dozen times
    return StdioServer([*DISCERN, *map(str, words)], cwd=cwd, env=environment(**settings), limits=limits)


def make_shop(root: Path) -> Path:
    """A project whose definitions were not accepted yet; its module prints when it is imported and called."""
    (root / "shop.py").write_text(SHOP, encoding="utf-8")
    (root / "discern.toml").write_text(SHOP_PROJECT, encoding="utf-8")
    return root
