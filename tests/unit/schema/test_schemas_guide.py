"""The table of the guide says what is done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discern_server.schema.normalize import normalize

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "schemas.md"
ROW = re.compile(r"^\| `(?P<dialect>[^`]+)` \| `(?P<source>\{.*?\})` \| `(?P<result>\{.*?\})` \|", re.MULTILINE)
ROWS = [match.groupdict() for match in ROW.finditer(GUIDE.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['dialect']} {row['source']}"[:80])
def test_a_keyword_becomes_what_the_guide_says(row):
    assert json.dumps(normalize(json.loads(row["source"]), dialect=row["dialect"])) == json.dumps(
        json.loads(row["result"])
    )


def test_the_guide_has_a_table():
    assert len(ROWS) > 15
