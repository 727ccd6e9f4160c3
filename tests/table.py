"""One table of everything that can be sampled with, so that a new algorithm is tested the day it is named.

A new algorithm is one row; tests choose rows by what they can do, which a row reads off its sampler.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import askwhen as aw
from askwhen.weights.expansion import Expansion

LETTERS = {
    "lam": 0.1,
    "B": 5,
    "b": 0.8,
    "c": 30.0,
    "eta": 0.3,
    "C": 0.5,
    "rate": 0.3,
    "beta": 0.3,
    "a": 0.3,
    "kappa": 0.6,
    "L0": 12,
    "K": 3,
    "delta": 0.5,
}


@dataclass(frozen=True)
class Row:
    """One way to sample: ``build`` takes a seed and gives a sampler."""

    name: str
    build: Callable[[int | None], aw.Sampler]

    def __str__(self):
        return self.name

    @cached_property
    def sampler(self):
        """One that plays no round."""
        return self.build(0)

    @cached_property
    def _state(self):
        learner = self.sampler.learner
        return learner.start_views(learner.layout(2, False)) if self.views else learner.start(2, False)

    @property
    def _weights(self):
        return getattr(self._state, "w", None)

    @property
    def views(self):
        """The learner sees several views of an instance."""
        return hasattr(self.sampler.learner, "layout")

    @property
    def kind(self):
        """What steps are compiled for: the types of the learner's state and of the drift guard."""
        parts = (self._state, self._weights, self.sampler.drift)
        return "-".join(type(part).__name__ for part in parts)

    @property
    def group(self):
        """What is tested on one worker: all sums over kept instances share most of their steps."""
        return "dual" if self.dual else self.kind

    @property
    def regression(self):
        """Its labels are numbers."""
        return self.sampler.learner.regression

    @property
    def noise(self):
        """What the synthetic streams need to know: how much noise there is in numbers; labels have no such thing."""
        return 0.5 if self.regression else None

    @property
    def dual(self):
        """The weights are a sum over kept instances."""
        return isinstance(self._weights, Expansion)

    @property
    def curved(self):
        """The kernel is not linear."""
        return not isinstance(getattr(self.sampler.learner, "kernel", None), aw.Linear | None)

    @property
    def any_size(self):
        """Takes instances of any size; views and the second-order dual form refuse squared norms beyond 1e6 b."""
        prepare = self.sampler.prepare
        bounded = self.curved or (prepare is not None and prepare.scale != "none")
        return bounded or not ((self.dual and self.sampler.learner.has_uncertainty) or self.views)

    @property
    def starts_at_zero(self):
        """A feature that is always zero does not matter; Winnow starts at 1/d, and views draw frequencies for it."""
        return self.dual or not (self.views or np.any(self._weights))

    @property
    def silent_at_zero(self):
        """The margin of the instance zero is zero: there is no kernel that lifts it and no bias."""
        return not (self.curved or self.views) and self.sampler.prepare is None

    @property
    def same_in_csr(self):
        """Dense and CSR are prepared alike; sparse features are not centred, but for views, which are dense."""
        prepare = self.sampler.prepare
        return self.views or prepare is None or prepare.scale in ("unit", "none")


def letters_of(name):
    return {letter: LETTERS[letter] for letter in aw.paper_letters(name) if letter in LETTERS}


def _paper(name, row=None, **settings):
    letters = letters_of(name) | settings
    return Row(row or name, lambda seed: aw.paper(name, seed=seed, **letters))


def _row(name, *parts):
    return Row(name, lambda seed: aw.Sampler(*parts, seed=seed))


_ROWS = [
    *(_paper(name) for name in aw.paper_names()),
    _row("p-norm", aw.PNormPerceptron(3.5), aw.MarginRule(0.5)),
    _row("p-norm of 2", aw.PNormPerceptron(2), aw.MarginRule(0.5)),
    _row("shifting, selective", aw.ShiftingPerceptron(2.0), aw.AdaptiveMarginRule(0.2)),
    _row("budget, selective", aw.BudgetPerceptron(4), aw.MarginRule(1.0)),
    _row("modified, selective", aw.ModifiedPerceptron(), aw.FixedRate(0.5)),
    _row("lasec, queried", aw.Lasec(0.5, 20.0, update="queried"), aw.MarginRule(0.3)),
    _row("lasec, bbq", aw.Lasec(0.5, 20.0), aw.BBQRule(0.6)),
    _row("lasec, switch", aw.Lasec(0.5, 20.0, update="queried"), aw.BBQRule(0.6), aw.SwitchDetector(12, 3, 0.5)),
    _row(
        "second order, queried, adaptive", aw.SecondOrderPerceptron(0.5, update="queried"), aw.AdaptiveMarginRule(0.2)
    ),
    _row(
        "least squares, margin, switch",
        aw.LeastSquares(),
        aw.MarginRule(0.2),
        aw.SwitchDetector(12, 3, 0.5, extra_queries=False),
    ),
    _row("budget of one", aw.BudgetPerceptron(1), aw.MarginRule(1.0)),
    _row("perceptron, linear kernel", aw.Perceptron(kernel=aw.Linear()), aw.AdaptiveMarginRule(0.2)),
    _row("perceptron, gaussian", aw.Perceptron(kernel=aw.Gaussian(0.5)), aw.MarginRule(0.5)),
    _row("shifting, polynomial", aw.ShiftingPerceptron(2.0, kernel=aw.Polynomial(2)), aw.MarginRule(0.5)),
    _row(
        "modified, gaussian, oldest",
        aw.ModifiedPerceptron(kernel=aw.Gaussian(0.5), budget=6, evict="oldest"),
        aw.FixedRate(0.7),
    ),
    _row("budget, gaussian", aw.BudgetPerceptron(5, kernel=aw.Gaussian(0.5)), aw.Always()),
    _row("pa-1, gaussian", aw.PassiveAggressive1(0.5, kernel=aw.Gaussian(0.5)), aw.MarginRule(0.5)),
    _row("pa-2, gaussian, budget", aw.PassiveAggressive2(0.5, kernel=aw.Gaussian(0.5), budget=7), aw.MarginRule(0.5)),
    _row("second order, gaussian", aw.SecondOrderPerceptron(0.5, kernel=aw.Gaussian(0.5)), aw.MarginRule(0.3)),
    _row("second order, dual", aw.SecondOrderPerceptron(0.5, form="dual"), aw.MarginRule(0.3)),
    _row("lasec, dual", aw.Lasec(0.5, 20.0, form="dual"), aw.MarginRule(0.3)),
    _row(
        "lasec, gaussian, budget, oldest",
        aw.Lasec(0.5, 20.0, "queried", kernel=aw.Gaussian(0.5), budget=8, evict="oldest"),
        aw.MarginRule(0.3),
    ),
    _row("least squares, linear kernel, budget", aw.LeastSquares(0.5, kernel=aw.Linear(), budget=8), aw.BBQRule(0.8)),
    _row(
        "least squares, gaussian, switch",
        aw.LeastSquares(0.5, kernel=aw.Gaussian(0.5)),
        aw.BBQRule(0.6),
        aw.SwitchDetector(12, 3, 0.5),
    ),
    _row("default"),
    _row("mixture, switch", aw.Mixture(), aw.BudgetRule(0.4), aw.SwitchDetector(12, 3, 0.5), aw.Prepare("unit")),
    _row("mixture, raw", aw.Mixture(), aw.MarginRule(0.3)),
    _row("mixture, numbers", aw.Mixture(regression=True), aw.BudgetRule(0.3, by="uncertainty"), None, aw.Prepare()),
    _row("auto, budget of the first release", aw.AutoLasec(), aw.BudgetRule(0.3, spread=False), None, aw.Prepare()),
    _row("auto, margin, raw", aw.AutoLasec(b=0.5), aw.MarginRule(0.3)),
    _row(
        "auto, mistake, switch",
        aw.AutoLasec(update="mistake"),
        aw.BudgetRule(0.4),
        aw.SwitchDetector(12, 3, 0.5),
        aw.Prepare("unit"),
    ),
    _row("auto, dual", aw.AutoLasec(form="dual"), aw.BudgetRule(0.3, floor=0.05), None, aw.Prepare()),
    _row(
        "auto, gaussian, budget",
        aw.AutoLasec(kernel=aw.Gaussian(0.5), budget=8),
        aw.BudgetRule(0.5),
        None,
        aw.Prepare("standard"),
    ),
    _row("auto, linear, random", aw.AutoLasec(budget=8, evict="random"), aw.FocusedRule(0.5), None, aw.Prepare()),
    _row("focused, floor", aw.Lasec(0.5, 20.0), aw.FocusedRule(0.3, floor=0.1)),
    _row(
        "margin, floor, audit", aw.SecondOrderPerceptron(0.5), aw.MarginRule(0.1, floor=0.1), None, None, aw.Audit(0.2)
    ),
    _row("bbq, silent audit", aw.LeastSquares(), aw.BBQRule(0.5), None, None, aw.Audit(0.2, learn=False)),
    _row("budget, first order", aw.Perceptron(), aw.BudgetRule(0.2), None, aw.Prepare("none")),
    _row("promise", aw.Lasec(0.5, 20.0, update="queried"), aw.PromiseRule(0.4, confidence=0.6)),
    _row("budget, by uncertainty", aw.LeastSquares(), aw.BudgetRule(0.2, by="uncertainty")),
    _row(
        "adaptive, floor, standard",
        aw.PassiveAggressive1(0.5),
        aw.AdaptiveMarginRule(0.1, floor=0.05),
        None,
        aw.Prepare("standard", bias=False),
    ),
    _row("regression, gaussian", aw.LeastSquares(regression=True, kernel=aw.Gaussian(0.5)), aw.BBQRule(0.6)),
    _row("regression", aw.LeastSquares(regression=True), aw.FixedRate(0.4)),
    _paper("BBQ", "regression, bbq", regression=True),
    _paper("BBQ-SWITCH", "regression, switch", regression=True, Z=0.8),
    _paper("BBQ-SWITCH-FREE", "regression, switch, free", regression=True, Z=0.8, K=6),
    _row(
        "regression, budget", aw.LeastSquares(regression=True), aw.BudgetRule(0.3, by="uncertainty"), None, aw.Prepare()
    ),
]

ROWS = {row.name: row for row in _ROWS}
"""Every row by its name."""

CLASSIFIERS = {name: row for name, row in ROWS.items() if not row.regression}

ONE_OF_EACH_KIND = {row.kind: row for row in _ROWS}
"""One row for everything that is compiled apart."""
