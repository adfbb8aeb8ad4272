"""The API's answer, as plain values: what came over the network, bounded and decoded, and nothing concluded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

_YEAR_S: Final = 366.0 * 24 * 60 * 60

_REQUEST_IDS: Final = (
    "x-request-id",
    "request-id",
    "x-correlation-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-ms-request-id",
    "x-github-request-id",
    "x-goog-request-id",
    "cf-ray",
    "x-trace-id",
)
"""Where servers put the id under which their operators find a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer.

    Attributes:
        status: The status.
        headers: The header fields, names in lower case, in order.
        body: The content, its encoding undone; cut at the limit where `cut` says so.
        cut: Whether there was more than the limit.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    cut: bool = False

    def header(self, name: str) -> str | None:
        """The first field of this name, given in lower case."""
        return next((text for field, text in self.headers if field == name), None)

    @property
    def is_success(self) -> bool:
        """Whether the status is a 2XX."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The Content-Type; empty where there is none."""
        return self.header("content-type") or ""

    @property
    def title(self) -> str:
        """The status with its name: ``429 Too Many Requests``."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)

    @property
    def request_id(self) -> str | None:
        """The id that the API gave the request."""
        return first_of(self, _REQUEST_IDS)

    def retry_after_s(self, now: datetime | None = None) -> float | None:
        """The seconds that the API asks to wait (RFC 9110, section 10.2.3): 0 for a past date, a year at most."""
        said = self.header("retry-after")
        if said is None:
            return None
        said = said.strip()
        if said.isascii() and said.isdecimal():
            return min(float(said), _YEAR_S)
        try:
            moment = parsedate_to_datetime(said)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max(0.0, (moment - (now or datetime.now(UTC))).total_seconds()), _YEAR_S)


def first_of(answer: Answer, names: Sequence[str]) -> str | None:
    """The first of these fields that the answer has."""
    return next((text for name in names if (text := answer.header(name))), None)
