"""Discern's own tool definitions: the files that ``discern mcp`` serves."""

from __future__ import annotations

from pathlib import Path

import discern_server


def own_definitions() -> Path:
    """The folder of the verbs' definitions: in the package where it was installed, beside it in a checkout."""
    package = Path(discern_server.__file__).parent
    installed = package / "schemas"
    return installed if installed.is_dir() else package.parent / "schemas"
