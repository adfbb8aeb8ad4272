"""JUnit XML, as CI systems read it: suites of cases that pass, fail or are skipped. Pure.

There is no standard; this writes what the common readers share: one ``testsuites`` with ``testsuite`` and ``testcase``
elements, ``failure`` and ``skipped`` with a ``message``, and ``system-out``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a suite.

    Attributes:
        name: What was looked at.
        group: The group it is shown under (``classname``).
        failure: Why it failed, in one line, or None.
        skipped: Why it was not looked at, or None.
        output: More to read.
    """

    name: str
    group: str
    failure: str | None = None
    skipped: str | None = None
    output: str = ""


def to_junit(suite: str, cases: Sequence[Case]) -> str:
    """One suite as an XML document. Characters that XML cannot hold are shown escaped."""
    failures = sum(case.failure is not None for case in cases)
    skipped = sum(case.skipped is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "skipped": str(skipped)}
    root = ET.Element("testsuites", {"name": "discern", **counts})
    element = ET.SubElement(root, "testsuite", {"name": _xml_text(suite), **counts})
    for case in cases:
        _add(element, case)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add(suite: ET.Element, case: Case) -> None:
    element = ET.SubElement(suite, "testcase", {"name": _xml_text(case.name), "classname": _xml_text(case.group)})
    if case.failure is not None:
        failure = ET.SubElement(element, "failure", {"message": _xml_text(case.failure)})
        failure.text = _xml_text(case.output)
    elif case.skipped is not None:
        ET.SubElement(element, "skipped", {"message": _xml_text(case.skipped)})
    elif case.output:
        ET.SubElement(element, "system-out").text = _xml_text(case.output)


def _xml_text(text: str) -> str:
    return _NOT_XML.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
