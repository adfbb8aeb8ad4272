"""A URL as it is shown: in reports, which end up in the logs of others."""

from __future__ import annotations

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/?#]*@")
_VALUE: Final = re.compile(r"(?<==)[^&#]+")


def shown_url(url: str) -> str:
    """`url` with whatever may be a secret masked: who asks, and the values in its query. It need not be a good one."""
    before, separator, after = _USER.sub("***@", url).partition("?")
    return before + separator + _VALUE.sub("***", after)
