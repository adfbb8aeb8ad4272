"""The launcher's way of importing the SDK changes when a server answers, and nothing of what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "e2e", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "discern_doctor"}),
    ("tools/call", {"name": "discern_map", "arguments": {"name": 5}}),
    ("tools/call", {"name": "nothing"}),
    ("prompts/list", {}),
    ("initialize", {"protocolVersion": "2025-11-25"}),
]
LINES = "".join(
    json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": ENVELOPE}}) + "\n"
    for number, (method, params) in enumerate(REQUESTS)
)


def answers(root: Path, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "discern_server", "mcp", "--root", str(root)],
        input=LINES,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_the_wire_carries_the_same_bytes_with_and_without_it(tmp_path):
    quick = answers(tmp_path)
    assert len(quick) == len(REQUESTS)
    assert quick == answers(tmp_path, DISCERN_PLAIN_IMPORTS="1")
