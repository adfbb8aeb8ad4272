"""JUnit XML: what readers of it find."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from discern_server.junit import Case, to_junit


def test_cases_pass_fail_or_are_skipped_and_are_counted():
    text = to_junit(
        "my server",
        [
            Case(name="a", group="g", output="seen"),
            Case(name="b", group="g", failure="no", output="exchange"),
            Case(name="c", group="g", skipped="not over stdio"),
        ],
    )
    root = ET.fromstring(text)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    suite = root[0]
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "my server")
    assert [suite.get(count) for count in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    passed, failed, skipped = suite
    assert passed.findtext("system-out") == "seen"
    assert (failed.find("failure").get("message"), failed.findtext("failure")) == ("no", "exchange")  # type: ignore[union-attr]
    assert skipped.find("skipped").get("message") == "not over stdio"  # type: ignore[union-attr]


def test_what_xml_cannot_hold_is_shown_escaped():
    text = to_junit("s", [Case(name="a\x00<&>", group='"', failure="\x1b[31m", output="\ud800\uffff]]>")])
    case = ET.fromstring(text)[0][0]
    assert case.get("name") == "a\\x00<&>"
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "\\x1b[31m"
    assert failure.text == "\\ud800\\uffff]]>"
