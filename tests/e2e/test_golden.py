"""The wire, byte for byte: what the installed package answers to recorded clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.cli import DISCERN, environment
from tests.e2e.golden import TRANSCRIPTS, copy_project, replay, verb_of


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_recorded_client_gets_the_same_bytes(transcript: Path, tmp_path: Path):
    root = copy_project(tmp_path)
    answered = replay(transcript, [*DISCERN, verb_of(transcript)], root=str(root), cwd=root, env=environment())
    assert answered == transcript.read_text(encoding="utf-8")
