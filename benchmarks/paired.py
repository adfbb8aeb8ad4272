"""Alternating servers and taking ratios pair by pair."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of `values`, of which there is at least one."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


def alternate(rounds: int, subjects: Mapping[str, Callable[[int], T]]) -> dict[str, list[T]]:
    """Measure every subject once in each round, in an order that is drawn anew, the same in every run.

    In an order that only rotates, each subject would follow the same other one, and find the caches as that left them.
    """
    samples: dict[str, list[T]] = {name: [] for name in subjects}
    order = random.Random(0)
    for number in range(rounds):
        for name in order.sample(list(subjects), len(subjects)):
            samples[name].append(subjects[name](number))
    return samples


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """The spread of ours to theirs, round by round."""
    return Spread.of([a / b for a, b in zip(ours, theirs, strict=True) if b])
