"""What simple rules would have come to on the same stream, so that an accuracy has something to stand beside.

==================  ====================================================================================
majority so far     says the label that was more frequent in all rounds before this one, asked or not
mean so far         the same for a regressor: the mean of all labels before this round
last label told     says the label that the sampler was told last
all labels          the same learner, told every label (on request)
==================  ====================================================================================

All are played online, as the sampler is: no rule knows the label of its own round or of a later one. Where nothing is
known yet, and in a tie, they say -1, as a sampler does; for a regressor, 0.
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


def labels_of(trace: Trace) -> np.ndarray:
    """The labels of all rounds of a classifier, -1 and +1: a prediction and whether it was wrong give them away."""
    return np.where(trace.mistaken, -trace.prediction, trace.prediction).astype(float)


class Numbered:
    """The labels of a stream by number: classes that are known first, then whatever comes, as it comes."""

    def __init__(self, classes: Iterable[Any]) -> None:
        self.labels = list(classes)
        self._places = {label: k for k, label in enumerate(self.labels)}

    def numbers(self, y: Any) -> np.ndarray:
        """The numbers of these labels; -1 where there is none."""
        found = np.full(len(y), -1)
        for i, label in enumerate(np.asarray(y).tolist()):
            if label is not None:
                found[i] = self._places.setdefault(label, len(self.labels))
                if found[i] == len(self.labels):
                    self.labels.append(label)
        return found


class SimpleClasses:
    """The simple rules for classes by number, chunk after chunk; in a tie, and at first, they say the first class."""

    def __init__(self) -> None:
        self._counts = np.zeros(1, np.int64)
        self._told = 0.0

    def scores(self, y: np.ndarray, queried: np.ndarray) -> dict[str, np.ndarray]:
        """For each rule and each of the next rounds, whether it was right; as ``Simple.scores``."""
        said, last = np.zeros(len(y)), np.zeros(len(y))
        new = max(int(y.max(initial=0.0)) + 1 - len(self._counts), 0)
        self._counts = np.concatenate([self._counts, np.zeros(new, np.int64)])
        for i, (label, asked) in enumerate(zip(y.tolist(), queried.tolist(), strict=True)):
            said[i], last[i] = self._counts.argmax(), self._told
            self._counts[int(label)] += 1
            self._told = label if asked else self._told
        return {MAJORITY: said == y, LAST: last == y}


class Simple:
    """The simple rules of one task, chunk after chunk; all that is kept are three numbers."""

    def __init__(self, regression: bool) -> None:
        self._regression = regression
        self._rounds = 0
        self._sum = 0.0
        self._told = 0.0 if regression else -1.0

    def scores(self, y: np.ndarray, queried: np.ndarray) -> dict[str, np.ndarray]:
        """For each rule and each of the next rounds, whether it was right; the squared error of a regressor.

        Parameters
        ----------
        y : array of float
            The labels.
        queried : array of bool
            Whether the sampler asked for them.
        """
        n, asked = len(y), np.flatnonzero(queried)
        told = np.append(self._told, y[asked])
        last = np.repeat(told, np.diff(asked + 1, prepend=0, append=n))  # each label until the next one is told
        sums = np.append(self._sum, self._sum + np.cumsum(y))
        if self._regression:
            mean = sums[:n] / np.maximum(np.arange(self._rounds, self._rounds + n), 1)
            found = {MEAN: (mean - y) ** 2, LAST: (last - y) ** 2}
        else:
            found = {MAJORITY: (sums[:n] > 0) == (y > 0), LAST: last == y}
        self._rounds, self._sum, self._told = self._rounds + n, float(sums[n]), float(told[-1])
        return found


def told_everything(owner: str, sampler: Sampler) -> Sampler:
    """A sampler of the same parts and seed that asks for every label."""
    if sampler.round or sampler.tasks:
        raise InputError(
            f"everything=True needs a sampler that has played no round, since nobody can tell it the labels "
            f"of earlier ones; this one has played {sampler.round or sampler.tasks[0].round}.",
            owner=owner,
        )
    classes = None if sampler.engine.classes is None else "open" if sampler.engine.most else sampler.classes
    return Sampler(sampler.learner, Always(), sampler.drift, sampler.prepare, seed=sampler.seed, classes=classes)
