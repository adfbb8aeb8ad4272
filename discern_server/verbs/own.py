"""Discern's own files: the tool definitions that ``discern mcp`` serves, and the guide.

They are package resources: files of a folder where the package was installed, members of an archive in the single
executable.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import discern_server


def own_definitions() -> Traversable:
    """The folder of the verbs' definitions: in the package where it was installed, beside it in a checkout."""
    installed = files(discern_server) / "schemas"
    return installed if installed.is_dir() else Path(discern_server.__file__).parent.parent / "schemas"


def own_guide() -> Traversable:
    """The folder of the guide's pages."""
    return files(discern_server) / "guide"
