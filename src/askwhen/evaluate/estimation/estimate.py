"""A number with its interval, and the scores computed from two kinds of mistakes: precision, recall, F, costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .confidence import both_kinds
from .tally_views import TallyView

WIDEST = 0.3
"""An interval wider than this is too wide for the estimate to be shown as a result."""


def is_known(value: float, low: float, high: float) -> bool:
    """Whether a share is known well enough to be shown: its interval is at most 30 points wide."""
    return not math.isnan(value) and high - low <= WIDEST + 1e-9


@dataclass(frozen=True)
class Estimate:
    """A share of rounds, or a cost, with an interval that holds however often you look.

    Attributes
    ----------
    value : float
        The estimate, clipped to the interval; NaN where nothing is known.
    low, high : float
        The interval.
    unbiased : float
        The estimate before clipping.
    rounds : int
        Number of rounds that it is about.
    """

    value: float
    low: float
    high: float
    unbiased: float
    rounds: int

    @property
    def is_known(self) -> bool:
        """Whether the interval is at most 30 points wide, so that the value can be read as a result."""
        return is_known(self.value, self.low, self.high)

    def __str__(self) -> str:
        known = f"{self.value:.1%}" if self.is_known else "not known yet"
        return f"{known} ({self.low:.1%} to {self.high:.1%})"


class Cost(Estimate):
    """The mean cost of a round, in the unit of the sampler's ``costs``.

    Attributes
    ----------
    value : float
        The estimate, clipped to the interval; NaN where nothing is known.
    low, high : float
        The interval.
    unbiased : float
        The estimate before clipping.
    rounds : int
        Number of rounds that it is about.
    """

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


def inside(unbiased: float, low: float, high: float, rounds: int, known: bool = True) -> Estimate:
    """An estimate clipped to its interval; unknown where no label was given."""
    if math.isnan(unbiased) or not known:
        found = math.nan if math.isnan(unbiased) else float(unbiased)
        return Estimate(math.nan, float(low), float(high), found, rounds)  # one NaN, so that estimates can be equal
    return Estimate(float(min(max(unbiased, low), high)), float(low), float(high), float(unbiased), rounds)


def _observed(side: TallyView) -> float:
    """Share of rounds that could be asked about, which stand for the others too. NaN where there are none."""
    rounds, observed = float(side.rounds), float(side.rounds - side.unobserved)
    return 1.0 if rounds == 0.0 else observed / rounds if observed > 0.0 else math.nan


def by_kind(
    negative: TallyView, positive: TallyView, alpha: float, costs: tuple[float, float] | None
) -> tuple[Estimate, Estimate, Estimate, Cost | None]:
    """Precision, recall and F of +1, and costs; all of them get worse with each kind of mistake."""
    n, rounds = float(positive.rounds), int(positive.rounds + negative.rounds)
    few, many = positive.mistakes(alpha)
    (fp_low, fp_high), (fn_low, fn_high) = (side.mistakes(alpha / 2.0) for side in (positive, negative))
    known = float(positive.answered + negative.answered) > 0.0
    seen = [float(side.estimate) / _observed(side) for side in (positive, negative)]
    above, below = both_kinds((positive.A, negative.A), positive.stakes, (n, float(negative.rounds)), alpha)

    def interval(score: Any, low: Any, high: Any) -> Estimate:
        defined = np.isfinite(low).any() and np.isfinite(high).any()
        ends = (float(np.nanmin(low)), float(np.nanmax(high))) if defined else (0.0, 1.0)
        return inside(float(score), *ends, rounds, known)

    def ratio(a: Any, b: Any) -> Any:
        return np.divide(a, b, out=np.full(np.shape(b), np.nan), where=np.asarray(b) > 0.0)

    def recalled(fp: Any, fn: Any) -> Any:
        return ratio(n - fp, n - fp + fn)

    def f_score(fp: Any, fn: Any) -> Any:
        return ratio(2.0 * (n - fp), 2.0 * n - fp + fn)

    precision = interval(ratio(n - seen[0], n), ratio(n - many, n), ratio(n - few, n))
    recall = interval(recalled(*seen), recalled(fp_high, fn_high), recalled(fp_low, fn_low))
    f_measure = interval(f_score(*seen), f_score(*above.T), f_score(*below.T))
    if costs is None or rounds == 0:
        return precision, recall, f_measure, None
    each = np.array(costs) / rounds
    low, high = float((below @ each).min()), float((above @ each).max())
    found = inside(float(np.array(seen) @ each), low, high, rounds, known)
    return precision, recall, f_measure, Cost(found.value, found.low, found.high, found.unbiased, rounds)
