"""Each requirement of the specification is shown by a test or argued, and the page that says so is current."""

from __future__ import annotations

from tools.requirements import PAGE, marks, render, requirements


def test_every_requirement_is_shown_or_argued():
    shown = marks()
    bare = [
        requirement["number"]
        for requirement in requirements()
        if not (shown.get(requirement["number"]) or requirement.keys() & {"conformance", "argued"})
    ]
    assert bare == []


def test_no_test_shows_what_nobody_asks():
    numbers = [requirement["number"] for requirement in requirements()]
    assert numbers == sorted(set(numbers))
    assert marks().keys() <= set(numbers)


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == render(), "run python tools/requirements.py"
