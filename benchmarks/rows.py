"""A row of the table: what was measured, against which bar, and whether it was reached."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.paired import Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison.

    Attributes:
        group: The heading it stands under.
        what: What was measured.
        ours: Our figure, with its unit; empty where the row is a ratio of two others.
        theirs: The peer's figure and name.
        value: What the bar is held against: a ratio, or an amount in `unit`.
        cpu: The same ratio of CPU time, where it was measured.
        bar: The highest (or, with `at_least`, the lowest) value that will do; None for a row without a bar.
        unit: Of `value` and `bar`; empty for a ratio.
    """

    group: str
    what: str
    ours: str
    theirs: str
    value: Spread
    cpu: Spread | None = None
    bar: float | None = None
    at_least: bool = False
    unit: str = ""

    @property
    def missed(self) -> bool:
        """Whether there is a bar and it was missed."""
        if self.bar is None:
            return False
        return self.value.median < self.bar if self.at_least else self.value.median > self.bar
