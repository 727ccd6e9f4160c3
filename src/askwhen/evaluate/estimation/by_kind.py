"""Shares and costs that are estimated from two kinds of mistakes: precision, recall, F, costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .confidence import both_kinds
from .estimate import WIDEST, Cost, Estimate, estimated
from .tally_views import TallyView


def _observed(side: TallyView) -> float:
    """Share of rounds that could be asked about, which stand for the others too. NaN where there are none."""
    rounds, observed = float(side.rounds), float(side.rounds - side.unobserved)
    return 1.0 if rounds == 0.0 else observed / rounds if observed > 0.0 else math.nan


def by_kind(
    negative: TallyView, positive: TallyView, alpha: float, costs: tuple[float, float] | None
) -> tuple[Estimate, Estimate, Estimate, Cost | None]:
    """Precision, recall and F of +1, and costs; all of them get worse with each kind of mistake."""
    both = negative + positive
    n, rounds = float(positive.rounds), float(both.rounds)
    few, many = positive.mistakes(alpha)
    (fp_low, fp_high), (fn_low, fn_high) = (side.mistakes(alpha / 2.0) for side in (positive, negative))
    seen = [float(side.estimate) / _observed(side) for side in (positive, negative)]
    above, below = both_kinds((positive.A, negative.A), positive.stakes, (n, float(negative.rounds)), alpha)

    def interval(score: Any, low: Any, high: Any, about: TallyView) -> Estimate:
        defined = np.isfinite(low).any() and np.isfinite(high).any()
        ends = (float(np.nanmin(low)), float(np.nanmax(high))) if defined else (0.0, 1.0)
        return estimated(score, *ends, rounds, about.answered, about.unanswered, about.is_whole)

    def ratio(a: Any, b: Any) -> Any:
        return np.divide(a, b, out=np.full(np.shape(b), np.nan), where=np.asarray(b) > 0.0)

    def recalled(fp: Any, fn: Any) -> Any:
        return ratio(n - fp, n - fp + fn)

    def f_score(fp: Any, fn: Any) -> Any:
        return ratio(2.0 * (n - fp), 2.0 * n - fp + fn)

    precision = interval(ratio(n - seen[0], n), ratio(n - many, n), ratio(n - few, n), positive)
    recall = interval(recalled(*seen), recalled(fp_high, fn_high), recalled(fp_low, fn_low), both)
    f_measure = interval(f_score(*seen), f_score(*above.T), f_score(*below.T), both)
    if costs is None or rounds == 0:
        return precision, recall, f_measure, None
    each = np.array(costs) / rounds
    low, high = float((below @ each).min()), float((above @ each).max())
    counts = both.answered, both.unanswered, both.is_whole
    found = estimated(float(np.array(seen) @ each), low, high, rounds, *counts, WIDEST * max(costs))
    return precision, recall, f_measure, Cost(**vars(found))
