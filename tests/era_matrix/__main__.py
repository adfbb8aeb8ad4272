"""Start every server of the matrix, probe it, and require the right verdict.

Usage: python -m tests.era_matrix --environments DIR [--write FILE] [--only TEXT]
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import discern_server
from discern_server.wire.checks import Outcome
from discern_server.wire.evidence import Question
from discern_server.wire.examine import examine
from discern_server.wire.limits import Limits
from discern_server.wire.report import Report
from discern_server.wire.stdio import StdioServer
from tests.era_matrix.environments import SERVERS, install, node, programs
from tests.era_matrix.peers import PEERS, Peer

LIMITS = Limits(answer_s=60, exit_s=10, total_s=300)
LEAST_SERVERS = 12
ROOT = Path(__file__).parents[2]
_START_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One server with what the probe said."""

    peer: Peer
    report: Report

    @property
    def is_right(self) -> bool:
        verdict = self.report.verdict
        return (verdict.kind.value, verdict.revisions) == (self.peer.verdict, self.peer.revisions)


def main(argv: list[str]) -> int:
    """Run the matrix; exit code 1 where a verdict is wrong or servers are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, required=True, help="the folder to install servers in")
    parser.add_argument("--write", type=Path, help="the file that gets the table")
    parser.add_argument("--only", default="", help="a part of the names of the servers to probe")
    options = parser.parse_args(argv)
    rows = []
    for peer in PEERS:
        if options.only in label(peer):
            rows.append(Row(peer=peer, report=probe(peer, options.environments.resolve())))
            say(rows[-1])
    wrong = [row for row in rows if not row.is_right]
    sys.stdout.write(f"{len(rows) - len(wrong)} of {len(rows)} verdicts right\n")
    if options.write and not wrong and not options.only:
        options.write.write_text(document(rows), encoding="utf-8")
    return 1 if wrong or (len(rows) < LEAST_SERVERS and not options.only) else 0


def label(peer: Peer) -> str:
    return f"{package(peer)}, {peer.what}, {'HTTP' if peer.http else 'stdio'}"


def package(peer: Peer) -> str:
    return peer.environment.shown if peer.environment else f"discern-server {discern_server.__version__}"


def say(row: Row) -> None:
    mark = "right" if row.is_right else f"WRONG, {row.peer.verdict} {row.peer.revisions} is due"
    verdict = row.report.verdict
    sys.stdout.write(f"{verdict.kind:12} {mark}: {label(row.peer)}\n")
    if not row.is_right:
        sys.stdout.write("\n".join(["", *row.report.transcript(), ""]))
    sys.stdout.flush()


def probe(peer: Peer, folder: Path) -> Report:
    names = {"servers": str(SERVERS), "python": sys.executable}
    if peer.environment:
        home = install(peer.environment, folder)
        names |= {"env": str(home), "bin": str(programs(peer.environment, home)), "node": str(node(folder))}
    if peer.http is None:
        return examine([part.format(**names) for part in peer.command], cwd=ROOT, limits=LIMITS)
    port = free_port()
    command = [part.format(**names, port=port) for part in peer.command]
    with serving(command, port):
        return examine(f"http://127.0.0.1:{port}{peer.http}", limits=LIMITS)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(command: list[str], port: int) -> Iterator[None]:
    """Run a server until the block is left; entered once its port accepts connections."""
    with StdioServer(command, cwd=ROOT, limits=LIMITS) as server:
        deadline = time.monotonic() + _START_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{command} does not listen on {port}:\n{server.stderr}") from None
                time.sleep(0.1)
        server.give_up()
        yield


def document(rows: list[Row]) -> str:
    run = (
        f"{dt.datetime.now(dt.UTC).date()}, discern-server {discern_server.__version__}, Python"
        f" {sys.version.split()[0]}: {len(rows)} servers, all verdicts right."
    )
    lines = [
        "# Which era real servers speak",
        "",
        "Written by `nox -s era_matrix`, which installs each server, starts it, and asks it on the wire. A",
        "verdict that differs from what is known of that version fails the run. The failed checks are those of the",
        "smallest server that each SDK gives; a host app may add what is missing, such as a look at `Origin`.",
        "",
        f"{run} [What the words mean](guide/eras.md).",
        "",
        "| server | started by | over | verdict | revisions seen | `server/discover` | `initialize` | checks failed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(line(row) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def line(row: Row) -> str:
    report, peer = row.report, row.peer
    failed = [f"`{check.id}`" for check, finding in report.findings if finding.outcome is Outcome.FAIL]
    cells = [
        package(peer),
        peer.what,
        "HTTP" if peer.http else "stdio",
        f"**{report.verdict.kind}**",
        ", ".join(report.verdict.revisions),
        cell(report.evidence.get(Question.DISCOVER)),
        cell(report.evidence.get(Question.INITIALIZE)),
        ", ".join(failed) or "none",
    ]
    return "| " + " | ".join(cells) + " |"


def cell(text: object) -> str:
    return str(text).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
