"""Expected mistakes of selective samplers in the worst case: Cesa-Bianchi, Gentile, Zaniboni 2006."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import InputError
from ...validation import check_number, check_positive
from .theorem_case import TheoremCase, Traces, log_volume


def sel_p(X: Any, y: Any, u: Any, b: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-P: Cesa-Bianchi, Gentile, Zaniboni 2006, Theorem 1.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    b : float
        The hyperparameter b of the algorithm.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    check_positive("sel_p", "b", b)
    case = TheoremCase("sel_p", X, y, u, gamma, traces)
    size = case.largest()
    return (1 + size**2 / (2 * b)) * case.loss / gamma + case.norm**2 * (2 * b + size**2) ** 2 / (8 * b * gamma**2)


def sel_p_b(X: Any, y: Any, u: Any, gamma: float = 1.0, traces: Traces = None) -> float:
    """The b that minimises :func:`sel_p`.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    case = TheoremCase("sel_p_b", X, y, u, gamma, traces)
    size = case.largest()
    return size**2 / 2 * case.best((case.norm * size) ** 2 + 4 * gamma * case.loss, (case.norm * size) ** 2)


def sel_ada(X: Any, y: Any, u: Any, beta: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-ADA: Cesa-Bianchi, Gentile, Zaniboni 2006, Theorem 2.

    It falls as beta grows, at the price of more questions.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    beta : float
        The hyperparameter beta, the scale of the querying probability.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    check_number("sel_ada", "beta", beta, "a positive number, or infinity", 0.0)
    case = TheoremCase("sel_ada", X, y, u, gamma, traces)
    R = case.norm * case.largest() / gamma
    B = R + (1 + 1.5 * R) / beta
    inside = case.loss / gamma + R / (2 * beta)
    return inside + B**2 / 2 + B * math.sqrt(inside + B**2 / 4)


def sel_2nd(X: Any, y: Any, u: Any, b: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-2ND: Cesa-Bianchi, Gentile, Zaniboni 2006, Theorem 3.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    b : float
        The hyperparameter b of the algorithm.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    check_positive("sel_2nd", "b", b)
    case = TheoremCase("sel_2nd", X, y, u, gamma, traces)
    stretch, volume = _second_order(case)
    return case.loss / gamma + b * stretch / (2 * gamma**2) + volume / (2 * b)


def sel_2nd_b(X: Any, u: Any, gamma: float = 1.0, traces: Traces = None) -> float:
    """The b that minimises :func:`sel_2nd` for these traces.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    case = TheoremCase("sel_2nd_b", X, None, u, gamma, traces)
    stretch, volume = _second_order(case)
    return gamma * case.best(volume, stretch)


def sel_winnow(X: Any, y: Any, u: Any, alpha: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-WINNOW with the parameters of :func:`sel_winnow_tuning`.

    Cesa-Bianchi, Gentile, Zaniboni 2006, Theorem 4. u must be in the probability simplex.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    alpha : float
        A number strictly between 0 and 1, which the theorem leaves free.
    gamma : float, default 1.0
        Margin the comparator should reach.
    traces : iterable of Trace, optional
        Traces of runs over exactly these rows with different seeds. Without traces every round counts as an update,
        which only makes the bound larger.
    """
    check_number("sel_winnow", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    case = TheoremCase("sel_winnow", X, y, u, gamma, traces)
    if case.u.ndim != 1 or (case.u < 0).any() or abs(case.u.sum() - 1) > 1e-9:
        raise InputError("u must be one vector of the probability simplex.", owner="sel_winnow")
    size = case.largest(math.inf)
    return case.loss / (alpha * gamma) + size**2 * math.log(case.d) / (2 * alpha * (1 - alpha) * gamma**2)


def sel_winnow_tuning(X: Any, alpha: float, gamma: float = 1.0) -> dict[str, float]:
    """The hyperparameters eta and b for which :func:`sel_winnow` holds.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    alpha : float
        A number strictly between 0 and 1, which the theorem leaves free.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    check_number("sel_winnow_tuning", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    case = TheoremCase("sel_winnow_tuning", X, None, np.zeros(np.shape(X)[1]), gamma)
    size = case.largest(math.inf)
    return {"eta": 2 * (1 - alpha) * gamma * case.best(1.0, size**4), "b": alpha * gamma}


def _second_order(case: TheoremCase) -> tuple[float, float]:
    """The quadratic form u' E[A_n] u and the expected log determinant E ln |A_n|."""
    scores, norm = case.scores, case.norm
    if case.traces is None:
        return norm**2 + float((scores**2).sum()), log_volume(case.updated(None), 1.0, math.inf)
    stretch = norm**2 + case.mean(lambda trace: (scores[trace.updated] ** 2).sum())
    return stretch, case.mean(lambda trace: log_volume(case.updated(trace), 1.0, math.inf))
