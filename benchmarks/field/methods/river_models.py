"""river: its models under its EntropySampler.

The linear ones are river's formulas, compiled (``class_peers.py`` compares them with river itself); the forests are
river's own, under the same formula of entropy.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from class_peers import Linear, Prepared

from ..askers import ByEntropy
from ..contract import Method, Stream, Task, dense_only

KNOBS = (1e-5, 1e2)
PLAIN = (-0.3, -1.0, -3.0, -10.0)
ADAGRAD = (0.1, 0.3, 1.0, 3.0)
"""Learning rates, which a minus marks as those of plain gradient steps; instances have about unit length."""


PATIENCE = (10, 50)
"""How many labels a leaf sees between two looks for a split."""


class LinearModel:
    """A linear model of ``class_peers``; a label that comes late is learned with the weights of that moment."""

    def __init__(self, stream: Stream, rate: float, softmax: bool) -> None:
        self.model = Linear(Prepared(stream.prepared, stream.y, stream.k), rate, softmax)
        self.chances = self.model.chances

    def learn(self, t: int, c: int) -> None:
        """One step on the instance of round t."""
        self.model.chances(t)
        self.model.learn(t, c)


def linear(stream: Stream, task: Task) -> ByEntropy:
    """Logistic regression, one for each class."""
    return ByEntropy(LinearModel(stream, task.setting, False), stream, task)


class Ensemble:
    """Trees of river."""

    def __init__(self, stream: Stream, model: Any) -> None:
        self.stream, self.model, self.known = stream, model, set[int]()
        self.equal = np.full(stream.k, 1.0 / stream.k)

    def chances(self, t: int) -> np.ndarray:
        """Its probabilities, or all equal as long as it knows fewer than two classes."""
        found = self.model.predict_proba_one(self.row(t)) if len(self.known) > 1 else {}
        p = np.zeros(self.stream.k)
        for c, value in found.items():
            p[c] = value
        total = p.sum()
        return p / total if total > 0.0 else self.equal

    def learn(self, t: int, c: int) -> None:
        """One label."""
        self.known.add(c)
        self.model.learn_one(self.row(t), c)

    def row(self, t: int) -> dict[int, float]:
        """The instance with its zeros: trees take what is not there as unknown, and learn nothing from it."""
        return dict(enumerate(self.stream.dense[t].tolist()))


def forest(which: str, stream: Stream, task: Task) -> ByEntropy:
    """Ten trees; the setting is their patience."""
    from river.ensemble import LeveragingBaggingClassifier
    from river.forest import ARFClassifier
    from river.tree import HoeffdingTreeClassifier

    if which == "bagging":
        tree = HoeffdingTreeClassifier(grace_period=task.setting)
        return ByEntropy(Ensemble(stream, LeveragingBaggingClassifier(tree, 10, seed=task.seed)), stream, task)
    return ByEntropy(Ensemble(stream, ARFClassifier(10, grace_period=task.setting, seed=task.seed)), stream, task)


RIVER = ("river",)
METHODS = [
    Method("river, logistic regression", "river", linear, RIVER, PLAIN, KNOBS, "late"),
    Method("river, AdaGrad", "river", linear, RIVER, ADAGRAD, KNOBS, "late"),
    Method(
        "river, adaptive random forest",
        "river",
        partial(forest, "forest"),
        RIVER,
        PATIENCE,
        KNOBS,
        "always",
        dense_only,
    ),
    Method(
        "river, leveraging bagging", "river", partial(forest, "bagging"), RIVER, PATIENCE, KNOBS, "always", dense_only
    ),
]
