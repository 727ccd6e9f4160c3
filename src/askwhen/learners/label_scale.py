"""Running statistics of a regressor's labels, from those it has seen: their mean, spread and reach.

==========  ==========================================================
y_bar, s^2  mean and variance of the labels, each weighted by one over the probability with which it was asked for, so
            that they estimate those of the whole stream; older ones fade by .999 a label
reach       the largest |y - y_bar| so far: predictions are clipped to that distance. After ten labels, one beyond four
            times that is clipped to it: an outlier does not spoil what was learnt, and after a few the reach has grown
==========  ==========================================================

The first label sets the first mean, and nothing else is learnt from it. A classifier's labels have centre 0, spread 1
and reach 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..linalg.vectors import LARGEST, all_within

WEIGHT, CENTRE, VARIANCE, REACH, SHIFT, COUNT = range(6)

_MEMORY = 0.999
_LEAST_CHANCE = 1e-3
_LARGEST_LOSS = 4.0
_TRUSTED_AFTER, _OUTLYING = 10.0, 4.0


def new_scale(regression: bool) -> np.ndarray:
    """The statistics before the first label."""
    return np.zeros(6) if regression else np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0])


def is_sound_scale(scale: np.ndarray, regression: bool) -> bool:
    """Whether statistics from a file are possible; a classifier's never change."""
    if not regression:
        return np.array_equal(scale, new_scale(False))
    return all_within(np.abs(scale), 0.0, LARGEST) and all_within(scale[[WEIGHT, VARIANCE, REACH, COUNT]], 0.0, LARGEST)


@step
def forget_scale(scale: Any, regression: bool) -> None:
    """Reset the statistics of a regressor, in place."""
    if regression:
        for i in range(len(scale)):
            scale[i] = 0.0


@step
def spread_of(scale: Any) -> Any:
    """The standard deviation s, or 1 as long as all labels are equal."""
    return math.sqrt(scale[VARIANCE]) if scale[VARIANCE] > 0.0 else 1.0


@step
def take_label(scale: Any, y: float, chance: float) -> None:
    """Update the statistics with a label, in place; SHIFT is the change of the mean."""
    weight, gap = 1.0 / max(chance, _LEAST_CHANCE), y - scale[CENTRE]
    if scale[COUNT] >= _TRUSTED_AFTER and scale[REACH] > 0.0:
        gap = clipped(gap, _OUTLYING * scale[REACH])
    scale[WEIGHT] = _MEMORY * scale[WEIGHT] + weight
    share = weight / scale[WEIGHT]
    scale[SHIFT] = share * gap if scale[COUNT] > 0.0 else 0.0
    scale[CENTRE] += share * gap
    scale[VARIANCE] = (1.0 - share) * (scale[VARIANCE] + share * gap * gap)
    scale[REACH] = max(scale[REACH], (1.0 - share) * abs(gap))
    scale[COUNT] += 1.0


@step
def clipped(p: float, reach: float) -> Any:
    """The number p, clipped to [-reach, reach]."""
    return min(max(p, -reach), reach)


@step
def loss_of(p: float, y: float, variance: float) -> Any:
    """The squared loss in units of the labels' variance, at most 4, which is that of a wrong label with margin 1."""
    gap = p - y
    return min(gap * gap / variance, _LARGEST_LOSS) if variance > 0.0 else 0.0
