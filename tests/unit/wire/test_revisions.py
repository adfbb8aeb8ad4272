"""The table of revisions."""

from __future__ import annotations

import pytest

from discern_server.wire.revisions import LEGACY, MODERN, era_of, is_revision


def test_each_known_revision_is_of_its_era():
    assert era_of(MODERN) == "modern"
    assert {era_of(revision) for revision in LEGACY} == {"legacy"}
    assert list(LEGACY) == sorted(LEGACY, reverse=True)


@pytest.mark.parametrize("value", [None, 20260728, "", "2026-7-28", "draft", "2026-07-28 ", ["2026-07-28"]])
def test_what_has_not_the_form_of_a_date_is_no_revision(value: object):
    assert not is_revision(value)


def test_revisions_to_come_are_modern():
    assert is_revision("2027-01-01")
    assert era_of("2027-01-01") == "modern"
