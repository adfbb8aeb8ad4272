"""Patterns mean what ECMA-262 says, in the engine that speaks Python's dialect."""

from __future__ import annotations

import pytest
import regex

from discern_server.schema.ecma import python_pattern

MATCHES = [
    (r"^\d$", "7", True),
    (r"^\d$", "\u07c0", False),
    (r"^\D$", "\u07c0", True),
    (r"^\w$", "é", False),
    (r"^[\W]$", "é", True),
    (r"^[^\s]$", "\ufeff", False),
    (r"^\S$", "\u2003", False),
    (r"a\b", "aé", True),
    (r"a\B", "ab", True),
    (r"^[\b]$", "\x08", True),
    (r"^a$", "a\n", False),
    (r"^.$", "\u2028", False),
    (r"^[.$]$", "$", True),
    (r"^\cC$", "\x03", True),
    (r"^\u{1f432}$", "🐲", True),
    (r"^\ud83d\udc32$", "🐲", True),
    (r"^\u00e9\x41\/$", "éA/", True),
    (r"^[[]$", "[", True),
    (r"^[^]$", "\n", True),
    (r"[]", "", False),
    (r"^(?<x>a)\k<x>$", "aa", True),
    (r"^(?<=a)?b", "b", True),
    (r"^\p{Letter}\P{L}$", "é1", True),
    (r"^\0$", "\0", True),
]


@pytest.mark.parametrize(("pattern", "text", "matches"), MATCHES, ids=[pattern for pattern, _, _ in MATCHES])
def test_a_pattern_matches_as_in_ecma_262(pattern, text, matches):
    assert bool(regex.search(python_pattern(pattern), text)) is matches


@pytest.mark.parametrize("pattern", [r"^a\Z", r"\a", r"\_", r"[\B]", "\\"])
def test_an_escape_that_ecma_262_has_not_is_refused(pattern):
    with pytest.raises(ValueError, match="no escape"):
        python_pattern(pattern)
