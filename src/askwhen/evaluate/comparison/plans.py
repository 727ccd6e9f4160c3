"""The runs of a comparison: every algorithm, tuned to a share of labels, repeated over one stream."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...algorithms import Algorithm
from ...contracts.abilities import ViewLearner, provides
from ...errors import InputError
from ...prepare import Prepare
from ...sampler import Sampler
from ..estimation.advisers import advisers
from ..estimation.estimate import Estimate
from ..estimation.said_right import SaidRight, said_right
from .advice_rows import advice_of_run
from .baselines import ClassBaselines, LabelNumbering, TaskBaselines, fully_labelled, labels_of
from .rate_matching import matched

WINDOWS, SMALLEST = 50, 50
"""By default at most this many windows, and none with fewer rounds than this."""


class RunPlan(NamedTuple):
    """An algorithm at a share of labels, or given every label, or no advice, as a baseline."""

    algorithm: Algorithm
    share: float
    everything: bool = False
    without_advice: bool = False

    @property
    def name(self) -> str:
        """The name that a progress bar shows."""
        return f"{self.algorithm.name} at {self.share:.3g}"


class CellRun(NamedTuple):
    """Results of one run, over all rounds and in each window.

    ``simple`` has the accuracies of simple rules; ``refits`` is for a model that is refitted. ``advisers`` has what was
    known of each adviser from the asked labels.
    """

    asked: float
    accuracy: float
    windows: np.ndarray
    seconds: float
    simple: dict[str, tuple[float, np.ndarray]]
    refits: int | None = None
    advisers: dict[str, Estimate] | None = None


@dataclass(frozen=True, eq=False)
class ComparisonWork:
    """A stream, and the operations of a comparison on it."""

    X: Any
    y: np.ndarray
    prepare: Prepare | None
    shuffle: bool
    windows: int | None
    seed: int
    hyperparameters: dict[str, dict[str, Any]]
    classes: list[Any] | None = None
    advice: Mapping[str, Any] | None = None

    @property
    def ends(self) -> np.ndarray:
        """The rounds at which windows end."""
        n = len(self.y)
        number = min(WINDOWS, n // SMALLEST) if self.windows is None else min(int(self.windows), n)
        return np.unique(np.linspace(0, n, max(number, 1) + 1).astype(int)[1:])

    def check(self, each: Algorithm) -> None:
        """Raise for hyperparameters that the algorithm does not take, and for a regressor."""
        if each.scale in self._given(each):
            raise InputError(f"{each.scale} of {each.name} is found here, from the share of labels.", owner="compare")
        if each.build(self._given(each), share=None if each.scale is None else 0.5).learner.regression:
            raise InputError(f"{each.name} is a regressor, and accuracy is for classifiers.", owner="compare")
        self._sampler(each)

    def fully_labelled_plans(self, plans: list[RunPlan]) -> list[RunPlan]:
        """A plan with every label for each learner that has none among these plans."""
        found: list[RunPlan] = []
        known = [self._sampler(plan.algorithm) for plan in plans if plan.algorithm.scale is None]
        for plan in plans:
            one = self._sampler(plan.algorithm)
            if all((one.learner, one.drift) != (other.learner, other.drift) for other in known):
                known.append(one)
                found.append(RunPlan(plan.algorithm, 1.0, everything=True))
        return found

    def takes_advice(self, plan: RunPlan) -> bool:
        """Whether advice is given in the runs of a plan: only the default learner takes it."""
        if not self.advice or plan.without_advice:
            return False
        return provides(self._sampler(plan.algorithm).learner, ViewLearner)

    def said_right(self) -> dict[str, SaidRight]:
        """Whether advisers were right in each row; bad advice is refused."""
        if not self.advice:
            return {}
        engine = Sampler(advisers=list(self.advice), classes=self.classes).engine
        return said_right("compare", engine, self.advice, self.y)

    def match(self, plan: RunPlan) -> dict[str, Any]:
        """All hyperparameters of an algorithm, with the scale at which it asks for the share."""
        each, given = plan.algorithm, self._given(plan.algorithm)
        if plan.everything or each.scale is None:
            return {name: value for name, value in (each.usual() | given).items() if name != each.scale}
        X, y = self._stream(0)
        return matched(each, X, y, plan.share, given, prepare=self.prepare, seed=self.seed, classes=self.classes)

    def run(self, plan: RunPlan, hyperparameters: dict[str, Any], k: int) -> CellRun:
        """Play the stream with the seed of repeat k."""
        X, y = self._stream(k)
        started = time.perf_counter()
        sampler = plan.algorithm.build(
            hyperparameters,
            share=0.5 if plan.everything else None,
            length=len(y),
            prepare=self.prepare,
            seed=self.seed + k,
            classes=self.classes,
        )
        sampler = fully_labelled("compare", sampler) if plan.everything else sampler
        advice: dict[str, Any] = {}
        if self.takes_advice(plan):
            assert self.advice is not None
            advice = {"advice": advice_of_run(self.advice, self.order(k))}
            more: dict[str, Any] = {"seed": sampler.seed, "classes": self.classes, "advisers": list(self.advice)}
            sampler = Sampler(*sampler.parts, **more)
        trace = sampler.run(X, y, margins=False, **advice)
        seconds = time.perf_counter() - started
        if self.classes is None:
            right = TaskBaselines(False).scores(labels_of(trace), trace.queried)
        else:
            right = ClassBaselines().scores(LabelNumbering(self.classes).numbers(y).astype(float), trace.queried)
        simple = {name: (float(values.mean()), self.windowed(values)) for name, values in right.items()}
        accuracy = 1 - trace.mistakes / len(y)
        found = {name: each.overall for name, each in advisers(sampler).items()} if advice else None
        windows = 1 - self.windowed(trace.mistaken)
        return CellRun(trace.questions / len(y), accuracy, windows, seconds, simple, advisers=found)

    def _given(self, each: Algorithm) -> dict[str, Any]:
        return self.hyperparameters.get(each.name, {})

    def _sampler(self, each: Algorithm) -> Sampler:
        """A sampler of the algorithm, at any share."""
        return each.build(self._given(each), share=None if each.scale is None else 0.5, classes=self.classes)

    def windowed(self, values: np.ndarray) -> np.ndarray:
        """Mean of the values in each window."""
        sums = np.add.reduceat(values, np.r_[0, self.ends[:-1]], dtype=float)
        return np.asarray(sums / np.diff(self.ends, prepend=0))

    def order(self, k: int) -> np.ndarray | None:
        """The order of the rows in repeat k; None for their own."""
        return np.random.default_rng([self.seed, k]).permutation(len(self.y)) if self.shuffle else None

    def _stream(self, k: int) -> tuple[Any, np.ndarray]:
        order = self.order(k)
        return (self.X, self.y) if order is None else (self.X[order], self.y[order])
