"""Estimates that a person reads: a value with its interval, and when it is known well enough to be shown."""

from __future__ import annotations

import math
from dataclasses import dataclass

FEWEST_ANSWERS = 20
"""With fewer answers an estimate is not shown as a result."""

WIDEST = 0.3
"""An interval wider than this is too wide for the estimate to be shown as a result."""


def why_unknown(answered: float | None, low: float, high: float, widest: float = WIDEST) -> str:
    """Why an estimate is not known yet, in a few words; empty if it is. Every number that is shown asks this function.

    ``answered`` is the number of answers, where it is known.
    """
    if answered is not None and answered < FEWEST_ANSWERS:
        return f"fewer than {FEWEST_ANSWERS} answers"
    if high - low > widest + 1e-9:
        return f"an interval of more than {100.0 * WIDEST:.0f} points"
    return ""


@dataclass(frozen=True)
class Estimate:
    """A share of rounds, or a cost, with an interval that holds however often you look.

    Attributes
    ----------
    value : float
        The estimate, clipped to the interval; NaN where it is not known yet: with fewer than 20 answers, or an interval
        of more than 30 points. Where some questions have no answer, those of the same time that have one stand for
        them.
    low, high : float
        The interval, in which questions without an answer count as right and as wrong.
    unbiased : float
        The estimate before clipping, however little is known; NaN unless every question is answered.
    rounds : int
        Number of rounds that it is about.
    answered, unanswered : int or None
        Number of questions about these rounds that have an answer, and of those that have none; None where they are not
        counted.
    """

    value: float
    low: float
    high: float
    unbiased: float
    rounds: int
    answered: int | None = None
    unanswered: int | None = None

    @property
    def why_unknown(self) -> str:
        """Why the value is not known yet, in a few words; empty if it is known."""
        reason = why_unknown(self.answered, self.low, self.high)
        return "no rounds to estimate it from" if math.isnan(self.value) and not reason else reason

    @property
    def is_known(self) -> bool:
        """Whether the value can be read as a result: at least 20 answers, and an interval of at most 30 points."""
        return not self.why_unknown

    def __str__(self) -> str:
        known = f"{self.value:.1%}" if self.is_known else "not known yet"
        return f"{known} ({self.low:.1%} to {self.high:.1%})"


class Cost(Estimate):
    """The mean cost of a round, in the unit of the sampler's ``costs``.

    Attributes
    ----------
    value : float
        The estimate, clipped to the interval; NaN where it is not known yet: with fewer than 20 answers, or an interval
        of more than 30 % of the larger cost.
    low, high : float
        The interval, in which questions without an answer count as right and as wrong.
    unbiased : float
        The estimate before clipping, however little is known; NaN unless every question is answered.
    rounds : int
        Number of rounds that it is about.
    answered, unanswered : int or None
        Number of questions about these rounds that have an answer, and of those that have none.
    """

    @property
    def why_unknown(self) -> str:
        """Why the value is not known yet, in a few words; empty if it is known."""
        if not math.isnan(self.value):
            return ""
        return why_unknown(self.answered, 0.0, 0.0) or "an interval of more than 30 % of the larger cost"

    def __str__(self) -> str:
        known = f"{self.value:.3g}" if self.is_known else "not known yet"
        return f"{known} ({self.low:.3g} to {self.high:.3g})"


def estimated(
    point: float,
    low: float,
    high: float,
    rounds: float,
    answered: float,
    unanswered: float | None,
    is_whole: bool,
    widest: float = WIDEST,
) -> Estimate:
    """An estimate from a point and its interval; the value is NaN where it is not known yet."""
    point, low, high = float(point), float(low), float(high)
    is_known = not math.isnan(point) and not why_unknown(answered, low, high, widest)
    value = min(max(point, low), high) if is_known else math.nan  # one NaN, so that estimates can be equal
    unbiased = point if is_whole and not math.isnan(point) else math.nan
    counts = int(answered), None if unanswered is None else int(unanswered)
    return Estimate(value, low, high, unbiased, int(rounds), *counts)
