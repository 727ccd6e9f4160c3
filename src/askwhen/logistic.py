"""Online logistic regression with Newton-like steps on three features, for models of when a prediction is wrong.

A model is an array that begins with the three weights a, b and c, and then the nine covariances S of these weights.
Every label moves S a two-thousandth back towards its first value, so that the model follows a drift.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled.steps import step
from .linalg.vectors import LARGEST, all_within

A, B, C, COVARIANCE = range(4)
"""Places of the three weights, and of the first of the nine covariances."""

END = 12
"""The length of these parts of a model."""

LARGEST_LOG = 1e3
"""Largest absolute value of a weight."""

VARIANCES = np.array([4.0, 16.0, 1.0])
"""The first variances of the weights."""

_FADE = 0.9995
_LEAST_SLOPE = 1e-3


@step
def sigmoid(log: float) -> Any:
    """1 / (1 + e^-log)."""
    return 1.0 / (1.0 + math.exp(-log)) if log > 0.0 else 1.0 - 1.0 / (1.0 + math.exp(log))


@step
def move_model(model: Any, x: Any, s: float, error: float) -> None:
    """One step of the logistic regression on the features x, which predicted s with this error, in place; b >= 0."""
    slope, S = max(s * (1.0 - s), _LEAST_SLOPE), COVARIANCE
    for i in range(3):
        for j in range(3):
            model[S + 3 * i + j] *= _FADE
        model[S + 4 * i] += (1.0 - _FADE) * VARIANCES[i]
    g = (
        model[S] * x[0] + model[S + 1] * x[1] + model[S + 2] * x[2],
        model[S + 3] * x[0] + model[S + 4] * x[1] + model[S + 5] * x[2],
        model[S + 6] * x[0] + model[S + 7] * x[1] + model[S + 8] * x[2],
    )
    whole = 1.0 + slope * (g[0] * x[0] + g[1] * x[1] + g[2] * x[2])
    for i in range(3):
        model[i] = min(max(model[i] + g[i] * error / whole, -LARGEST_LOG), LARGEST_LOG)
        for j in range(3):
            model[S + 3 * i + j] -= g[i] * g[j] * slope / whole
    model[B] = max(model[B], 0.0)


def is_sound_logistic(model: np.ndarray) -> bool:
    """Whether the weights from a file are possible, and above all their covariances not too large."""
    S = model[COVARIANCE:END].reshape(3, 3)
    largest = np.sqrt(np.outer(VARIANCES, VARIANCES)) * (1.0 + 1e-6)
    return (
        all_within(model[[A, C]], -LARGEST_LOG, LARGEST_LOG)
        and all_within(model[B], 0.0, LARGEST_LOG)
        and all_within(np.diagonal(S), 0.0, LARGEST)
        and all_within(np.abs(S) - largest, -LARGEST, 0.0)
    )
