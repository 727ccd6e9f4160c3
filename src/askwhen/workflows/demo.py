"""What ``askwhen demo`` plays: a pile that is labelled with few errors, beside fixed budgets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..evaluate import Progress, PromiseHistory, accuracy, progressive
from ..evaluate.estimation.promise_history import rows_until_next
from ..rules import BudgetRule, FixedRate, PromiseRule
from ..sampler import Sampler
from ..trace.trace import Trace, join

ROWS, FEATURES, SHARPNESS = 10_000, 10, 8.0
ERROR, BUDGET, SEED = 0.05, 0.1, 7


class Way(NamedTuple):
    """A way to label the pile.

    Attributes
    ----------
    name : str
        How labels were asked for.
    questions : int
        Number of labels asked for; all others are predictions.
    wrong : float
        The share of wrong labels in the whole pile.
    at_most : float
        The largest share of wrong labels, as far as the labels that were asked for say: with 95 % confidence.
    over_time : array of float
        The share of wrong labels after each chunk of ``PromiseHistory.rounds``.
    """

    name: str
    questions: int
    wrong: float
    at_most: float
    over_time: np.ndarray


@dataclass(frozen=True, eq=False)
class Demonstration:
    """The results: the ways, the promise first, and its run."""

    ways: list[Way]
    sampler: Sampler
    progress: Progress
    trace: Trace

    @property
    def history(self) -> PromiseHistory:
        """How the promise stood over time."""
        assert self.progress.promise is not None
        return self.progress.promise


def pile() -> tuple[np.ndarray, np.ndarray]:
    """The pile: Gaussian rows, and labels that are the less certain the nearer a row is to the boundary."""
    rng = np.random.default_rng(SEED)
    X, u = rng.standard_normal((ROWS, FEATURES)), rng.standard_normal(FEATURES)
    chances = 1.0 / (1.0 + np.exp(-SHARPNESS * (X @ u) / np.linalg.norm(u)))
    return X, np.where(rng.random(ROWS) < chances, 1, -1)


def in_chunks(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """A pile in chunks, small enough for a curve of what is promised."""
    at = 0
    while at < len(y):
        end = at + rows_until_next(at)
        yield X[at:end], y[at:end]
        at = end


def promised(X: np.ndarray, y: np.ndarray) -> Demonstration:
    """Label the pile with few errors."""
    sampler, traces = Sampler(rule=PromiseRule(ERROR, length=len(y)), seed=SEED), list[Trace]()
    progress = progressive(sampler, in_chunks(X, y), watch=traces.append)
    history, trace = progress.promise, join(traces)
    assert history is not None
    wrong = history.wrong / history.delivered
    way = Way(
        f"at most {100 * ERROR:g} % errors", trace.questions, float(wrong[-1]), float(history.certified[-1]), wrong
    )
    return Demonstration([way], sampler, progress, trace)


def budgeted(name: str, rule: Any, X: np.ndarray, y: np.ndarray, rounds: np.ndarray) -> Way:
    """Label the pile with a fixed number of labels, and predict the rest."""
    sampler = Sampler(rule=rule, seed=SEED)
    trace = sampler.run(X, y)
    wrong = np.cumsum(trace.mistaken & ~trace.queried)
    most = (1.0 - accuracy(sampler).overall.low) * len(y) - int((trace.mistaken & trace.queried).sum())
    return Way(name, trace.questions, float(wrong[-1]) / len(y), max(most, 0.0) / len(y), wrong[rounds - 1] / rounds)


def budgets(found: Demonstration, X: np.ndarray, y: np.ndarray) -> list[Way]:
    """The other ways: one label in ten, by the default and at random, and at random as many as the promise took."""
    rounds, asked = found.history.rounds, found.ways[0].questions
    return [
        budgeted("one label in ten", BudgetRule(BUDGET), X, y, rounds),
        budgeted("one label in ten, at random", FixedRate(BUDGET), X, y, rounds),
        budgeted("as many labels as the promise, at random", FixedRate(asked / len(y)), X, y, rounds),
    ]
