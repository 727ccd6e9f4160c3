"""scikit-learn: models that are fitted again whenever their labels have grown by 15 %, and ask by margin."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..askers import ByMargin
from ..contract import Method, Stream, Task, dense_only

FIRST, GROWTH, AHEAD = 5, 1.15, 500


class Refitted:
    """A model of all labels that have come so far. Probabilities are computed for some rounds ahead, as they stay."""

    def __init__(self, stream: Stream, X: Any, build: Any) -> None:
        self.X, self.build = X, build
        self.told, self.labels = list[int](), list[int]()
        self.due, self.model = float(FIRST), None
        self.equal, self.begin, self.block = np.full(stream.k, 1.0 / stream.k), 0, np.zeros((0, stream.k))

    def chances(self, t: int) -> np.ndarray:
        """The probability of every class; those that the model does not know have none."""
        if self.model is None:
            return self.equal
        if not self.begin <= t < self.begin + len(self.block):
            rows = self.X[t : t + AHEAD]
            self.begin, self.block = t, np.zeros((rows.shape[0], len(self.equal)))
            self.block[:, self.model.classes_] = self.model.predict_proba(rows)
        return np.asarray(self.block[t - self.begin])

    def learn(self, t: int, c: int) -> None:
        """One label; it may be time to fit again."""
        self.told.append(t)
        self.labels.append(c)
        if len(self.told) >= self.due and len(set(self.labels)) > 1:
            self.model, self.due = self.build().fit(self.X[self.told], self.labels), GROWTH * len(self.told)
            self.block = self.block[:0]


def logistic(stream: Stream, task: Task) -> ByMargin:
    """The setting is C."""
    from sklearn.linear_model import LogisticRegression

    build = partial(LogisticRegression, C=task.setting, max_iter=300)
    return ByMargin(Refitted(stream, stream.prepared, build), stream, task)


def boosting(stream: Stream, task: Task) -> ByMargin:
    """The setting is how many labels a leaf has at least."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    build = partial(
        HistGradientBoostingClassifier, min_samples_leaf=task.setting, early_stopping=False, random_state=task.seed
    )
    return ByMargin(Refitted(stream, stream.dense, build), stream, task)


SKLEARN = ("sklearn",)
METHODS = [
    Method("refitted logistic regression", "scikit-learn", logistic, SKLEARN, (1.0, 10.0, 100.0)),
    Method("refitted gradient boosting", "scikit-learn", boosting, SKLEARN, (5, 20), refuses=dense_only),
]
