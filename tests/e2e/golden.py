"""Golden transcripts: what a client writes and what the server must answer, as files that a person can read.

A file holds client lines (``> ``), each followed by the server's answer (``< ``), and notes (``# ``). ``$ROOT`` stands
for the project's folder.

``python -m tests.e2e.golden`` writes the answers anew, as the installed package gives them; read the difference.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from discern_server.wire.stdio import StdioServer
from tests.e2e.bounded import PATIENT
from tests.e2e.cli import DISCERN, environment

GOLDEN = Path(__file__).parent.parent / "golden"
TRANSCRIPTS = sorted(GOLDEN.glob("*.txt"))
CLIENT, SERVER = "> ", "< "


def copy_project(target: Path) -> Path:
    """The project that the transcripts are about, copied to the folder `target`."""
    shutil.copytree(GOLDEN / "project", target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    return target


def verb_of(transcript: Path) -> str:
    """The server that a transcript is of: ``mcp`` or ``serve``."""
    return transcript.stem.partition("-")[0]


def replay(transcript: Path, command: Sequence[str], *, root: str, cwd: Path | None, env: dict[str, str]) -> str:
    """Send the client's lines one after the other to `command`; return the transcript with the answers it gave.

    Args:
        transcript: The file.
        command: How the server is started.
        root: The project's folder as the server sees it.
        cwd: Where the server is started.
        env: The server's environment.
    """
    lines = []
    with StdioServer(command, cwd=cwd, env=env, limits=PATIENT) as server:
        for line in transcript.read_text(encoding="utf-8").splitlines():
            if line.startswith(SERVER):
                continue
            lines.append(line)
            if line.startswith(CLIENT):
                server.send_raw(line.removeprefix(CLIENT).replace("$ROOT", root).encode() + b"\n")
                lines.append(SERVER + server.receive_line().decode().replace(root, "$ROOT"))
        server.close_stdin()
        assert server.wait() == 0
        assert server.noise == []
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every transcript anew."""
    for transcript in TRANSCRIPTS:
        with tempfile.TemporaryDirectory() as folder:
            root = copy_project(Path(folder, "project"))
            command = [*DISCERN, verb_of(transcript)]
            text = replay(transcript, command, root=str(root), cwd=root, env=environment())
        transcript.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
