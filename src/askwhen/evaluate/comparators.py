"""Comparators found in hindsight, so that the bounds can be evaluated on real data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..validation import check_positive


def best_linear(X: Any, y: Any, *, C: float = 1.0) -> np.ndarray:
    """The batch SVM of these labels, through the origin, by liblinear: a comparator u for margin 1.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        Instances and labels -1 and +1.
    C : float, default 1.0
        How much a hinge loss costs beside |u|^2 / 2.
    """
    check_positive("best_linear", "C", C)
    try:
        from sklearn.svm import LinearSVC
    except ImportError as error:
        raise ImportError("best_linear needs scikit-learn: pip install 'askwhen[sklearn]'.") from error
    y = np.asarray(y, float)
    if len(np.unique(y)) < 2:  # one label only: any positive multiple of its mean separates as well as can be
        mean = np.asarray(X.mean(axis=0), float).ravel() * y[0]
        return np.asarray(mean / max(float(mean @ mean), 1e-300))
    model = LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False, max_iter=100_000, random_state=0)
    return np.asarray(model.fit(X, y).coef_[0], float)


def best_linear_by_segment(X: Any, y: Any, switches: Sequence[int], *, C: float = 1.0) -> np.ndarray:
    """A comparator for every round: the batch SVM of each segment between the rounds of switches."""
    n, d = X.shape
    edges = [0, *sorted(set(map(int, switches))), n]
    if min(edges) < 0 or max(edges) > n:
        raise InputError(f"best_linear_by_segment: switches must be rounds from 0 to {n}, got {list(switches)}.")
    u = np.zeros((n, d))
    for first, last in itertools.pairwise(edges):
        if first < last:
            u[first:last] = best_linear(X[first:last], np.asarray(y)[first:last], C=C)
    return u
