"""Histograms of durations, as Prometheus has them."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets."""


class Histogram:
    """Counts of durations by bucket, with one more bucket for everything longer."""

    __slots__ = ("_counts", "sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self.sum += seconds

    @property
    def count(self) -> int:
        """Number of durations."""
        return sum(self._counts)

    def buckets(self) -> list[tuple[str, float]]:
        """Every upper bound, with the number of durations up to it."""
        ends = [*map(str, SECONDS), "+Inf"]
        return list(zip(ends, map(float, accumulate(self._counts)), strict=True))
