"""Mistakes of LASEC and LASEC-SS against a comparator that drifts: Moroshko, Crammer 2014."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...errors import InputError
from ...trace.trace import Trace
from ...validation import check_number, check_positive
from .theorem_case import TheoremCase, log_volume, quadratic_sum, total_drift


def lasec(X: Any, y: Any, u: Any, b: float, c: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, always asked, in this run: Moroshko, Crammer 2014, Theorem 2.

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
    c : float
        The hyperparameter c, the drift level; may be infinity.
    trace : Trace
        The run over exactly these rows.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    case = TheoremCase("lasec", X, y, u, gamma, [trace])
    comparison, spread = _drifting(case, b, c)
    return float(case.losses.sum()) / gamma + math.sqrt(comparison * spread) / gamma


def lasec_ss(
    X: Any, y: Any, u: Any, b: float, c: float, a: float, traces: Iterable[Trace], gamma: float = 1.0
) -> float:
    """Expected mistakes of LASEC-SS: Moroshko, Crammer 2014, Theorem 4.

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
    c : float
        The hyperparameter c, the drift level; may be infinity.
    a : float
        The hyperparameter a, the scale of the querying probability.
    traces : iterable of Trace
        Traces of runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    check_positive("lasec_ss", "a", a)
    case = TheoremCase("lasec_ss", X, y, u, gamma, traces)
    comparison, spread = _drifting(case, b, c)
    return case.loss / gamma + a * comparison / (2 * gamma**2) + spread / (2 * a)


def lasec_ss_a(X: Any, u: Any, b: float, c: float, traces: Iterable[Trace], gamma: float = 1.0) -> float:
    """The a that minimises :func:`lasec_ss` for these traces.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    b : float
        The hyperparameter b of the algorithm.
    c : float
        The hyperparameter c, the drift level; may be infinity.
    traces : iterable of Trace
        Traces of runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    case = TheoremCase("lasec_ss_a", X, None, u, gamma, traces)
    comparison, spread = _drifting(case, b, c)
    return gamma * case.best(spread, comparison)


def corollary_c(T: int, d: int, X: float, V: float) -> float:
    """The drift level that Corollaries 8 and 9 set for total drift V: (sqrt(2) T d X / V)^(2/3).

    Moroshko, Crammer 2014. X is the largest norm of an instance, here and in :func:`corollary_holds`.

    Parameters
    ----------
    T : int
        Number of rounds.
    d : int
        Number of features.
    X : float
        Largest norm of an instance.
    V : float
        Total drift: at least that of the comparators over the updates.
    """
    for name, value in (("T", T), ("d", d), ("X", X), ("V", V)):
        check_positive("corollary_c", name, value)
    return float((math.sqrt(2) * T * d * X / V) ** (2 / 3))


def corollary_holds(T: int, d: int, X: float, V: float, b: float) -> bool:
    """Whether V is small enough for Corollaries 8 and 9 of Moroshko, Crammer 2014.

    Parameters
    ----------
    T : int
        Number of rounds.
    d : int
        Number of features.
    X : float
        Largest norm of an instance.
    V : float
        Total drift: at least that of the comparators over the updates.
    b : float
        The hyperparameter b of the algorithm.
    """
    for name, value in (("T", T), ("d", d), ("X", X), ("b", b)):
        check_positive("corollary_holds", name, value)
    mu = max(9 / 8 * X**2, (b + X**2) ** 2 / (8 * X**2))
    return bool(T * math.sqrt(2) * d * X / mu**1.5 >= V)


def corollary_8(X: Any, y: Any, u: Any, V: float, epsilon: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, run with c = corollary_c(T, d, X, V) and b = epsilon c, in this run.

    Moroshko, Crammer 2014, Corollary 8. V must be at least the drift over the run's updates. It has
    to be guessed before the run, since c depends on it.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    V : float
        Total drift: at least that of the comparators over the updates.
    epsilon : float
        b as a share of c, strictly between 0 and 1.
    trace : Trace
        The run over exactly these rows.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    case = TheoremCase("corollary_8", X, y, u, gamma, [trace])
    size, c = _corollary(case, V, epsilon)
    T, d, b = case.n, case.d, epsilon * c
    A = b * case.first_norm(trace) ** 2 + (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    A += float((case.scores[trace.updated] ** 2).sum())
    B = log_volume(case.updated(trace), b, c) + epsilon / (1 - epsilon) * d
    C = (4 * d * size) ** (2 / 3) * T ** (-1 / 3) * V ** (1 / 3)
    return lemma_7(A, B, C, float(case.losses.sum()), gamma)


def lemma_7(A: float, B: float, C: float, D: float, gamma: float) -> float:
    """The largest m with m <= D/gamma + sqrt(A (B + m C)) / gamma: Moroshko, Crammer 2014, Lemma 7.

    Parameters
    ----------
    A, B, C, D : float
        The numbers of the inequality, none negative.
    gamma : float
        The margin.
    """
    check_positive("lemma_7", "gamma", gamma)
    return (
        D / gamma + A * C / (2 * gamma**2) + math.sqrt(D * A * C / gamma + (A * C / (2 * gamma)) ** 2 + A * B) / gamma
    )


def corollary_9(
    X: Any, y: Any, u: Any, V: float, epsilon: float, a: float, traces: Iterable[Trace], gamma: float = 1.0
) -> float:
    """Expected mistakes of LASEC-SS, run with c = corollary_c(T, d, X, V) and b = epsilon c.

    Moroshko, Crammer 2014, Corollary 9. Differs: T^(2/3) where the first display prints
    T^(-1/3), as in the last display.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    V : float
        Total drift: at least that of the comparators over the updates.
    epsilon : float
        b as a share of c, strictly between 0 and 1.
    a : float
        The hyperparameter a, the scale of the querying probability.
    traces : iterable of Trace
        Traces of runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    check_positive("corollary_9", "a", a)
    case = TheoremCase("corollary_9", X, y, u, gamma, traces)
    comparison, spread = _corollary_9(case, V, epsilon)
    return case.loss / gamma + a * comparison / (2 * gamma**2) + spread / (2 * a)


def corollary_9_a(X: Any, u: Any, V: float, epsilon: float, traces: Iterable[Trace], gamma: float = 1.0) -> float:
    """The a that minimises :func:`corollary_9` for these traces.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    V : float
        Total drift: at least that of the comparators over the updates.
    epsilon : float
        b as a share of c, strictly between 0 and 1.
    traces : iterable of Trace
        Traces of runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        Margin the comparator should reach.
    """
    case = TheoremCase("corollary_9_a", X, None, u, gamma, traces)
    comparison, spread = _corollary_9(case, V, epsilon)
    return gamma * case.best(spread, comparison)


def _corollary_9(case: TheoremCase, V: float, epsilon: float) -> tuple[float, float]:
    size, c = _corollary(case, V, epsilon)
    T, d, b, scores = case.n, case.d, epsilon * c, case.scores
    comparison = case.mean(lambda trace: b * case.first_norm(trace) ** 2 + (scores[trace.updated] ** 2).sum())
    comparison += (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    spread = case.mean(lambda trace: log_volume(case.updated(trace), b, c)) + epsilon / (1 - epsilon) * d
    return comparison, spread + (4 * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)


def _corollary(case: TheoremCase, V: float, epsilon: float) -> tuple[float, float]:
    """The largest norm of an instance, and c."""
    owner = case.owner
    check_number(owner, "epsilon", epsilon, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    size = case.largest()
    c = corollary_c(case.n, case.d, size, V)
    if any(total_drift(case.u, trace.updated) > V * (1 + 1e-9) for trace in case.traces or []):
        raise InputError(f"V must be at least the drift over the updates, got {V!r}.", owner=owner)
    if not corollary_holds(case.n, case.d, size, V, epsilon * c):
        raise InputError(f"it says nothing for a drift as large as V = {V!r}; see corollary_holds.", owner=owner)
    return size, c


def _drifting(case: TheoremCase, b: float, c: float) -> tuple[float, float]:
    """Means over traces, summed over updates: b |u_1|^2 + c V + sum of (u.x)^2, and the sum of x' D^-1 x."""
    check_positive(case.owner, "b", b)
    check_number(case.owner, "c", c, "a number above b, or infinity", float(b))
    scores = case.scores

    def comparison(trace: Trace) -> float:
        V = total_drift(case.u, trace.updated)
        drift = 0.0 if V == 0.0 else c * V
        return b * case.first_norm(trace) ** 2 + drift + float((scores[trace.updated] ** 2).sum())

    return case.mean(comparison), case.mean(lambda trace: quadratic_sum(case.updated(trace), b, c)[0])
