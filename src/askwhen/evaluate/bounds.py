"""The papers' theorems as functions: how many mistakes an algorithm can make, at most or on average.

From Cesa-Bianchi, Gentile, Zaniboni 2006; Moroshko, Crammer 2014; "Batch learning via online prediction".

==========  ==========================================================
u           a comparator: one vector, or a row for every round
gamma       the margin that it should reach
loss        hinge losses max(0, gamma - y u.x), summed over all rounds (L), or over the rounds of updates (L-bar)
V           total drift: squared distances between the comparators of successive updates, summed
M, Z        whether a round is mistaken, and whether it is asked about; M Z = 1 is an update
==========  ==========================================================

Where a theorem holds an expectation over the coins, its function takes ``traces``, of runs with different seeds, and
puts means in its place. Without traces every round counts as an update, which only makes the bound larger.

X and y are the instances as the learner saw them and their labels -1 and +1; traces are those of runs over exactly
these rows, with all their rounds (``trace=True``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.inputs.argument_checks import check_labels
from ..engine.inputs.instance_checks import check_instances
from ..errors import InputError
from ..linalg.rows import DenseRows
from ..trace.trace import Trace
from ..validation import check_count, check_number, check_positive

Traces = Iterable[Trace] | None


def progressive_validation(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """Upper bound on the error of a uniformly picked hypothesis; it fails with probability delta.

    "Batch learning via online prediction", Proposition 2.

    From the mistakes that were made in n rounds of predicting before learning, on independent examples.

    Parameters
    ----------
    mistakes : int or array of int
        How many mistakes were made.
    rounds : int
        In how many rounds, or on how many examples.
    delta : float, default 0.05
        The probability with which the bound may fail.
    """
    return _validated("progressive_validation", mistakes, rounds, delta)


def hold_out(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """Upper bound on the error of a classifier; it fails with probability delta.

    "Batch learning via online prediction", Proposition 1.

    From its mistakes on so many examples that it was not made with.

    Parameters
    ----------
    mistakes : int or array of int
        How many mistakes were made.
    rounds : int
        In how many rounds, or on how many examples.
    delta : float, default 0.05
        The probability with which the bound may fail.
    """
    return _validated("hold_out", mistakes, rounds, delta)


def _validated(owner: str, mistakes: Any, rounds: int, delta: float) -> Any:
    check_number(owner, "delta", delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count(owner, "rounds", rounds)
    try:
        found = np.asarray(mistakes, float)
    except (TypeError, ValueError):
        found = np.array(math.nan)
    if found.size == 0 or not ((found >= 0) & (found <= rounds)).all():
        raise InputError(f"mistakes must be between 0 and the rounds, {rounds}, got {mistakes!r}.", owner=owner)
    return (float(found) if found.ndim == 0 else found) / rounds + math.sqrt(math.log(1 / delta) / (2 * rounds))


class _Case:
    """The stream, the comparator and the traces that a theorem is about, checked."""

    def __init__(self, owner: str, X: Any, y: Any, u: Any, gamma: float = 1.0, traces: Any = None) -> None:
        rows = check_instances(owner, X)
        self.owner = owner
        self.X = rows.X if isinstance(rows, DenseRows) else sp.csr_matrix(X, dtype=float)
        self.n, self.d = self.X.shape
        self.y = None if y is None else check_labels(owner, y, self.n, False)
        self.u = _checked_u(owner, u, self.n, self.d)
        check_positive(owner, "gamma", gamma)
        self.gamma = gamma
        values = self.X.data if sp.issparse(self.X) else self.X
        if not np.isfinite(values).all():
            raise InputError("X must hold finite numbers only.", owner=owner)
        self.traces = None if traces is None else _checked_traces(owner, traces, self.n)

    @property
    def scores(self) -> np.ndarray:
        """u.x of every round."""
        if self.u.ndim == 1:
            return np.asarray(self.X @ self.u, float)
        products = self.X.multiply(self.u) if sp.issparse(self.X) else self.X * self.u
        return np.asarray(products.sum(axis=1), float).ravel()

    @property
    def losses(self) -> np.ndarray:
        """Hinge losses of every round."""
        assert self.y is not None
        losses: np.ndarray = np.maximum(0.0, self.gamma - self.y * self.scores)
        return losses

    @property
    def loss(self) -> float:
        """L-bar, or L without traces."""
        losses = self.losses
        return float(losses.sum()) if self.traces is None else self.mean(lambda trace: losses[trace.updated].sum())

    @property
    def norm(self) -> float:
        """|u|."""
        if self.u.ndim != 1:
            raise InputError("this theorem compares with one vector u, got a sequence.", owner=self.owner)
        return float(np.linalg.norm(self.u))

    def largest(self, order: float = 2.0) -> float:
        """The largest norm of an instance."""
        if not sp.issparse(self.X):
            return float(np.linalg.norm(self.X, order, axis=1).max())
        sizes = abs(self.X).max(axis=1).toarray() if order == math.inf else np.sqrt(self.X.multiply(self.X).sum(axis=1))
        return float(np.max(sizes))

    def mean(self, value: Callable[[Trace], Any]) -> float:
        """The mean over the traces."""
        return float(np.mean([value(trace) for trace in self.traces or []]))

    def updated(self, trace: Trace | None) -> np.ndarray:
        """The instances of a run's updates, or all of them."""
        rows = self.X if trace is None else self.X[np.flatnonzero(trace.updated)]
        found: np.ndarray = np.asarray(rows.toarray() if sp.issparse(rows) else rows, float)
        return found

    def first_norm(self, trace: Trace) -> float:
        """The norm of the comparator of the first update."""
        if self.u.ndim == 1:
            return float(np.linalg.norm(self.u))
        return float(np.linalg.norm(self.u[np.argmax(trace.updated)])) if trace.updated.any() else 0.0

    def best(self, above: float, below: float) -> float:
        """sqrt(above / below), for a tuning that this minimises."""
        if not below > 0.0:
            raise InputError("there is no best value where u or all instances are 0.", owner=self.owner)
        return math.sqrt(above / below)


def _checked_u(owner: str, u: Any, n: int, d: int) -> np.ndarray:
    found: np.ndarray = np.asarray(u, float)
    if found.shape not in ((d,), (n, d)):
        raise InputError(f"u must be one vector of {d} or one for each round, got shape {found.shape}.", owner=owner)
    if not np.isfinite(found).all():
        raise InputError("u must hold finite numbers only.", owner=owner)
    return found


def _checked_traces(owner: str, traces: Any, n: int) -> list[Trace]:
    if isinstance(traces, Trace) or not isinstance(traces, Iterable):
        raise InputError(f"traces must be a list of traces, got {type(traces).__name__}.", owner=owner)
    found = list(traces)
    if not found:
        raise InputError("traces must hold at least one run.", owner=owner)
    for trace in found:
        if not isinstance(trace, Trace):
            raise InputError(f"traces must be traces of runs, got {type(trace).__name__}.", owner=owner)
        if len(trace.updated) != n:
            had = (
                "counts only; run with trace=True" if trace.rounds == n else f"{trace.rounds} rounds for {n} instances"
            )
            raise InputError(f"a trace must have all rounds of these instances, got {had}.", owner=owner)
    return found


def hinge_losses(X: Any, y: Any, u: Any, gamma: float = 1.0) -> np.ndarray:
    """max(0, gamma - y u.x) of every round.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    return _Case("hinge_losses", X, y, u, gamma).losses


def hinge_loss(X: Any, y: Any, u: Any, gamma: float = 1.0) -> float:
    """The hinge loss of a comparator, or of a drifting sequence of them, over all rounds.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    return float(_Case("hinge_loss", X, y, u, gamma).losses.sum())


def total_drift(u: Any, updated: Any = None) -> float:
    """V: squared distances between successive comparators, over the rounds of updates (all rounds without them).

    Parameters
    ----------
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    updated : array of bool, optional
        In which rounds the learner moved.
    """
    u = np.atleast_2d(np.asarray(u, float))
    if updated is not None and len(u) > 1:
        updated = np.asarray(updated, bool)
        if updated.shape != (len(u),):
            raise InputError(
                f"updated must have {len(u)} entries as u, got shape {updated.shape}.", owner="total_drift"
            )
        u = u[updated]
    return float((np.diff(u, axis=0) ** 2).sum())


def expected_questions(traces: Iterable[Trace]) -> float:
    """The mean over traces of the summed probabilities of asking.

    Parameters
    ----------
    traces : iterable of Trace
        Runs with every probability known.
    """
    traces = [] if isinstance(traces, Trace) else list(traces)
    if not traces:
        raise InputError("traces must be a list of at least one trace.", owner="expected_questions")
    if any(len(trace.probability) != trace.rounds or np.isnan(trace.probability).any() for trace in traces):
        raise InputError(
            "every probability must be known; run with trace=True and margins=True.", owner="expected_questions"
        )
    return float(np.mean([trace.probability.sum() for trace in traces]))


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
        The letter b of the algorithm.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    check_positive("sel_p", "b", b)
    case = _Case("sel_p", X, y, u, gamma, traces)
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
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    case = _Case("sel_p_b", X, y, u, gamma, traces)
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
        The letter beta, the scale of asking.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    check_number("sel_ada", "beta", beta, "a positive number, perhaps infinity", 0.0)
    case = _Case("sel_ada", X, y, u, gamma, traces)
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
        The letter b of the algorithm.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    check_positive("sel_2nd", "b", b)
    case = _Case("sel_2nd", X, y, u, gamma, traces)
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
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    case = _Case("sel_2nd_b", X, None, u, gamma, traces)
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
        The margin that the comparator should reach.
    traces : iterable of Trace, optional
        Runs over exactly these rows with different seeds; without, every round counts as an update, which only
        makes the bound larger.
    """
    check_number("sel_winnow", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    case = _Case("sel_winnow", X, y, u, gamma, traces)
    if case.u.ndim != 1 or (case.u < 0).any() or abs(case.u.sum() - 1) > 1e-9:
        raise InputError("u must be one vector of the probability simplex.", owner="sel_winnow")
    size = case.largest(math.inf)
    return case.loss / (alpha * gamma) + size**2 * math.log(case.d) / (2 * alpha * (1 - alpha) * gamma**2)


def sel_winnow_tuning(X: Any, alpha: float, gamma: float = 1.0) -> dict[str, float]:
    """The letters eta and b for which :func:`sel_winnow` holds.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    alpha : float
        A number strictly between 0 and 1, which the theorem leaves free.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    check_number("sel_winnow_tuning", "alpha", alpha, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    case = _Case("sel_winnow_tuning", X, None, np.zeros(np.shape(X)[1]), gamma)
    size = case.largest(math.inf)
    return {"eta": 2 * (1 - alpha) * gamma * case.best(1.0, size**4), "b": alpha * gamma}


def lasec(X: Any, y: Any, u: Any, b: float, c: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, always asked, in this very run: Moroshko, Crammer 2014, Theorem 2.

    Parameters
    ----------
    X : array or CSR
        The instances as the learner saw them.
    y : array
        Their labels, -1 and +1.
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    b : float
        The letter b of the algorithm.
    c : float
        The letter c, the drift level; perhaps infinity.
    trace : Trace
        The run over exactly these rows.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    case = _Case("lasec", X, y, u, gamma, [trace])
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
        The letter b of the algorithm.
    c : float
        The letter c, the drift level; perhaps infinity.
    a : float
        The letter a, the scale of asking.
    traces : iterable of Trace
        Runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    check_positive("lasec_ss", "a", a)
    case = _Case("lasec_ss", X, y, u, gamma, traces)
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
        The letter b of the algorithm.
    c : float
        The letter c, the drift level; perhaps infinity.
    traces : iterable of Trace
        Runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    case = _Case("lasec_ss_a", X, None, u, gamma, traces)
    comparison, spread = _drifting(case, b, c)
    return gamma * case.best(spread, comparison)


def corollary_c(T: int, d: int, X: float, V: float) -> float:
    """The drift level that Corollaries 8 and 9 set for total drift V: (sqrt(2) T d X / V)^(2/3).

    Moroshko, Crammer 2014. X is the largest norm of an instance, here and in :func:`corollary_holds`.

    Parameters
    ----------
    T : int
        How many rounds.
    d : int
        How many features.
    X : float
        The largest norm of an instance.
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
        How many rounds.
    d : int
        How many features.
    X : float
        The largest norm of an instance.
    V : float
        Total drift: at least that of the comparators over the updates.
    b : float
        The letter b of the algorithm.
    """
    for name, value in (("T", T), ("d", d), ("X", X), ("b", b)):
        check_positive("corollary_holds", name, value)
    mu = max(9 / 8 * X**2, (b + X**2) ** 2 / (8 * X**2))
    return bool(T * math.sqrt(2) * d * X / mu**1.5 >= V)


def corollary_8(X: Any, y: Any, u: Any, V: float, epsilon: float, trace: Trace, gamma: float = 1.0) -> float:
    """Mistakes of LASEC, run with c = corollary_c(T, d, X, V) and b = epsilon c, in this very run.

    Moroshko, Crammer 2014, Corollary 8. V must be at least the drift over the run's updates; one has
    to guess it before the run, to set c.

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
        The margin that the comparator should reach.
    """
    case = _Case("corollary_8", X, y, u, gamma, [trace])
    size, c = _corollary(case, V, epsilon)
    T, d, b = case.n, case.d, epsilon * c
    A = b * case.first_norm(trace) ** 2 + (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    A += float((case.scores[trace.updated] ** 2).sum())
    B = _log_volume(case.updated(trace), b, c) + epsilon / (1 - epsilon) * d
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
        The letter a, the scale of asking.
    traces : iterable of Trace
        Runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    check_positive("corollary_9", "a", a)
    case = _Case("corollary_9", X, y, u, gamma, traces)
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
        Runs over exactly these rows with different seeds.
    gamma : float, default 1.0
        The margin that the comparator should reach.
    """
    case = _Case("corollary_9_a", X, None, u, gamma, traces)
    comparison, spread = _corollary_9(case, V, epsilon)
    return gamma * case.best(spread, comparison)


def _corollary_9(case: _Case, V: float, epsilon: float) -> tuple[float, float]:
    size, c = _corollary(case, V, epsilon)
    T, d, b, scores = case.n, case.d, epsilon * c, case.scores
    comparison = case.mean(lambda trace: b * case.first_norm(trace) ** 2 + (scores[trace.updated] ** 2).sum())
    comparison += (math.sqrt(2) * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)
    spread = case.mean(lambda trace: _log_volume(case.updated(trace), b, c)) + epsilon / (1 - epsilon) * d
    return comparison, spread + (4 * d * size) ** (2 / 3) * T ** (2 / 3) * V ** (1 / 3)


def _corollary(case: _Case, V: float, epsilon: float) -> tuple[float, float]:
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


def _second_order(case: _Case) -> tuple[float, float]:
    """U' E[A_n] u and E ln |A_n|."""
    scores, norm = case.scores, case.norm
    if case.traces is None:
        return norm**2 + float((scores**2).sum()), _log_volume(case.updated(None), 1.0, math.inf)
    stretch = norm**2 + case.mean(lambda trace: (scores[trace.updated] ** 2).sum())
    return stretch, case.mean(lambda trace: _log_volume(case.updated(trace), 1.0, math.inf))


def _drifting(case: _Case, b: float, c: float) -> tuple[float, float]:
    """B |u_1|^2 + c V + sum of (u.x)^2, and the sum of x' D^-1 x, over updates, in the mean over traces."""
    check_positive(case.owner, "b", b)
    check_number(case.owner, "c", c, "a number above b, perhaps infinity", float(b))
    scores = case.scores

    def comparison(trace: Trace) -> float:
        V = total_drift(case.u, trace.updated)
        drift = 0.0 if V == 0.0 else c * V
        return b * case.first_norm(trace) ** 2 + drift + float((scores[trace.updated] ** 2).sum())

    return case.mean(comparison), case.mean(lambda trace: _walk(case.updated(trace), b, c)[0])


def _log_volume(rows: np.ndarray, b: float, c: float) -> float:
    """Ln |D_m / b| after these updates."""
    if math.isinf(c):  # |I + X'X/b| = |I + XX'/b|: the smaller of the two
        small = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
        return float(np.linalg.slogdet(np.eye(len(small)) + small / b)[1])
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
