"""The launcher's way of importing the SDK changes when a server answers, and nothing of what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from discern_server.wire.messages import modern_request
from tests.e2e.cli import served

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


HANDSHAKE_LINES = "".join(
    json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    for message in (
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "e2e", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "discern_map", "arguments": {"name": 5}}},
        {"id": 4, "method": "prompts/list"},
        {"id": 5, "method": "ping"},
    )
)


def answers(root: Path, *arguments: str, lines: str = LINES, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "discern_server", "mcp", "--root", str(root), *arguments],
        input=lines,
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_the_wire_carries_the_same_bytes_with_and_without_it(tmp_path):
    quick = answers(tmp_path)
    assert len(quick) == len(REQUESTS)
    assert quick == answers(tmp_path, DISCERN_PLAIN_IMPORTS="1")


def test_a_client_of_the_handshake_revisions_gets_the_same_bytes_too(tmp_path):
    quick = answers(tmp_path, "--legacy", "serve", lines=HANDSHAKE_LINES)
    assert len(quick) == 5
    assert quick == answers(tmp_path, "--legacy", "serve", lines=HANDSHAKE_LINES, DISCERN_PLAIN_IMPORTS="1")


NOT_NEEDED = (
    "discern_server.prompts",
    "discern_server.resources",
    "discern_server.rules.references",
    "discern_server.schema.convert",
    "discern_server.schema.diagnosis",
    "discern_server.schema.documents",
    "discern_server.schema.explain",
    "discern_server.schema.fast_failures",
    "discern_server.schema.narrowing",
    "discern_server.schema.normalize",
    "discern_server.sources.folder_definitions",
    "discern_server.sources.openapi",
    "discern_server.sources.python",
    "discern_server.upstream",
    "discern_server.verbs.drift",
    "discern_server.verbs.generate",
    "discern_server.verbs.survey",
    "mcp.client",
    "mcp.server.auth",
    "mcp.server.mcpserver",
    "mcp.server.streamable_http",
    "mcp_types._v2025_11_25",
    "starlette",
    "uvicorn",
)
"""What a good call of a plain tool has no use for: each costs milliseconds before the first answer."""


def imported_by_a_call(root: Path, schema: dict[str, Any]) -> list[str]:
    """The modules of a process that served one call of a tool with the argument ``a`` and this ``inputSchema``."""
    (root / "discern.toml").write_text(
        '[server]\nname = "s"\nversion = "1"\n\n'
        '[[sources]]\nkind = "schemas"\ndirectory = "definitions"\nhandlers = "handlers"\n',
        encoding="utf-8",
    )
    (root / "handlers.py").write_text("import sys\ndef loaded(args, ctx):\n    return sorted(sys.modules)\n")
    definition = {"name": "loaded", "description": "", "inputSchema": schema}
    for folder in ("definitions", "schemas"):
        (root / folder).mkdir()
        text = json.dumps(definition, indent=2) + "\n"
        (root / folder / "loaded.json").write_text(text, encoding="utf-8")
    with served("serve", cwd=root) as server:
        asked = modern_request("tools/call", {"name": "loaded", "arguments": {"a": 1}})
        loaded: list[str] = server.ask(asked)["result"]["structuredContent"]
    return loaded


def test_a_good_call_is_answered_with_nothing_imported_that_it_does_not_need(tmp_path: Path):
    loaded = imported_by_a_call(tmp_path, {"type": "object", "required": ["a"]})
    assert "discern_server.schema.validate" in loaded
    assert [name for name in loaded if name.startswith(NOT_NEEDED)] == []


def test_a_reference_in_a_schema_asks_for_no_published_metaschema(tmp_path: Path):
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}}
    loaded = imported_by_a_call(tmp_path, schema)
    assert "discern_server.schema.normalize" in loaded
    assert [name for name in loaded if name in ("jsonschema_specifications", "referencing", "attr")] == []
