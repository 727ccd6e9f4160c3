"""The setting of a theorem: stream, comparator and traces, validated, and the quantities that the theorems share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...engine.inputs.instance_checks import check_instances
from ...engine.inputs.two_labels import signs_of
from ...errors import InputError
from ...linalg.rows import DenseRows
from ...trace.trace import Trace
from ...validation import check_positive

Traces = Iterable[Trace] | None


class TheoremCase:
    """The stream, the comparator and the traces of a theorem, validated."""

    def __init__(self, owner: str, X: Any, y: Any, u: Any, gamma: float = 1.0, traces: Any = None) -> None:
        rows = check_instances(owner, X)
        self.owner = owner
        self.X = rows.X if isinstance(rows, DenseRows) else sp.csr_matrix(X, dtype=float)
        self.n, self.d = self.X.shape
        self.y = None if y is None else signs_of(owner, y, self.n)[0]
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
        """Hinge loss of every round."""
        assert self.y is not None
        losses: np.ndarray = np.maximum(0.0, self.gamma - self.y * self.scores)
        return losses

    @property
    def loss(self) -> float:
        """The summed hinge loss: L-bar, the mean over traces of the sum over updates, or L without traces."""
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
        """Mean of a value over the traces."""
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
        """sqrt(above / below): the tuning that minimises a bound of the form above / t + below t."""
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
            found_rounds = f"{trace.rounds} rounds for {n} instances"
            got = "counts only; run with trace=True" if trace.rounds == n else found_rounds
            raise InputError(f"a trace must have all rounds of these instances, got {got}.", owner=owner)
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
        Margin the comparator should reach.
    """
    return TheoremCase("hinge_losses", X, y, u, gamma).losses


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
        Margin the comparator should reach.
    """
    return float(TheoremCase("hinge_loss", X, y, u, gamma).losses.sum())


def total_drift(u: Any, updated: Any = None) -> float:
    """V: squared distances between successive comparators, over the rounds of updates (all rounds without them).

    Parameters
    ----------
    u : array
        A comparator: one vector, or a row for every round where the theorem allows for drift.
    updated : array of bool, optional
        Rounds in which the learner was updated.
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


def log_volume(rows: np.ndarray, b: float, c: float) -> float:
    """Log determinant of D_m / b after these updates."""
    if math.isinf(c):  # |I + X'X/b| = |I + XX'/b|: the smaller of the two
        small = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
        return float(np.linalg.slogdet(np.eye(len(small)) + small / b)[1])
    return quadratic_sum(rows, b, c)[1]


def quadratic_sum(rows: np.ndarray, b: float, c: float) -> tuple[float, float]:
    """Sum of x' D_k^-1 x over updates, and the log determinant of D_m / b, by the recursion Q = D^-1 + I/c."""
    d = rows.shape[1]
    Q, inverse, spread = np.eye(d) / b, np.eye(d) / b, 0.0
    for x in rows:
        g = Q @ x
        q = float(x @ g)
        spread += q / (1.0 + q)
        inverse = Q - np.outer(g, g) / (1.0 + q)
        Q = inverse + np.eye(d) / c
    return spread, -float(np.linalg.slogdet(inverse * b)[1])
