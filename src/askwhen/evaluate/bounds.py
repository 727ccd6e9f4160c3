"""The papers' theorems as functions: how many mistakes an algorithm can make, at most or on average.

003 is Cesa-Bianchi, Gentile, Zaniboni 2006; 000 is Moroshko, Crammer 2014; 004 is "Batch learning via online
prediction".

==========  ==========================================================
u           a comparator: one vector, or a row for every round
gamma       the margin that it should reach
loss        hinge losses max(0, gamma - y u.x), summed over all rounds (L), or over the rounds of updates (L-bar)
V           total drift: squared distances between the comparators of successive updates, summed
M, Z        whether a round is mistaken, and whether it is asked about; M Z = 1 is an update
==========  ==========================================================

Where a theorem holds an expectation over the coins, its function takes ``traces``, of runs with different seeds, and
puts means in its place. Without traces every round counts as an update, which only makes the bound larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..trace import Trace
from ..validation import check_count, check_number, check_positive

Traces = Sequence[Trace] | None


def progressive_validation(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """What the error of a hypothesis picked uniformly from f_1 .. f_n exceeds with probability delta: 004, Prop. 2.

    From the mistakes that were made in n rounds of predicting before learning, on independent examples.
    """
    return _validated("progressive_validation", mistakes, rounds, delta)


def hold_out(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """What the error of a classifier exceeds with probability delta: 004, Proposition 1.

    From its mistakes on so many examples that it was not made with.
    """
    return _validated("hold_out", mistakes, rounds, delta)


def _validated(owner: str, mistakes: Any, rounds: int, delta: float) -> Any:
    check_number(owner, "delta", delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count(owner, "rounds", rounds)
    if np.min(mistakes) < 0 or np.max(mistakes) > rounds:
        raise InputError(f"{owner}: mistakes must be between 0 and the rounds, {rounds}, got {mistakes!r}.")
    return mistakes / rounds + math.sqrt(math.log(1 / delta) / (2 * rounds))


def hinge_losses(X: Any, y: Any, u: Any, gamma: float = 1.0) -> np.ndarray:
    """max(0, gamma - y u.x) of every round."""
    check_positive("bounds", "gamma", gamma)
    return np.asarray(np.maximum(0.0, gamma - np.asarray(y, float) * _scores(X, u)))


def hinge_loss(X: Any, y: Any, u: Any, gamma: float = 1.0) -> float:
    """The hinge loss of a comparator, or of a drifting sequence of them, over all rounds."""
    return float(hinge_losses(X, y, u, gamma).sum())


def total_drift(u: Any, updated: Any = None) -> float:
    """V: squared distances between successive comparators, over the rounds of updates (all rounds without them)."""
    u = np.atleast_2d(np.asarray(u, float))
    if updated is not None and len(u) > 1:
        u = u[np.asarray(updated, bool)]
    return float((np.diff(u, axis=0) ** 2).sum())


def expected_questions(traces: Sequence[Trace]) -> float:
    """The mean over traces of the summed probabilities of asking."""
    return float(np.mean([trace.probability.sum() for trace in traces]))


def sel_p(X: Any, y: Any, u: Any, b: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-P: 003, Theorem 1."""
    check_positive("sel_p", "b", b)
    loss, norm, size = _loss(X, y, u, gamma, traces), _norm(u), _largest(X)
    return (1 + size**2 / (2 * b)) * loss / gamma + norm**2 * (2 * b + size**2) ** 2 / (8 * b * gamma**2)


def sel_p_b(X: Any, y: Any, u: Any, gamma: float = 1.0, traces: Traces = None) -> float:
    """The b that minimises :func:`sel_p`."""
    loss, norm, size = _loss(X, y, u, gamma, traces), _norm(u), _largest(X)
    return size**2 / 2 * math.sqrt(1 + 4 * gamma * loss / (norm * size) ** 2)


def sel_ada(X: Any, y: Any, u: Any, beta: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-ADA: 003, Theorem 2. It falls as beta grows, at the price of more questions."""
    check_number("sel_ada", "beta", beta, "a positive number, perhaps infinity", 0.0)
    R = _norm(u) * _largest(X) / gamma
    B = R + (1 + 1.5 * R) / beta
    inside = _loss(X, y, u, gamma, traces) / gamma + R / (2 * beta)
    return inside + B**2 / 2 + B * math.sqrt(inside + B**2 / 4)


def sel_2nd(X: Any, y: Any, u: Any, b: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-2ND: 003, Theorem 3."""
    check_positive("sel_2nd", "b", b)
    stretch, volume = _second_order(X, u, traces)
    return _loss(X, y, u, gamma, traces) / gamma + b * stretch / (2 * gamma**2) + volume / (2 * b)


def sel_2nd_b(X: Any, u: Any, gamma: float = 1.0, traces: Traces = None) -> float:
    """The b that minimises :func:`sel_2nd` for these traces."""
    stretch, volume = _second_order(X, u, traces)
    return gamma * math.sqrt(volume / stretch)


def sel_winnow(X: Any, y: Any, u: Any, alpha: float, gamma: float = 1.0, traces: Traces = None) -> float:
    """Expected mistakes of SEL-WINNOW with the parameters of :func:`sel_winnow_tuning`: 003, Theorem 4.

    u must be in the probability simplex.
    """
    check_number("sel_winnow", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    u = np.asarray(u, float)
    if u.ndim != 1 or (u < 0).any() or abs(u.sum() - 1) > 1e-9:
        raise InputError("sel_winnow: u must be one vector of the probability simplex.")
    size = _largest(X, math.inf)
    return _loss(X, y, u, gamma, traces) / (alpha * gamma) + size**2 * math.log(len(u)) / (
        2 * alpha * (1 - alpha) * gamma**2
    )


def sel_winnow_tuning(X: Any, alpha: float, gamma: float = 1.0) -> dict[str, float]:
    """The letters eta and b for which :func:`sel_winnow` holds."""
    check_number("sel_winnow_tuning", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    return {"eta": 2 * (1 - alpha) * gamma / _largest(X, math.inf) ** 2, "b": alpha * gamma}


def lasec(X: Any, y: Any, u: Any, b: float, c: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, always asked, in this very run: 000, Theorem 2."""
    comparison, spread = _drifting(X, u, b, c, [trace])
    return hinge_loss(X, y, u, gamma) / gamma + math.sqrt(comparison * spread) / gamma


def lasec_ss(
    X: Any, y: Any, u: Any, b: float, c: float, a: float, traces: Sequence[Trace], gamma: float = 1.0
) -> float:
    """Expected mistakes of LASEC-SS: 000, Theorem 4."""
    check_positive("lasec_ss", "a", a)
    comparison, spread = _drifting(X, u, b, c, traces)
    return _loss(X, y, u, gamma, traces) / gamma + a * comparison / (2 * gamma**2) + spread / (2 * a)


def lasec_ss_a(X: Any, u: Any, b: float, c: float, traces: Sequence[Trace], gamma: float = 1.0) -> float:
    """The a that minimises :func:`lasec_ss` for these traces."""
    comparison, spread = _drifting(X, u, b, c, traces)
    return gamma * math.sqrt(spread / comparison)


def corollary_c(T: int, d: int, X: float, V: float) -> float:
    """The drift level that Corollaries 8 and 9 of 000 set for total drift V: (sqrt(2) T d X / V)^(2/3)."""
    check_positive("corollary_c", "V", V)
    return float((math.sqrt(2) * T * d * X / V) ** (2 / 3))


def corollary_holds(T: int, d: int, X: float, V: float, b: float) -> bool:
    """Whether V is small enough for Corollaries 8 and 9 of 000."""
    mu = max(9 / 8 * X**2, (b + X**2) ** 2 / (8 * X**2))
    return bool(T * math.sqrt(2) * d * X / mu**1.5 >= V)


def corollary_8(X: Any, y: Any, u: Any, V: float, epsilon: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, run with c = corollary_c(T, d, X, V) and b = epsilon c, in this very run: 000, Corollary 8.

    V must be at least the drift over the run's updates; one has to guess it before the run, to set c.
    """
    T, d, size, c = _corollary(X, u, V, epsilon, [trace])
    b = epsilon * c
    A = b * _first_norm(u, trace) ** 2 + (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    A += float((_scores(X, u)[trace.updated] ** 2).sum())
    B = _log_volume(_rows(X)[trace.updated], b, c) + epsilon / (1 - epsilon) * d
    C = (4 * d * size) ** (2 / 3) * T ** (-1 / 3) * V ** (1 / 3)
    return lemma_7(A, B, C, hinge_loss(X, y, u, gamma), gamma)


def lemma_7(A: float, B: float, C: float, D: float, gamma: float) -> float:
    """The largest m with m <= D/gamma + sqrt(A (B + m C)) / gamma: 000, Lemma 7."""
    return (
        D / gamma + A * C / (2 * gamma**2) + math.sqrt(D * A * C / gamma + (A * C / (2 * gamma)) ** 2 + A * B) / gamma
    )


def corollary_9(
    X: Any, y: Any, u: Any, V: float, epsilon: float, a: float, traces: Sequence[Trace], gamma: float = 1.0
) -> float:
    """Expected mistakes of LASEC-SS, run with c = corollary_c(T, d, X, V) and b = epsilon c: 000, Corollary 9.

    Differs: T^(2/3) where the first display prints T^(-1/3), as in the last display.
    """
    check_positive("corollary_9", "a", a)
    comparison, spread = _corollary_9(X, u, V, epsilon, traces)
    return _loss(X, y, u, gamma, traces) / gamma + a * comparison / (2 * gamma**2) + spread / (2 * a)


def corollary_9_a(X: Any, u: Any, V: float, epsilon: float, traces: Sequence[Trace], gamma: float = 1.0) -> float:
    """The a that minimises :func:`corollary_9` for these traces."""
    comparison, spread = _corollary_9(X, u, V, epsilon, traces)
    return gamma * math.sqrt(spread / comparison)


def _corollary_9(X: Any, u: Any, V: float, epsilon: float, traces: Sequence[Trace]) -> tuple[float, float]:
    T, d, size, c = _corollary(X, u, V, epsilon, traces)
    b, rows, scores = epsilon * c, _rows(X), _scores(X, u)
    comparison = _mean(traces, lambda trace: b * _first_norm(u, trace) ** 2 + (scores[trace.updated] ** 2).sum())
    comparison += (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    spread = _mean(traces, lambda trace: _log_volume(rows[trace.updated], b, c)) + epsilon / (1 - epsilon) * d
    return comparison, spread + (4 * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)


def _corollary(X: Any, u: Any, V: float, epsilon: float, traces: Sequence[Trace]) -> tuple[int, int, float, float]:
    check_number("corollary", "epsilon", epsilon, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    (T, d), size = X.shape, _largest(X)
    c = corollary_c(T, d, size, V)
    if any(total_drift(u, trace.updated) > V * (1 + 1e-9) for trace in traces):
        raise InputError(f"corollary: V must be at least the drift over the updates, got {V!r}.")
    if not corollary_holds(T, d, size, V, epsilon * c):
        raise InputError(f"corollary: it says nothing for a drift as large as V = {V!r}; see corollary_holds.")
    return T, d, size, c


def _scores(X: Any, u: Any) -> np.ndarray:
    """u.x of every round, for one comparator or one in each round."""
    u = np.asarray(u, float)
    if u.ndim == 1 and X.shape[1] == len(u):
        return np.asarray(X @ u, float)
    if u.shape != X.shape:
        raise InputError(f"bounds: u must be one vector of {X.shape[1]} or one for each round, got shape {u.shape}.")
    return np.asarray(X.multiply(u).sum(axis=1) if sp.issparse(X) else (X * u).sum(axis=1), float).ravel()


def _rows(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, float)


def _largest(X: Any, order: float = 2.0) -> float:
    """The largest norm of an instance."""
    return float(np.linalg.norm(_rows(X), order, axis=1).max())


def _norm(u: Any) -> float:
    u = np.asarray(u, float)
    if u.ndim != 1:
        raise InputError("bounds: this theorem compares with one vector u, got a sequence.")
    return float(np.linalg.norm(u))


def _mean(traces: Sequence[Trace], value: Callable[[Trace], Any]) -> float:
    if not traces:
        raise InputError("bounds: traces must hold at least one run.")
    return float(np.mean([value(trace) for trace in traces]))


def _loss(X: Any, y: Any, u: Any, gamma: float, traces: Traces) -> float:
    """L-bar, or L without traces."""
    losses = hinge_losses(X, y, u, gamma)
    return float(losses.sum()) if traces is None else _mean(traces, lambda trace: losses[trace.updated].sum())


def _first_norm(u: Any, trace: Trace) -> float:
    """The norm of the comparator of the first update."""
    u = np.asarray(u, float)
    if u.ndim == 1:
        return float(np.linalg.norm(u))
    return float(np.linalg.norm(u[np.argmax(trace.updated)])) if trace.updated.any() else 0.0


def _second_order(X: Any, u: Any, traces: Traces) -> tuple[float, float]:
    """U' E[A_n] u and E ln |A_n|."""
    scores, rows, norm = _scores(X, u), _rows(X), _norm(u)
    if traces is None:
        return norm**2 + float((scores**2).sum()), _log_volume(rows, 1.0, math.inf)
    stretch = norm**2 + _mean(traces, lambda trace: (scores[trace.updated] ** 2).sum())
    return stretch, _mean(traces, lambda trace: _log_volume(rows[trace.updated], 1.0, math.inf))


def _drifting(X: Any, u: Any, b: float, c: float, traces: Sequence[Trace]) -> tuple[float, float]:
    """B |u_1|^2 + c V + sum of (u.x)^2, and the sum of x' D^-1 x, over updates, in the mean over traces."""
    check_positive("bounds", "b", b)
    check_number("bounds", "c", c, "a number above b, perhaps infinity", float(b))
    scores, rows = _scores(X, u), _rows(X)

    def comparison(trace: Trace) -> float:
        V = total_drift(u, trace.updated)
        drift = 0.0 if V == 0.0 else c * V
        return b * _first_norm(u, trace) ** 2 + drift + float((scores[trace.updated] ** 2).sum())

    return _mean(traces, comparison), _mean(traces, lambda trace: _walk(rows[trace.updated], b, c)[0])


def _log_volume(rows: np.ndarray, b: float, c: float) -> float:
    """Ln |D_m / b| after these updates."""
    return _walk(rows, b, c)[1]


def _walk(rows: np.ndarray, b: float, c: float) -> tuple[float, float]:
    """The sum of x' D_k^-1 x over updates, and ln |D_m / b|, by the recursion Q = D^-1 + I/c."""
    d = rows.shape[1]
    Q, inverse, spread = np.eye(d) / b, np.eye(d) / b, 0.0
    for x in rows:
        g = Q @ x
        q = float(x @ g)
        spread += q / (1.0 + q)
        inverse = Q - np.outer(g, g) / (1.0 + q)
        Q = inverse + np.eye(d) / c
    return spread, -float(np.linalg.slogdet(inverse * b)[1])
