"""An interval for the probability behind a count, valid however often it is looked at.

For trials that come true with probability p, the mixture of all likelihoods with uniform weights, divided by the
likelihood of p, is a martingale that starts at 1. By Ville's inequality it ever exceeds 1/alpha with probability at
most alpha, so the values of p for which it does not are an interval that holds at all times at once.
H. Robbins, Statistical methods related to the law of the iterated logarithm (1970).
"""

from __future__ import annotations

import math
from collections.abc import Callable

_HALVINGS = 60


def share_interval(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper bound of the probability, after so many hits in so many trials.

    Examples
    --------
    >>> from askwhen.evaluate.estimation.share import share_interval
    >>> [round(end, 3) for end in share_interval(45, 50)]
    [0.712, 0.984]
    >>> share_interval(0, 0)
    (0.0, 1.0)
    """
    misses = trials - hits
    most = math.lgamma(hits + 1) + math.lgamma(misses + 1) - math.lgamma(trials + 2) + math.log(1.0 - confidence)

    def is_inside(p: float) -> bool:
        return _times_log(hits, p) + _times_log(misses, 1.0 - p) >= most

    middle = hits / trials if trials else 0.5
    return _end(is_inside, middle, 0.0), _end(is_inside, middle, 1.0)


def _times_log(n: int, p: float) -> float:
    """The product of n and log p, which is 0 where n is."""
    return 0.0 if n == 0 else -math.inf if p <= 0.0 else n * math.log(p)


def _end(is_inside: Callable[[float], bool], inside: float, far: float) -> float:
    """The last value on the way from one inside to one far away, rounded outwards."""
    if is_inside(far):
        return far
    for _ in range(_HALVINGS):
        between = 0.5 * (inside + far)
        if is_inside(between):
            inside = between
        else:
            far = between
    return far
