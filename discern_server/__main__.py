"""``python -m discern_server``: the same as ``discern``."""

from __future__ import annotations

import sys

from discern_server.cli import main

if __name__ == "__main__":
    sys.exit(main())
