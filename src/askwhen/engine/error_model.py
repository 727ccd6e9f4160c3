"""How likely a prediction is wrong, from its margin: learnt from told labels, and used before every coin.

==========  ==========================================================
p           the raw margin, from 0, wherever costs have moved the boundary
r           min(|p| / running mean of |p|, 8)
side        the sign of p
s           the probability that the label is not ``side``: sigmoid(alpha + gamma side - beta r)
e           the probability that the prediction is wrong, shrunk: s n / (n + 30) after n labels, or 1 - s in place of s
            where costs make the prediction another than ``side``
==========  ==========================================================

alpha, beta >= 0 and gamma follow the logarithmic loss of told labels, weighted by 1/P, by AdaGrad. The model may be as
wrong as it likes: the interval of the accuracy stays valid and becomes wider. It also gives P(y = +1 | x), and with
costs the boundary where both kinds of mistakes are expected to cost the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import LARGEST_COUNT
from ..linalg.vectors import LARGEST, all_within
from .stakes import ERRORS, LEVELS

ALPHA, BETA, GAMMA, ALPHA_SQUARES, BETA_SQUARES, GAMMA_SQUARES, LABELS, SIZE, SIZES = range(9)
"""Places in the model: three numbers, the sums of their squared gradients, labels, and the sum and number of |p|."""

_RATE = 1.0
_FIRST_BETA = 4.0
_SHRINK = 30.0
_LARGEST_RATIO = 8.0
_LARGEST_WEIGHT = 20.0
_LARGEST_LOG = 1e3

BETWEEN = np.sqrt(ERRORS[1:] * ERRORS[:-1])
"""Where one level ends and the next begins."""


def new_model() -> np.ndarray:
    """A model that has heard no label."""
    model = np.zeros(9)
    model[BETA] = _FIRST_BETA
    model[[ALPHA_SQUARES, BETA_SQUARES, GAMMA_SQUARES]] = 1e-8
    return model


def is_sound_model(model: np.ndarray) -> bool:
    """Whether a file can have held this."""
    squares, counts = model[[ALPHA_SQUARES, BETA_SQUARES, GAMMA_SQUARES]], model[[LABELS, SIZES]]
    return (
        all_within(model[[ALPHA, GAMMA]], -_LARGEST_LOG, _LARGEST_LOG)
        and all_within(model[BETA], 0.0, _LARGEST_LOG)
        and all_within(squares, 1e-9, LARGEST)
        and all_within(counts, 0.0, LARGEST_COUNT)
        and all_within(model[SIZE], 0.0, LARGEST)
    )


@step
def mean_size(model: Any) -> Any:
    """The running mean of |p|; 1 where it is not known yet."""
    size = model[SIZE] / max(model[SIZES], 1.0)
    return size if size > 0.0 else 1.0


@step
def ratio(model: Any, p: float) -> Any:
    """r, the margin in units of its running mean."""
    return min(abs(p) / mean_size(model), _LARGEST_RATIO)


@step
def log_odds(model: Any, p: float) -> Any:
    """Ln s / (1 - s): the logarithm of the odds that the label is not the sign of p."""
    lean = model[GAMMA] if p > 0.0 else -model[GAMMA]
    return model[ALPHA] + lean - model[BETA] * ratio(model, p)


@step
def sigmoid(log: float) -> Any:
    """1 / (1 + e^-log)."""
    return 1.0 / (1.0 + math.exp(-log)) if log > 0.0 else 1.0 - 1.0 / (1.0 + math.exp(log))


@step
def note_size(model: Any, p: float, weight: float) -> None:
    """Take |p| into its running mean, in place."""
    model[SIZE] += abs(p) * weight
    model[SIZES] += weight


@step
def level_of(model: Any, limits: Any, p: float, positive: bool) -> Any:
    """The level of e where ``positive`` or its opposite is predicted; ``limits`` are those of :func:`set_limits`."""
    log = log_odds(model, p)
    if positive != (p > 0.0):
        log = -log
    level = 0
    for i in range(len(limits)):
        level += 1 if log >= limits[i] else 0
    return level


@step
def level_at(e: float) -> Any:
    """The level of this probability of a mistake."""
    level = 0
    for i in range(LEVELS - 1):
        level += 1 if e >= BETWEEN[i] else 0
    return level


@apart
def hear_label(model: Any, limits: Any, p: float, P: float, wrong: bool) -> None:
    """Learn from a label that was asked for with probability P, in place: ``wrong`` if it is not the sign of p."""
    r, lean = ratio(model, p), 1.0 if p > 0.0 else -1.0
    slope = (sigmoid(log_odds(model, p)) - (1.0 if wrong else 0.0)) * min(1.0 / P, _LARGEST_WEIGHT)
    model[LABELS] += 1.0
    step_model(model, ALPHA, slope)
    step_model(model, BETA, -r * slope)
    step_model(model, GAMMA, lean * slope)
    model[BETA] = max(model[BETA], 0.0)
    n = model[LABELS]
    if n <= 64.0 or n % 16.0 == 0.0:  # later they hardly move
        set_limits(limits, n)


@step
def step_model(model: Any, place: int, slope: float) -> None:
    """One step of AdaGrad on one number, in place."""
    squares = model[place + ALPHA_SQUARES] + slope * slope
    model[place + ALPHA_SQUARES] = squares
    model[place] = min(max(model[place] - _RATE * slope / math.sqrt(squares), -_LARGEST_LOG), _LARGEST_LOG)


@step
def set_limits(limits: Any, n: float) -> None:
    """Write the log odds from which on e is of the next level, after n labels."""
    for i in range(len(limits)):
        s = BETWEEN[i] * (n + _SHRINK) / n if n > 0.0 else 1.0
        limits[i] = math.log(s / (1.0 - s)) if s < 1.0 else math.inf


@step
def boundary(model: Any, log_cost: float) -> Any:
    """The margin at which both kinds of mistakes are expected to cost the same; ``log_cost`` is ln(costs' ratio).

    A false positive costs e^log_cost false negatives. Where misses are dearer, that is as deep on the side of -1 as
    P(y = +1) is still above 1 / (1 + e^-log_cost); and the other way round.
    """
    if log_cost == 0.0:
        return 0.0
    away = -1.0 if log_cost < 0.0 else 1.0
    reach = model[ALPHA] + away * model[GAMMA] + away * log_cost
    if reach <= 0.0:
        return 0.0
    beta = model[BETA]
    return away * mean_size(model) * (reach / beta if reach < _LARGEST_RATIO * beta else _LARGEST_RATIO)
