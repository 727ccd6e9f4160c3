"""What a comparison plays: every algorithm at a share of labels, tuned to it, again and again over one stream."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...algorithms import Algorithm
from ...errors import InputError
from ...prepare import Prepare
from ...sampler import Sampler
from .baselines import Numbered, Simple, SimpleClasses, labels_of, told_everything
from .rate_matching import matched

WINDOWS, SMALLEST = 50, 50
"""Unless somebody chooses: at most so many windows, and none of fewer rounds."""


class Plan(NamedTuple):
    """An algorithm at a share of labels, or told everything for a baseline."""

    algorithm: Algorithm
    share: float
    everything: bool = False

    @property
    def name(self) -> str:
        """What a progress bar shows."""
        return f"{self.algorithm.name} at {self.share:.3g}"


class Result(NamedTuple):
    """What came of one run: over all rounds and in each window; ``simple`` has the accuracies of simple rules."""

    asked: float
    accuracy: float
    windows: np.ndarray
    seconds: float
    simple: dict[str, tuple[float, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Work:
    """A stream, and what is done with every algorithm on it."""

    X: Any
    y: np.ndarray
    prepare: Prepare | None
    shuffle: bool
    windows: int | None
    seed: int
    letters: dict[str, dict[str, Any]]
    classes: list[Any] | None = None

    @property
    def ends(self) -> np.ndarray:
        """Where windows end."""
        n = len(self.y)
        number = min(WINDOWS, n // SMALLEST) if self.windows is None else min(int(self.windows), n)
        return np.unique(np.linspace(0, n, max(number, 1) + 1).astype(int)[1:])

    def check(self, each: Algorithm) -> None:
        """Refuse letters that the algorithm does not take, and a regressor."""
        if each.scale in self._letters(each):
            raise InputError(f"{each.scale} of {each.name} is found here, from the share of labels.", owner="compare")
        if each.build(self._letters(each), share=None if each.scale is None else 0.5).learner.regression:
            raise InputError(f"{each.name} is a regressor, and accuracy is for classifiers.", owner="compare")
        self._any(each)

    def told_everything(self, plans: list[Plan]) -> list[Plan]:
        """A plan for every learner that is not told everything yet."""
        found: list[Plan] = []
        known = [self._any(plan.algorithm) for plan in plans if plan.algorithm.scale is None]
        for plan in plans:
            one = self._any(plan.algorithm)
            if all((one.learner, one.drift) != (other.learner, other.drift) for other in known):
                known.append(one)
                found.append(Plan(plan.algorithm, 1.0, everything=True))
        return found

    def match(self, plan: Plan) -> dict[str, Any]:
        """All letters of an algorithm, with the scale at which it asks for the share."""
        each, letters = plan.algorithm, self._letters(plan.algorithm)
        if plan.everything or each.scale is None:
            return {letter: value for letter, value in (each.usual() | letters).items() if letter != each.scale}
        X, y = self._stream(0)
        return matched(each, X, y, plan.share, letters, prepare=self.prepare, seed=self.seed, classes=self.classes)

    def run(self, plan: Plan, letters: dict[str, Any], k: int) -> Result:
        """Play the stream with the coins of repeat k."""
        X, y = self._stream(k)
        started = time.perf_counter()
        sampler = plan.algorithm.build(
            letters,
            share=0.5 if plan.everything else None,
            length=len(y),
            prepare=self.prepare,
            seed=self.seed + k,
            classes=self.classes,
        )
        sampler = told_everything("compare", sampler) if plan.everything else sampler
        trace = sampler.run(X, y, margins=False)
        seconds = time.perf_counter() - started
        if self.classes is None:
            right = Simple(False).scores(labels_of(trace), trace.queried)
        else:
            right = SimpleClasses().scores(Numbered(self.classes).numbers(y).astype(float), trace.queried)
        simple = {name: (float(values.mean()), self._windowed(values)) for name, values in right.items()}
        accuracy = 1 - trace.mistakes / len(y)
        return Result(trace.questions / len(y), accuracy, 1 - self._windowed(trace.mistaken), seconds, simple)

    def _letters(self, each: Algorithm) -> dict[str, Any]:
        return self.letters.get(each.name, {})

    def _any(self, each: Algorithm) -> Sampler:
        """The algorithm at some share."""
        return each.build(self._letters(each), share=None if each.scale is None else 0.5, classes=self.classes)

    def _windowed(self, values: np.ndarray) -> np.ndarray:
        """The mean in each window."""
        sums = np.add.reduceat(values, np.r_[0, self.ends[:-1]], dtype=float)
        return np.asarray(sums / np.diff(self.ends, prepend=0))

    def _stream(self, k: int) -> tuple[Any, np.ndarray]:
        if not self.shuffle:
            return self.X, self.y
        order = np.random.default_rng([self.seed, k]).permutation(len(self.y))
        return self.X[order], self.y[order]
