"""These tests speak to this machine alone: a proxy for the world outside has no part in them."""

from __future__ import annotations

import os

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
