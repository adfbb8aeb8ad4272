"""Rules of JSON itself. `discern_server.jsontext` and `schema.json_value` find what breaks them."""

from __future__ import annotations

from typing import Final

from discern_server.rules.rule import Rule
from discern_server.schema.json_value import MAX_DEPTH, MAX_INTEGER_DIGITS, MAX_VALUES, MENDS

TEXT_RULES: Final = (
    Rule(
        id="json.syntax",
        demand="A definition file is one JSON text.",
        reason="RFC 8259. Comments, trailing commas and single quotes are not JSON.",
        fix="mend the JSON at the line and column that the message names",
        bad='{"name" "refund"}',
        good='{"name": "refund"}',
    ),
    Rule(
        id="json.encoding",
        demand="A definition file is UTF-8 without a byte order mark.",
        reason="RFC 8259, section 8.1, and the protocol (basic/index: messages are UTF-8).",
        fix="save the file as UTF-8 without a byte order mark",
    ),
    Rule(
        id="json.duplicate-key",
        demand="An object names each key once.",
        reason="RFC 8259, section 4: readers disagree on which value counts, so that what is checked need not be what "
        "a client reads.",
        fix="keep one of them",
        bad='{"name": "refund", "name": "pay"}',
        good='{"name": "refund"}',
    ),
    Rule(
        id="json.number",
        demand=f"A number fits a double, and an integer has at most {MAX_INTEGER_DIGITS} digits.",
        reason="RFC 8259, section 6, has no NaN and no infinity. 1E400 reads as infinity, which most writers then "
        "send as null.",
        fix=MENDS["json.number"],
        bad='{"maximum": 1E400}',
        good='{"maximum": 1E300}',
    ),
    Rule(
        id="json.unicode",
        demand="A text holds whole characters: no half of a surrogate pair.",
        reason="RFC 7493, section 2.1. Such a text cannot be written as UTF-8, and writers fail on it.",
        fix=MENDS["json.unicode"],
        bad='{"title": "\\ud83d"}',
        good='{"title": "\\ud83d\\udc32"}',
    ),
    Rule(
        id="json.depth",
        demand=f"Values nest at most {MAX_DEPTH} levels deep.",
        reason="Readers recurse; some stop at a few hundred levels, some crash.",
        fix=MENDS["json.depth"],
    ),
    Rule(
        id="json.size",
        demand=f"A value holds at most {MAX_VALUES:,} values.",
        reason="More is a mistake, or an attack.",
        fix=MENDS["json.size"],
    ),
    Rule(
        id="json.type",
        demand="A value is what JSON has: an object with text keys, an array, a text, a number, true, false or null.",
        reason="Definitions and results made by Python code may hold dates, bytes or sets, which JSON cannot carry.",
        fix=MENDS["json.type"],
    ),
)
