"""The wheel and the sdist: what is in them, what they ask for, and that they work where nothing else is.

Run by ``nox -s package``, which builds them and names their folder in ``DISCERN_DIST``.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest

from discern_server.verbs.help import TOPICS

ROOT = Path(__file__).parents[2]
TRACKED = {"discern_server": "discern_server", "schemas": "discern_server/schemas"}
DIST = os.environ.get("DISCERN_DIST")

pytestmark = pytest.mark.skipif(DIST is None, reason="DISCERN_DIST names no folder with a wheel and an sdist")

REQUIREMENTS = {
    # For every server.
    "mcp": "", "anyio": "", "jsonschema": "", "jsonschema-rs": "", "regex": "",
    # For `discern era URL` and calls to APIs; the first two are the SDK's already.
    "httpx2": "", "httpcore2": "", "tenacity": "",
    "uvicorn": "http", "httptools": "http", "uvloop": "fast", "pyyaml": "openapi",
}  # fmt: skip


def only(pattern: str) -> Path:
    (found,) = Path(DIST or "").glob(pattern)
    return found


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    return zipfile.ZipFile(only("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def tracked(folder: str) -> set[str]:
    """The files of `folder` that git keeps, so that a stray file in a checkout cannot count as one of ours."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout to compare with")
    command = ["git", "-c", "safe.directory=*", "ls-files", folder]  # the checkout may be another user's
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(listed.split())


def test_the_wheel_holds_the_package_and_the_definitions_and_nothing_else(wheel: zipfile.ZipFile):
    expected = {
        f"{target}/{PurePosixPath(file).relative_to(folder)}"
        for folder, target in TRACKED.items()
        for file in tracked(folder)
    }
    installed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert installed == expected
    assert {PurePosixPath(name).suffix for name in installed} == {".py", ".json", ".md", ".typed"}
    assert {PurePosixPath(name).name for name in wheel.namelist() if ".dist-info/" in name} == {
        "METADATA", "WHEEL", "RECORD", "LICENSE", "entry_points.txt"
    }  # fmt: skip


def test_the_wheel_has_what_is_read_at_run_time(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    assert {f"discern_server/guide/{topic}.md" for topic in TOPICS} <= names
    assert {f"discern_server/schemas/{file.name}" for file in (ROOT / "schemas").glob("*.json")} <= names
    assert "discern_server/py.typed" in names


def test_the_sdist_has_what_builds_and_tests_the_wheel_and_nothing_of_a_workplace():
    with tarfile.open(only("*.tar.gz")) as archive:
        names = {PurePosixPath(name).relative_to(PurePosixPath(name).parts[0]) for name in archive.getnames()}
    tops = {name.parts[0] for name in names if name.parts}
    assert tops == {
        "discern_server", "schemas", "discern.toml", "discern.lock", "tests", "docs", "examples", "tools", "benchmarks",
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "noxfile.py", "action.yml", ".ci",
        "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip
    assert not {name for name in names if {"__pycache__", "node_modules", ".nox", ".venv"} & set(name.parts)}


def test_what_it_depends_on_is_said_and_no_more(metadata: Message):
    """A new dependency gets a line in pyproject.toml that says what for, and one here."""
    asked = {}
    for requirement in metadata.get_all("Requires-Dist") or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == '([\w-]+)'", requirement)
        if extra is None or extra[1] != "test":
            asked[name[0]] = extra[1] if extra else ""
    assert asked == REQUIREMENTS
    assert metadata.get_all("Provides-Extra") == ["fast", "http", "openapi", "test"]
    assert metadata["Requires-Python"] == ">=3.11"


# --- installed ----------------------------------------------------------------------------------------


def interpreters() -> dict[str, Path]:
    """The oldest Python we support and the newest that this machine has, by version."""
    found = [(f"3.{minor}", path) for minor in range(11, 30) if (path := interpreter(minor))]
    return dict([found[0], found[-1]])


def interpreter(minor: int) -> Path | None:
    """A CPython 3.`minor`: on the path, or among pyenv's, whose own names on the path may lead nowhere."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    on_path = shutil.which(f"python3.{minor}")
    candidates = [Path(on_path)] if on_path else []
    for candidate in (*candidates, *sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python3"))):
        asked = subprocess.run([candidate, "-c", "import sys, venv; print(sys.version_info[1])"], capture_output=True)
        if asked.stdout.strip() == str(minor).encode():
            return candidate
    return None


PYTHONS = interpreters() if DIST else {"any": Path(sys.executable)}


@pytest.fixture(scope="module", params=PYTHONS)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment with nothing but the wheel and what it asks for."""
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([PYTHONS[request.param], "-m", "venv", environment], check=True)
    commands = environment / "bin"
    subprocess.run([commands / "pip", "install", "--quiet", only("*.whl")], check=True)
    return commands


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_installed_alone_it_does_its_main_job_from_an_empty_folder(installed: Path, tmp_path: Path):
    discern = installed / "discern"
    run(installed / "python", "-m", "pip", "check", cwd=tmp_path)
    doctor = json.loads(run(discern, "doctor", "--json", cwd=tmp_path))
    assert doctor["data"]["definitions"] == len(list((ROOT / "schemas").glob("*.json")))
    run(discern, "init", "--name", "first", cwd=tmp_path)
    run(discern, "accept", cwd=tmp_path)
    era = json.loads(run(discern, "era", "--json", "--require", "2026-07-28", "--forbid-legacy", cwd=tmp_path))
    assert era["ok"] is True
    assert json.loads(run(discern, "help", "start", "--json", cwd=tmp_path))["ok"] is True


def test_the_unit_tests_in_the_sdist_pass_on_the_newest_python(tmp_path: Path):
    """As a packager runs them: from the sdist alone, with what its extra ``test`` asks for."""
    newest = list(PYTHONS)[-1]
    with tarfile.open(only("*.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    subprocess.run([PYTHONS[newest], "-m", "venv", tmp_path / "environment"], check=True)
    python = tmp_path / "environment" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-e", f"{source}[test]"], check=True)
    tested = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit"]
    done = subprocess.run(tested, cwd=source, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-5000:]


def test_it_is_typed_for_those_who_use_it(installed: Path, tmp_path: Path):
    (tmp_path / "app.py").write_text(
        "from discern_server import Catalog, ServerFactory, Surface\n"
        "reveal_type(ServerFactory(Surface('shop', '1.0', Catalog.of([]))))\n",
        encoding="utf-8",
    )
    said = run(sys.executable, "-m", "mypy", "--python-executable", installed / "python", "app.py", cwd=tmp_path)
    assert 'Revealed type is "discern_server.protocol.factory.ServerFactory"' in said
