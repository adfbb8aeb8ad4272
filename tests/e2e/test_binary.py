"""The single executable, alone: in a root with no Python, no library and no network, as an unprivileged user.

``nox -s binary`` builds ``dist/discern`` and runs this.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import pytest

from discern_server.wire.messages import modern_request
from discern_server.wire.stdio import StdioServer
from tests.e2e import empty_root
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import discern as installed
from tests.e2e.empty_root import PROJECT, EmptyRoot
from tests.e2e.golden import TRANSCRIPTS, copy_project, replay, verb_of

BINARY = Path(__file__).parents[2] / "dist" / "discern"

pytestmark = [
    pytest.mark.skipif(not BINARY.exists(), reason="there is no dist/discern; nox -s binary builds it"),
    pytest.mark.skipif(empty_root.why_impossible() is not None, reason=str(empty_root.why_impossible())),
]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[EmptyRoot]:
    root = EmptyRoot.make(tmp_path / "root", BINARY)
    root.give_project_away()
    yield root
    (root.path / "discern").unlink()


@pytest.fixture
def shop(root: EmptyRoot) -> EmptyRoot:
    copy_project(root.project)
    root.give_project_away()
    return root


def run(root: EmptyRoot, *words: str) -> subprocess.CompletedProcess[str]:
    command = root.command("/discern", "--root", PROJECT, *words)
    return subprocess.run(command, env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def envelope(root: EmptyRoot, *words: str) -> dict[str, Any]:
    done = run(root, "--json", *words)
    assert done.stderr == "" or "Traceback" not in done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.replace(PROJECT, "$ROOT"))
    assert done.returncode == (0 if answer["ok"] else 1)
    return answer


VERBS = [
    ["status"], ["init", "--name", "first"], ["status"], ["check"], ["accept", "--dry-run"], ["accept"], ["check"],
    ["map"], ["map", "add"], ["map", "ad"], ["help"], ["help", "start"], ["call", "add", "--args", '{"a": 1, "b": 2}'],
]  # fmt: skip


def test_every_verb_says_what_the_installed_package_says(root: EmptyRoot, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for words in VERBS:
        theirs = installed(*words, "--json", "--root", elsewhere, cwd=elsewhere)
        assert envelope(root, *words) == json.loads(theirs.out.replace(str(elsewhere), "$ROOT")), words
    shown = {path.name for path in root.project.iterdir()}
    assert shown == {"discern.toml", "discern.lock", "tools.py", "schemas", "__pycache__"}  # the last by `call`


def test_it_is_of_the_modern_era_as_the_projects_server_and_as_its_own(shop: EmptyRoot):
    for target in ([], ["--", "/discern", "--root", PROJECT, "mcp"]):
        answer = envelope(shop, "era", "--require", "2026-07-28", "--forbid-legacy", "--strict", *target)
        assert (answer["ok"], answer["data"]["verdict"]) == (True, "modern-only"), answer


def test_the_doctor_finds_nothing_to_mend(root: EmptyRoot):
    answer = envelope(root, "doctor")
    assert (answer["ok"], answer.get("diagnostics")) == (True, None)
    assert answer["data"]["validation_engine"] == "jsonschema-rs"


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_recorded_client_gets_the_same_bytes_as_from_the_installed_package(shop: EmptyRoot, transcript: Path):
    before = shop.files()
    command = shop.command("/discern", "--root", PROJECT, verb_of(transcript))
    answered = replay(transcript, command, root=PROJECT, cwd=None, env={})
    assert answered == transcript.read_text(encoding="utf-8")
    assert written(shop, before) == set()


def written(root: EmptyRoot, before: dict[str, bytes]) -> set[str]:
    """What was written since, Python's cache of a project's own modules left aside."""
    after = root.files()
    return {name for name in after if before.get(name) != after[name] and "__pycache__" not in name}


ENDINGS = [
    ("the input ends", None, 0),
    ("SIGTERM", signal.SIGTERM, 143),
    ("SIGINT", signal.SIGINT, 130),
    ("SIGKILL", signal.SIGKILL, -9),
]


@pytest.mark.parametrize("verb", ["mcp", "serve"])
@pytest.mark.parametrize(("number", "code"), [ending[1:] for ending in ENDINGS], ids=[ending[0] for ending in ENDINGS])
def test_however_it_ends_it_says_so_and_leaves_no_file(shop: EmptyRoot, verb: str, number: int | None, code: int):
    """As the installed package does, and SIGKILL included: nothing was unpacked."""
    before = shop.files()
    with StdioServer(shop.command("/discern", "--root", PROJECT, verb), env={}, limits=PATIENT) as server:
        assert server.ask(modern_request("server/discover"))["result"]["supportedVersions"] == ["2026-07-28"]
        if number is None:
            server.close_stdin()
        else:
            server.signal(number)
        assert server.wait() == code
    assert written(shop, before) == set()


def test_a_signal_while_it_starts_leaves_no_file(shop: EmptyRoot):
    before = shop.files()
    started = [subprocess.Popen(shop.command("/discern", "mcp"), env={}, stdin=subprocess.PIPE) for _ in range(4)]
    for process in started:
        process.terminate()
        process.stdin.close()
        assert process.wait(60) in (143, -signal.SIGTERM)
    assert written(shop, before) == set()


def test_one_process_serves_and_it_is_the_one_that_was_started(shop: EmptyRoot):
    with StdioServer(shop.command("/discern", "--root", PROJECT, "serve"), env={}, limits=PATIENT) as server:
        server.ask(modern_request("server/discover"))
        process = Path(f"/proc/{server._process.pid}")
        assert (process / "comm").read_text(encoding="ascii") == "discern\n"
        assert list((process / "task").glob("*/children"))
        assert [text for file in (process / "task").glob("*/children") if (text := file.read_text("ascii"))] == []


def test_it_takes_no_module_of_ours_or_of_pythons_from_the_folder_it_is_started_in(shop: EmptyRoot):
    for name in ("json", "discern_server", "encodings", "sitecustomize"):
        (shop.project / f"{name}.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    command = [*shop.command("/discern", "--root", PROJECT, "doctor")]
    command[command.index("sh") + 2] = f'cd "$0{PROJECT}" && {command[command.index("sh") + 2]}'
    done = subprocess.run(command, env={"PYTHONPATH": PROJECT}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_projects_modules_come_before_those_in_it_and_add_to_its_namespace_packages(root: EmptyRoot):
    """As with an installed package: a folder of the project's is in front of the import path."""
    run(root, "init", "--name", "first")
    (root.project / "opentelemetry").mkdir()
    (root.project / "opentelemetry" / "ours.py").write_text("NAME = 'ours'\n", encoding="utf-8")
    (root.project / "colorsys.py").write_text("NAME = 'the project'\n", encoding="utf-8")
    (root.project / "tools.py").write_text(
        "import colorsys\nimport importlib.metadata\n"
        "from opentelemetry import ours, trace\nfrom discern_server import tool\n"
        "@tool\ndef look() -> list[str]:\n    'Look.'\n"
        "    plugins = importlib.metadata.entry_points(group='pytest11', name='discern')\n"
        "    return [colorsys.NAME, ours.NAME, trace.__name__, importlib.metadata.version('mcp'), *plugins.names]\n",
        encoding="utf-8",
    )
    root.give_project_away()
    run(root, "accept")
    answer = envelope(root, "call", "look")
    pinned = installed_version("mcp")
    assert answer["data"]["structuredContent"] == ["the project", "ours", "opentelemetry.trace", pinned, "discern"]


def test_it_serves_over_http_too(tmp_path: Path):
    shop = copy_project(tmp_path)
    with StdioServer([str(BINARY), "serve", "--http", "127.0.0.1:0"], cwd=shop, limits=PATIENT) as server:
        server.wait_for_stderr("Ctrl-C ends it")
        url = server.stderr.split("Serving MCP at ")[1].split(";")[0]
        done = subprocess.run([BINARY, "era", "--require", "2026-07-28", url], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        server.signal(signal.SIGTERM)
        assert server.wait() == -signal.SIGTERM  # as uvicorn ends


def test_it_asks_nothing_of_the_machine_but_its_kernel():
    """No loader is named in it: it is a static program."""
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf")
    headers = subprocess.run(["readelf", "--program-headers", BINARY], capture_output=True, text=True).stdout
    assert "LOAD" in headers
    assert "INTERP" not in headers
    assert os.access(BINARY, os.X_OK)
