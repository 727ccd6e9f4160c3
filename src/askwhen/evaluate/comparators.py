"""Comparators fitted in hindsight, so that the bounds can be evaluated on real data."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.inputs.instance_checks import check_instances
from ..engine.inputs.two_labels import signs_of
from ..errors import InputError
from ..linalg.rows import DenseRows
from ..system.extras import needs_extra
from ..validation import check_positive


def best_linear(X: Any, y: Any, *, C: float = 1.0) -> np.ndarray:
    """The linear SVM without intercept, fitted by liblinear on all rows: a comparator u for margin 1.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        Instances and labels -1 and +1.
    C : float, default 1.0
        Weight of the hinge losses relative to ``|u|^2 / 2``.
    """
    check_positive("best_linear", "C", C)
    rows, y = _checked("best_linear", X, y)
    return _solve(rows, y, C)


def best_linear_by_segment(X: Any, y: Any, switches: Sequence[int], *, C: float = 1.0) -> np.ndarray:
    """A comparator for every round: the linear SVM of each segment between switches.

    Parameters
    ----------
    X : array or CSR
        The instances.
    y : array
        Their labels, -1 and +1.
    switches : list of int
        Rounds in which a segment begins.
    C : float, default 1.0
        Weight of the hinge losses relative to ``|u|^2 / 2``.
    """
    owner = "best_linear_by_segment"
    check_positive(owner, "C", C)
    rows, y = _checked(owner, X, y)
    n, d = rows.shape
    if isinstance(switches, str) or not isinstance(switches, Iterable) or not all(map(_is_round(n), switches)):
        raise InputError(f"switches must be a list of rounds from 0 to {n}, got {switches!r}.", owner=owner)
    try:
        u = np.zeros((n, d))
    except MemoryError:
        raise InputError(
            f"{n} comparators of {d} features do not fit in memory; take fewer rows.", owner=owner
        ) from None
    for first, last in itertools.pairwise([0, *sorted(set(map(int, switches))), n]):
        if first < last:
            u[first:last] = _solve(rows[first:last], y[first:last], C)
    return u


def _is_round(n: int) -> Callable[[object], bool]:
    return lambda t: isinstance(t, numbers.Integral) and not isinstance(t, bool) and 0 <= int(t) <= n


def _checked(owner: str, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    rows = check_instances(owner, X)
    X = rows.X if isinstance(rows, DenseRows) else sp.csr_matrix(X, dtype=float)
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise InputError("X must hold finite numbers only.", owner=owner)
    return X, signs_of(owner, y, X.shape[0])[0]


def _solve(X: Any, y: np.ndarray, C: float) -> np.ndarray:
    with needs_extra("sklearn", "this", "best_linear"):
        from sklearn.svm import LinearSVC
    if (
        y == y[0]
    ).all():  # liblinear needs two classes; an all-zero instance of the other class costs the same for every u
        X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))]) if sp.issparse(X) else np.vstack([X, np.zeros(X.shape[1])])
        y = np.append(y, -y[0])
    model = LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False, max_iter=100_000, random_state=0)
    return np.asarray(model.fit(X, y).coef_[0], float)
