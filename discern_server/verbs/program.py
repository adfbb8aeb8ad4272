"""How this program starts itself anew."""

from __future__ import annotations

import sys
from typing import Final

GENERATE_DEFINITIONS: Final = "generate-definitions"
"""The command, not listed among the verbs, by which the program asks itself for a project's definitions."""


def this_program() -> list[str]:
    """The command that runs this very ``discern``, to be followed by its arguments."""
    if getattr(sys, "frozen", False):
        return [sys.executable]
    # -P: a project's own files must not stand in for modules that this package needs.
    return [sys.executable, "-P", "-m", "discern_server"]
