"""The error model: the probability that a label is +1, and so that a prediction is wrong, given the margin.

It is learnt from the answers, and read in every round before the random draw.

==========  ==========================================================
p           the raw margin, measured from 0, even where costs have moved the boundary
z           p minus its running mean, in units of its running deviation, clipped to [-8, 8]; shrunk while few are known
side        the sign of p
l           the logarithm of the odds of y = +1: a + b z + c side, b >= 0
e           the probability that the prediction is wrong, shrunk by n / (n + 60) after n labels
==========  ==========================================================

a, b and c are fitted by an online logistic regression with Newton-like steps on the answers. ``S`` is their covariance;
every label moves it a two-thousandth back towards its first value, so that the model follows a drift. Labels are not
weighted by 1/P: given the margin, asking does not depend on the label, and weights were measured to add noise. A wrong
model makes the interval of the accuracy wider, but never invalid. The model also gives P(y = +1), and with costs the
boundary where both kinds of mistakes are expected to cost the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...betting import ERRORS, LEVELS
from ...compiled.steps import apart, step
from ...contracts.learner import LARGEST_COUNT
from ...linalg.vectors import LARGEST, all_within
from ...logistic import sigmoid

A, B, C, COVARIANCE = range(4)
LABELS, SUM, SQUARES, COUNT, CENTRE, SCALE, TRUST = range(12, 19)
"""Indices in the model: a, b and c; nine covariances; the number of labels; of p the sum, the sum of squares and the
count; and from the last update of z's scale: the mean, 1 / deviation, and the shrinkage factor."""

_FIRST_B = 3.0
_VARIANCES = np.array([4.0, 16.0, 1.0])
_FADE = 0.9995
_LEAST_SLOPE = 1e-3
_FEW = 16.0
SHRINK = 60.0
_LARGEST_Z = 8.0
_LARGEST_LOG = 1e3

_LARGEST_MARGIN = 1e100
"""Larger margins are left out of the running sums, since their squares would overflow."""

_LOOK = 64

_OFTEN, _SELDOM = 64, 16
"""Limits are updated with each of the first labels, and then with one in sixteen."""

BETWEEN = np.sqrt(ERRORS[1:] * ERRORS[:-1])
"""Boundaries between levels."""


def new_model() -> np.ndarray:
    """A model before the first label."""
    model = np.zeros(19)
    model[B] = _FIRST_B
    model[COVARIANCE:LABELS:4] = _VARIANCES
    model[[SCALE, TRUST]] = 1.0
    return model


def is_sound_model(model: np.ndarray) -> bool:
    """Whether a model that was read from a file is possible; above all, whether its covariances are not too large."""
    S = model[COVARIANCE:LABELS].reshape(3, 3)
    largest = np.sqrt(np.outer(_VARIANCES, _VARIANCES)) * (1.0 + 1e-6)
    return (
        all_within(model[[A, C]], -_LARGEST_LOG, _LARGEST_LOG)
        and all_within(model[B], 0.0, _LARGEST_LOG)
        and all_within(np.diagonal(S), 0.0, LARGEST)
        and all_within(np.abs(S) - largest, -LARGEST, 0.0)
        and all_within(model[[LABELS, COUNT]], 0.0, LARGEST_COUNT)
        and all_within(model[SQUARES], 0.0, LARGEST)
        and all_within(model[[SUM, CENTRE]], -LARGEST, LARGEST)
        and all_within(model[SCALE], 1.0 / LARGEST, LARGEST)
        and all_within(model[TRUST], 0.01, 1.0)
    )


@step
def note_margin(model: Any, p: float, weight: float, look: bool) -> None:
    """Add p to the running sums, in place; if ``look``, update the scale of z from them.

    The scale is not updated in every round: roots and quotients take longer than everything else in an unasked round.
    """
    if abs(p) < _LARGEST_MARGIN:
        model[SUM] += p * weight
        model[SQUARES] += p * p * weight
        model[COUNT] += weight
    if look and model[COUNT] > 0.0:
        look_at_margins(model)


@step
def looks_at(t: int) -> Any:
    """Whether the scale of z is updated in round t: at first in every round, then in one of so many."""
    return t < _LOOK or t & (_LOOK - 1) == 0


@step
def rounds_to_look(t: int) -> Any:
    """Number of rounds, from t on, before the next one that updates the scale of z."""
    return 1 if t + 1 < _LOOK else _LOOK - (t & (_LOOK - 1))


@step
def note_margins(model: Any, p: Any, first: int, last: int, look: bool) -> None:
    """Add margins to the running sums, in place; if ``look``, update the scale of z after the first of them."""
    if not math.isnan(p[first]):
        note_margin(model, p[first], 1.0, look)
    total, squares, n = model[SUM], model[SQUARES], model[COUNT]
    others = p[first + 1 : last]
    for i in range(len(others)):
        counts = abs(others[i]) < _LARGEST_MARGIN  # not so for NaN
        margin = others[i] if counts else -0.0  # which changes no sum, and takes no branch
        total += margin
        squares += margin * margin if counts else -0.0
        n += 1.0 if counts else -0.0
    model[SUM], model[SQUARES], model[COUNT] = total, squares, n


@apart
def look_at_margins(model: Any) -> None:
    """Update the scale of z from the running sums, in place.

    With few margins the deviation is close to their size; it is 1 where all are 0.
    """
    n, mean, square = max(model[COUNT], 1.0), model[SUM] / model[COUNT], model[SQUARES] / model[COUNT]
    found = math.sqrt(max(square - mean * mean, 0.0) + square / n)
    model[CENTRE] = mean
    model[SCALE] = 1.0 / found if found > 0.0 else 1.0
    model[TRUST] = n / (n + _FEW)


@step
def standing(model: Any, p: float) -> Any:
    """The z of a margin p: its position among the margins so far."""
    return min(max((p - model[CENTRE]) * model[SCALE], -_LARGEST_Z), _LARGEST_Z) * model[TRUST]


@step
def log_odds(model: Any, p: float) -> Any:
    """The logarithm of the odds of y = +1 at this margin."""
    return model[A] + model[B] * standing(model, p) + (model[C] if p > 0.0 else -model[C])


@step
def level_of(model: Any, limits: Any, p: float, positive: bool) -> Any:
    """The level of e if ``positive``, or its opposite, is predicted; ``limits`` are those of :func:`set_limits`."""
    log = log_odds(model, p)
    if positive:
        log = -log
    level = 0
    for i in range(LEVELS - 1):
        level += 1 if log >= limits[i] else 0
    return level


@step
def level_at(e: float) -> Any:
    """The level of this probability of a mistake."""
    level = 0
    for i in range(LEVELS - 1):
        level += 1 if e >= BETWEEN[i] else 0
    return level


@step
def count_label(model: Any, limits: Any) -> Any:
    """Count one more label, in place; return the number before it."""
    before = model[LABELS]
    model[LABELS] = before + 1.0
    n = int(before) + 1
    if n <= _OFTEN or n & (_SELDOM - 1) == 0:
        set_limits(limits, float(n))
    return before


@step
def update_limits(model: Any, limits: Any) -> None:
    """Write the limits that belong to the number of labels, in place; beyond the first they hardly move."""
    n = model[LABELS]
    set_limits(limits, n if n <= _OFTEN else n - n % _SELDOM)


@step
def most_certain(n: float, labels: float) -> Any:
    """The largest probability of a predicted label after n answers, if so many labels are known.

    It is what n right answers and no wrong one show (the rule of succession). The model itself may be sure before there
    is any answer.
    """
    return (n + 1.0) / (n + labels)


@apart
def learn_label(model: Any, p: float, positive: bool) -> None:
    """Learn that the label at margin p was ``positive`` or not, in place."""
    s, x = sigmoid(log_odds(model, p)), (1.0, standing(model, p), 1.0 if p > 0.0 else -1.0)
    move_model(model, x, s, (1.0 if positive else 0.0) - s)


@step
def move_model(model: Any, x: Any, s: float, error: float) -> None:
    """One step of the logistic regression on the features x, which predicted s with this error, in place."""
    slope, S = max(s * (1.0 - s), _LEAST_SLOPE), COVARIANCE
    for i in range(3):
        for j in range(3):
            model[S + 3 * i + j] *= _FADE
        model[S + 4 * i] += (1.0 - _FADE) * _VARIANCES[i]
    g = (
        model[S] * x[0] + model[S + 1] * x[1] + model[S + 2] * x[2],
        model[S + 3] * x[0] + model[S + 4] * x[1] + model[S + 5] * x[2],
        model[S + 6] * x[0] + model[S + 7] * x[1] + model[S + 8] * x[2],
    )
    whole = 1.0 + slope * (g[0] * x[0] + g[1] * x[1] + g[2] * x[2])
    for i in range(3):
        model[i] = min(max(model[i] + g[i] * error / whole, -_LARGEST_LOG), _LARGEST_LOG)
        for j in range(3):
            model[S + 3 * i + j] -= g[i] * g[j] * slope / whole
    model[B] = max(model[B], 0.0)


@apart
def set_limits(limits: Any, n: float) -> None:
    """Write the log odds at which e reaches the next level, after n labels."""
    for i in range(len(limits)):
        s = BETWEEN[i] * (n + SHRINK) / n if n > 0.0 else 1.0
        limits[i] = math.log(s / (1.0 - s)) if s < 1.0 else math.inf


def log_cost_of(costs: tuple[float, float] | None) -> float:
    """The logarithm of the ratio of the costs, false positive to false negative; 0 where mistakes cost the same."""
    return 0.0 if costs is None else math.log(costs[0] / costs[1])


@step
def boundary(model: Any, log_cost: float) -> Any:
    """The margin at which both kinds of mistakes are expected to cost the same; ``log_cost`` is ln of their ratio.

    There the odds of y = +1 equal that ratio. It is 0 where all mistakes cost the same, and where the odds cross the
    ratio in their jump at 0.
    """
    if log_cost == 0.0:
        return 0.0
    here = model[A] + model[B] * standing(model, 0.0)
    if here - model[C] > log_cost:
        return min(at_odds(model, log_cost + model[C]), 0.0)
    if here + model[C] < log_cost:
        return max(at_odds(model, log_cost - model[C]), 0.0)
    return 0.0


@step
def at_odds(model: Any, log: float) -> Any:
    """The margin at which a + b z equals ``log``, with z clipped."""
    z = (log - model[A]) / max(model[B] * model[TRUST], 1e-9)
    return model[CENTRE] + min(max(z, -_LARGEST_Z), _LARGEST_Z) / model[SCALE]
