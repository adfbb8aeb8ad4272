"""The bound that these tests run under: one that hangs is named, and ends the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = (Path(__file__).parents[1] / "conftest.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("held", ["time.sleep(600)", "os.read(os.pipe()[0], 1)"])
def test_a_test_that_hangs_shows_where_it_stands_and_ends_the_run(tmp_path: Path, held: str):
    short = CONFTEST.replace("LONGEST_S = 600.0", "LONGEST_S = 1.0")
    assert short != CONFTEST
    (tmp_path / "conftest.py").write_text(short, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(f"import os, time\n\ndef test_that_hangs():\n    {held}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 1
    assert 'test_it.py", line 4 in test_that_hangs' in done.stderr
