"""Online logistic regression with Newton-like steps on four features, for labels that were asked for by chance.

==========  ==========================================================
w           the weights of the features x
S           the covariance of the weights, which every label makes smaller
s           the predicted probability, 1 / (1 + exp(-w.x))
n           how many like it a label stands for: one over the probability with which it was asked for, up to a limit
==========  ==========================================================

The step is w += n (y - s) S x / (1 + n s (1 - s) x.S x), and S -= n s (1 - s) S x (S x)' / (1 + n s (1 - s) x.S x).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled.steps import apart, step
from .linalg.vectors import LARGEST, all_within

FEATURES = 4
COVARIANCE, _SCRATCH = FEATURES, FEATURES + FEATURES * FEATURES
END = _SCRATCH + FEATURES
"""A model is an array that begins with w, S, and room for S x."""

_LARGEST_WEIGHT = 1e3
_LEAST_SLOPE = 1e-3
_FADE = 0.99999


@step
def sigmoid(log: float) -> Any:
    """1 / (1 + e^-log)."""
    return 1.0 / (1.0 + math.exp(-log)) if log > 0.0 else 1.0 - 1.0 / (1.0 + math.exp(log))


@step
def dot(model: Any, x: Any) -> Any:
    """w.x for a tuple of features."""
    return model[0] * x[0] + model[1] * x[1] + model[2] * x[2] + model[3] * x[3]


@apart
def move(model: Any, x: Any, variances: Any, y: float, n: float) -> None:
    """Learn the label y, 0 or 1, in place; every label moves S a little back towards its first variances."""
    s, g = sigmoid(dot(model, x)), _SCRATCH
    slope, whole = n * max(s * (1.0 - s), _LEAST_SLOPE), 1.0
    for i in range(FEATURES):
        row = COVARIANCE + FEATURES * i
        for j in range(FEATURES):
            model[row + j] *= _FADE
        model[row + i] += (1.0 - _FADE) * variances[i]
        model[g + i] = 0.0
        for j in range(FEATURES):
            model[g + i] += model[row + j] * x[j]
        whole += slope * model[g + i] * x[i]
    for i in range(FEATURES):
        moved = model[i] + n * model[g + i] * (y - s) / whole
        model[i] = min(max(moved, -_LARGEST_WEIGHT), _LARGEST_WEIGHT)
        for j in range(FEATURES):
            model[COVARIANCE + FEATURES * i + j] -= model[g + i] * model[g + j] * slope / whole


def is_sound_logistic(model: np.ndarray, variances: np.ndarray) -> bool:
    """Whether the weights from a file are possible, and above all their covariances not too large."""
    S = model[COVARIANCE:_SCRATCH].reshape(FEATURES, FEATURES)
    largest = np.sqrt(np.outer(variances, variances)) * (1.0 + 1e-6)
    return (
        all_within(model[:FEATURES], -_LARGEST_WEIGHT, _LARGEST_WEIGHT)
        and all_within(np.diagonal(S), 0.0, LARGEST)
        and all_within(np.abs(S) - largest, -LARGEST, 0.0)
    )
