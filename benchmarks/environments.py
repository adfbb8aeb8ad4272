"""The peers' own environments: each with its pinned packages, from the registries, made once and kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
SERVERS: Final = Path(__file__).with_name("servers")
KEPT: Final = ROOT / ".bench"

PACKAGES: Final = {
    "ours": ["-e", f"{ROOT}[openapi,http]"],
    "uvloop": ["-e", f"{ROOT}[openapi,http,fast]"],
    "sdk": ["mcp==2.3.0"],
    "fastmcp": ["fastmcp==4.2.3"],
}
"""What is installed into each Python environment. The TypeScript peer has its package-lock.json."""

OURS: Final = ("ours", "uvloop")
"""The environments that hold this project."""

_INSTALL_S: Final = 600


def python(name: str) -> str:
    """The interpreter of a Python environment."""
    return str(KEPT / name / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def program(name: str) -> str:
    """A program that our own environment has installed."""
    return str(Path(python("ours")).with_name(name))


def typescript(script: str) -> list[str]:
    """The command that runs a script of the TypeScript peer."""
    return ["node", str(KEPT / "typescript" / script)]


def prepare() -> None:
    """Make the environments that are not there yet, or no longer as they are asked for.

    Raises:
        subprocess.CalledProcessError: A package could not be installed.
    """
    for name, packages in PACKAGES.items():
        contents = [*packages, *([_dependencies()] if name in OURS else [])]
        if _is_stale(name, contents):
            venv.create(KEPT / name, clear=True, with_pip=True)
            _run([python(name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
            _stamp(name, contents)
    # As an installation does; a source tree may be one that bytecode must not be written to by itself.
    _run([python("ours"), "-m", "compileall", "-q", str(ROOT / "discern_server")])
    lock = (SERVERS / "typescript" / "package-lock.json").read_text(encoding="utf-8")
    directory = KEPT / "typescript"
    if _is_stale("typescript", [lock]):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(SERVERS / "typescript" / file, directory)
        _run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", str(directory)])
        _stamp("typescript", [lock])
    for script in (SERVERS / "typescript").glob("*.mjs"):
        shutil.copy(script, directory)  # node looks for packages beside the script


def versions() -> dict[str, dict[str, str]]:
    """What was measured: by environment, the packages that matter and their versions."""
    found = {name: _python_versions(name) for name in PACKAGES}
    packages = json.loads((KEPT / "typescript" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    server = "node_modules/@modelcontextprotocol/server"
    found["typescript"] = {
        "@modelcontextprotocol/server": packages[server]["version"],
        "node": subprocess.check_output(["node", "--version"], encoding="utf-8").strip().removeprefix("v"),
    }
    return found


_SHOWN: Final = (
    "discern-server",
    "fastmcp",
    "mcp",
    "pydantic",
    "anyio",
    "uvicorn",
    "httptools",
    "uvloop",
    "jsonschema-rs",
)
_ASK: Final = (
    "import importlib.metadata as m, json, platform, sys; "
    "names = {d.name.lower().replace('_', '-'): d.version for d in m.distributions()}; "
    "print(json.dumps({'python': platform.python_version()} | {n: names[n] for n in sys.argv[1:] if n in names}))"
)


def _python_versions(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(subprocess.check_output([python(name), "-c", _ASK, *_SHOWN]))
    return found


def _dependencies() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return json.dumps([project["dependencies"], project["optional-dependencies"], project["scripts"]])


def _is_stale(name: str, contents: list[str]) -> bool:
    stamp = KEPT / f"{name}.json"
    return not stamp.is_file() or json.loads(stamp.read_text(encoding="utf-8")) != contents


def _stamp(name: str, contents: list[str]) -> None:
    (KEPT / f"{name}.json").write_text(json.dumps(contents), encoding="utf-8")


def _run(command: list[str]) -> None:
    """Run a command that says nothing unless it fails."""
    done = subprocess.run(command, check=False, timeout=_INSTALL_S, capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
