"""Writes docs/guide/rules.md to standard output: ``python -m discern_server.rules > docs/guide/rules.md``."""

from __future__ import annotations

import sys

from discern_server.rules.page import rules_page

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(rules_page())
