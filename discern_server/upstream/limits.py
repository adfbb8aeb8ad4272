"""What one call may cost, and how often it is tried: checked values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1_048_576

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"})
"""The methods that may be repeated (RFC 9110, section 9.2.2; RFC 10008, section 2, for QUERY)."""

PASSING: Final = frozenset({429, 502, 503, 504})
"""The statuses that say "not now": the same request may succeed a little later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call may cost.

    Attributes:
        timeout_s: The whole call, in seconds: tokens, retries and redirects included.
        connect_timeout_s: One attempt to connect, in seconds.
        max_response_bytes: The answer's content, counted after decompression. Reading stops there.
        max_redirects: Redirects that are followed, each within the server's origin.
    """

    timeout_s: float = 30.0
    connect_timeout_s: float = 10.0
    max_response_bytes: int = MIB
    max_redirects: int = 5

    def __post_init__(self) -> None:
        _require(self.timeout_s > 0, "timeout_s", self.timeout_s, "above 0")
        _require(self.connect_timeout_s > 0, "connect_timeout_s", self.connect_timeout_s, "above 0")
        _require(self.max_response_bytes > 0, "max_response_bytes", self.max_response_bytes, "above 0")
        _require(self.max_redirects >= 0, "max_redirects", self.max_redirects, "0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, and when, a request is tried again. Always inside the call's time limit.

    Attributes:
        max_attempts: Tries in all.
        methods: The methods that are tried again.
        statuses: The statuses after which they are; a broken connection counts as well.
        base_wait_s: The longest wait before the second try where the API does not say how long, in seconds. It
            doubles with each try, and the wait is drawn at random below it.
        max_wait_s: The longest such wait, in seconds. ``Retry-After`` may ask for more.
    """

    max_attempts: int = 3
    methods: frozenset[str] = IDEMPOTENT
    statuses: frozenset[int] = PASSING
    base_wait_s: float = 0.5
    max_wait_s: float = 8.0

    def __post_init__(self) -> None:
        _require(self.max_attempts >= 1, "max_attempts", self.max_attempts, "1 or more")
        _require(self.base_wait_s >= 0, "base_wait_s", self.base_wait_s, "0 or more")
        _require(self.max_wait_s >= 0, "max_wait_s", self.max_wait_s, "0 or more")


def _require(holds: bool, name: str, value: float, rule: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {rule}, not {value!r}")
