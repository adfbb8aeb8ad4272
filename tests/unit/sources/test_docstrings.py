"""Docstrings in Google style."""

from __future__ import annotations

from discern_server.sources.docstrings import Docstring, parse


def test_description_parameters_and_result_are_told_apart():
    text = """Refund an order.

    Only once.

    Args:
        amount: How much,
            in cents.
        note (str): Why: in a word.

    Returns:
        What was
        refunded.

    Raises:
        ValueError: Never told.

    Example:
        A heading we do not know stays with the description.
    """
    assert parse(text) == Docstring(
        description=(
            "Refund an order.\n\nOnly once.\n\nExample:\n    A heading we do not know stays with the description."
        ),
        parameters={"amount": "How much, in cents.", "note": "Why: in a word."},
        returns="What was refunded.",
    )


def test_no_docstring_says_nothing():
    assert parse(None) == Docstring(description=None, parameters={}, returns=None)


def test_text_after_a_section_is_description_again():
    assert parse("One.\n\nArgs:\n    a: b\n\nTwo.").description == "One.\n\nTwo."
