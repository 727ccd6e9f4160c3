"""Simple rules played on the same stream, as baselines for the accuracy of a sampler.

==================  ====================================================================================
majority so far     predicts the most frequent label of all earlier rounds, whether it was asked for or not
mean so far         the same for a regressor: predicts the mean of all earlier labels
last label told     predicts the last label that the sampler was given
all labels          the same learner, given every label (only with ``everything=True``)
==================  ====================================================================================

All are played online, as the sampler is: no rule knows the label of its own round or of a later one. Before the first
label, and in a tie, they predict -1, as a sampler does; for a regressor, 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InputError
from ...rules import Always
from ...sampler import Sampler
from ...trace.trace import Trace

MAJORITY, MEAN, LAST, EVERYTHING = "majority so far", "mean so far", "last label told", "all labels"
WITHOUT_ADVICE = "without advice"


def labels_of(trace: Trace) -> np.ndarray:
    """Labels -1 and +1 of all rounds of a classifier, from its predictions and which of them were wrong."""
    return np.where(trace.mistaken, -trace.signs, trace.signs).astype(float)


class LabelNumbering:
    """Numbers the labels of a stream: the known classes first, then new labels in the order of their appearance."""

    def __init__(self, classes: Iterable[Any]) -> None:
        self.labels = list(classes)
        self._places = {label: k for k, label in enumerate(self.labels)}

    def numbers(self, y: Any) -> np.ndarray:
        """Numbers of these labels; -1 for None."""
        found = np.full(len(y), -1)
        for i, label in enumerate(np.asarray(y).tolist()):
            if label is not None:
                found[i] = self._places.setdefault(label, len(self.labels))
                if found[i] == len(self.labels):
                    self.labels.append(label)
        return found


class ClassBaselines:
    """The simple rules for classes by number, chunk by chunk; at first, and in a tie, they predict the first class."""

    def __init__(self) -> None:
        self._counts = np.zeros(1, np.int64)
        self._last = 0.0

    def scores(self, y: np.ndarray, queried: np.ndarray) -> dict[str, np.ndarray]:
        """Whether each rule was right, in each of the next rounds; as ``TaskBaselines.scores``."""
        majority, last = np.zeros(len(y)), np.zeros(len(y))
        new = max(int(y.max(initial=0.0)) + 1 - len(self._counts), 0)
        self._counts = np.concatenate([self._counts, np.zeros(new, np.int64)])
        for i, (label, asked) in enumerate(zip(y.tolist(), queried.tolist(), strict=True)):
            majority[i], last[i] = self._counts.argmax(), self._last
            self._counts[int(label)] += 1
            self._last = label if asked else self._last
        return {MAJORITY: majority == y, LAST: last == y}


class TaskBaselines:
    """The simple rules for one task of two labels or numbers, chunk by chunk, in constant memory."""

    def __init__(self, regression: bool) -> None:
        self._regression = regression
        self._rounds = 0
        self._sum = 0.0
        self._last = 0.0 if regression else -1.0

    def scores(self, y: np.ndarray, queried: np.ndarray) -> dict[str, np.ndarray]:
        """Whether each rule was right, in each of the next rounds; its squared error for a regressor.

        Parameters
        ----------
        y : array of float
            The labels.
        queried : array of bool
            Whether the sampler asked for them.
        """
        n, asked = len(y), np.flatnonzero(queried)
        given = np.append(self._last, y[asked])
        last = np.repeat(given, np.diff(asked + 1, prepend=0, append=n))  # each label until the next one is given
        sums = np.append(self._sum, self._sum + np.cumsum(y))
        if self._regression:
            mean = sums[:n] / np.maximum(np.arange(self._rounds, self._rounds + n), 1)
            found = {MEAN: (mean - y) ** 2, LAST: (last - y) ** 2}
        else:
            found = {MAJORITY: (sums[:n] > 0) == (y > 0), LAST: last == y}
        self._rounds, self._sum, self._last = self._rounds + n, float(sums[n]), float(given[-1])
        return found


def fully_labelled(owner: str, sampler: Sampler) -> Sampler:
    """A new sampler with the same parts and seed that asks for every label."""
    if sampler.round or sampler.tasks:
        raise InputError(
            f"everything=True needs a sampler that has played no round, since the labels of earlier rounds are "
            f"unknown; this one has played {sampler.round or sampler.tasks[0].round}.",
            owner=owner,
        )
    classes = None if sampler.engine.classes is None else "open" if sampler.engine.most else sampler.classes
    pair = sampler.engine.pair
    labels = (pair.negative, pair.positive) if pair.known == 2 else None
    parts = (sampler.learner, Always(), sampler.drift, sampler.prepare)
    kept = sampler.engine.advisers
    advisers = None if kept is None else "any" if kept.is_open else list(kept.names)
    return Sampler(*parts, seed=sampler.seed, classes=classes, labels=labels, advisers=advisers)
