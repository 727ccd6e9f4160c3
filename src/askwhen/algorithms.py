"""The table of all algorithms by name: those of the papers, and ours.

The hyperparameters of an algorithm have the symbols of its paper (``letters``). One of them, its scale, sets how often
it asks. Hyperparameters that are not given have their usual values, which suit prepared instances.

The papers are Cesa-Bianchi, Gentile, Zaniboni 2006; Moroshko, Crammer 2014; Kravchik 2014; Ezukwoke, Zareian. In the
names that begin with SEL, b is the scale and the matrix starts at I; in the SOP and LASEC names b and c belong to the
learner and a is the scale.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .drift import SwitchDetector
from .errors import InputError
from .learners import (
    AutoLasec,
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    Mixture,
    ModifiedPerceptron,
    PassiveAggressive,
    PassiveAggressive1,
    PassiveAggressive2,
    Perceptron,
    SecondOrderPerceptron,
    ShiftingPerceptron,
    Winnow,
)
from .prepare import Prepare
from .rules import AdaptiveMarginRule, Always, BBQRule, BudgetRule, FixedRate, MarginRule
from .sampler import Sampler

AlgorithmParts = tuple[Any, ...]

USUAL: dict[str, Any] = {"b": 1.0, "c": 100.0, "C": 1.0, "eta": 0.1, "lam": 0.01, "B": 100, "rate": 0.1}
"""Default values of hyperparameters."""

DRIFT = "Moroshko, Crammer 2014"
LINEAR = "Ezukwoke, Zareian"
SWITCH = "Kravchik 2014"
WORST_CASE = "Cesa-Bianchi, Gentile, Zaniboni 2006"
OURS = "askwhen"


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that can be built by its name.

    Attributes
    ----------
    name, source, line : str
        Its name in lower case, its source, and a short description.
    scale : str or None
        The hyperparameter that sets how often it asks; None where it asks for every label.
    parts : callable
        Makes a learner, a rule and perhaps a drift detector from the hyperparameters.
    """

    name: str
    source: str
    line: str
    scale: str | None
    parts: Callable[..., AlgorithmParts]

    @property
    def letters(self) -> tuple[str, ...]:
        """Names of its hyperparameters, in the order of its paper."""
        return tuple(inspect.signature(self.parts).parameters)

    @property
    def is_ours(self) -> bool:
        """Whether it is ours and not from a paper."""
        return self.source == OURS

    def build(
        self,
        letters: dict[str, Any] | None = None,
        *,
        share: float | None = None,
        most: int | None = None,
        length: int | None = None,
        prepare: Prepare | None = None,
        kernel: Any = None,
        seed: int | None = None,
        classes: Any = None,
    ) -> Sampler:
        """A sampler of two labels or of ``classes``. Missing hyperparameters have their usual values.

        With a share of labels in place of its scale, an algorithm asks by a ``BudgetRule`` of that rate, or by its own
        rule where that has a rate. With a budget it never asks for more than ``most`` labels, nor for more than its
        rate of ``length`` rounds, where these are given.
        """
        given = {name: _whole(name, value) for name, value in (letters or {}).items()}
        for name in given:
            if name not in self.letters:
                takes = ", ".join(self.letters) or "no hyperparameters"
                raise InputError(f"this algorithm takes {takes}, got {name!r}.", owner=self.name)
        if share is not None and self.scale in given:
            raise InputError(
                f"give either {self.scale} or a share of labels, since both set how often it asks.", owner=self.name
            )
        given = self.usual() | given
        if share is not None and self.scale is not None:
            given[self.scale] = share if self.scale == "rate" else 0.5
        if self.scale is not None and self.scale not in given:
            raise InputError(f"give {self.scale}, which sets how often it asks, or a share of labels.", owner=self.name)
        try:
            learner, rule, drift = (*self.parts(**given), None)[:3]
            if share is not None and self.scale != "rate":
                rule = BudgetRule(share, by="uncertainty" if learner.regression else "margin")
            if isinstance(rule, BudgetRule) and rule.rate is not None:
                rule = dataclasses.replace(rule, most=most, length=length)
            if kernel is not None:
                learner = dataclasses.replace(learner, kernel=kernel)
            if classes is not None and isinstance(learner, Mixture) and not learner.regression:
                learner = Mixture(classes=0 if isinstance(classes, str) else len(classes))
            return Sampler(learner, rule, drift, prepare, seed=seed, classes=classes)
        except InputError as error:
            raise error if self.is_ours else InputError(f"{self.name.upper()}: {error}", owner="paper") from None

    def usual(self) -> dict[str, Any]:
        """The hyperparameters that have a usual value, with that value."""
        names = [name for name in self.letters if name in USUAL and (name != self.scale or name == "rate")]
        return {name: USUAL[name] for name in names}


def _whole(name: str, value: Any) -> Any:
    """A count as an int: in JSON settings all hyperparameters are floats."""
    return int(value) if name in ("B", "L0", "K") and isinstance(value, float) and value.is_integer() else value


def _least_squares(rate: float, b: float = 1.0) -> AlgorithmParts:
    return LeastSquares(b, regression=True), BudgetRule(rate, by="uncertainty")


def _bbq(kappa: float, *, regression: bool = False) -> AlgorithmParts:
    return LeastSquares(1.0, regression=regression), BBQRule(kappa)


def _bbq_switch(extra_queries: bool) -> Callable[..., AlgorithmParts]:
    def build(
        kappa: float,
        L0: int = 400,
        K: int = 6,
        delta: float = 0.05,
        *,
        regression: bool = False,
        Z: float | None = None,
    ) -> AlgorithmParts:
        return *_bbq(kappa, regression=regression), SwitchDetector(L0, K, delta, extra_queries, Z)

    return build


_TABLE = (
    Algorithm(
        "default",
        OURS,
        "finds out by itself what the stream needs, asks within a budget: take this",
        "rate",
        lambda rate: (Mixture(), BudgetRule(rate)),
    ),
    Algorithm(
        "random",
        OURS,
        "the same learner, asks at random: what others must beat",
        "rate",
        lambda rate: (Mixture(), FixedRate(rate)),
    ),
    Algorithm(
        "regression",
        OURS,
        "numbers: the same learner, asks where it is uncertain, within a budget",
        "rate",
        lambda rate: (Mixture(regression=True), BudgetRule(rate, by="uncertainty")),
    ),
    Algorithm(
        "auto-lasec",
        OURS,
        "linear, finds the drift level itself, asks within a budget",
        "rate",
        lambda rate: (AutoLasec(), BudgetRule(rate)),
    ),
    Algorithm("least-squares", OURS, "numbers: linear and without drift, within a budget", "rate", _least_squares),
    Algorithm("perceptron", DRIFT, "moves on every mistake", None, lambda: (Perceptron(), Always())),
    Algorithm(
        "shifting", DRIFT, "a Perceptron that forgets slowly", None, lambda lam: (ShiftingPerceptron(lam), Always())
    ),
    Algorithm(
        "modified", DRIFT, "a Perceptron whose norm does not change", None, lambda: (ModifiedPerceptron(), Always())
    ),
    Algorithm("rbp", DRIFT, "a Perceptron that keeps B instances", None, lambda B: (BudgetPerceptron(B), Always())),
    Algorithm("sop", DRIFT, "the second-order Perceptron", None, lambda b: (SecondOrderPerceptron(b), Always())),
    Algorithm(
        "lasec", DRIFT, "second order, and follows a drift of level c", None, lambda b, c: (Lasec(b, c), Always())
    ),
    Algorithm("winnow", WORST_CASE, "multiplicative updates", None, lambda eta: (Winnow(eta), Always())),
    Algorithm("pa", LINEAR, "the least move that gets the label right", None, lambda: (PassiveAggressive(), Always())),
    Algorithm("pa-i", LINEAR, "passive-aggressive, moves at most C", None, lambda C: (PassiveAggressive1(C), Always())),
    Algorithm("pa-ii", LINEAR, "passive-aggressive, softened by C", None, lambda C: (PassiveAggressive2(C), Always())),
    Algorithm(
        "sel-p", WORST_CASE, "a Perceptron, asks near its boundary", "b", lambda b: (Perceptron(), MarginRule(b))
    ),
    Algorithm(
        "sel-p-fixed", WORST_CASE, "a Perceptron, asks at random", "rate", lambda rate: (Perceptron(), FixedRate(rate))
    ),
    Algorithm(
        "sel-ada",
        WORST_CASE,
        "SEL-P whose scale finds itself",
        "beta",
        lambda beta: (Perceptron(), AdaptiveMarginRule(beta)),
    ),
    Algorithm(
        "sel-2nd",
        WORST_CASE,
        "second order, asks near its boundary",
        "b",
        lambda b: (SecondOrderPerceptron(1.0), MarginRule(b)),
    ),
    Algorithm(
        "sel-2nd-fixed",
        WORST_CASE,
        "second order, asks at random",
        "rate",
        lambda rate: (SecondOrderPerceptron(1.0), FixedRate(rate)),
    ),
    Algorithm(
        "sel-winnow", WORST_CASE, "Winnow, asks near its boundary", "b", lambda eta, b: (Winnow(eta), MarginRule(b))
    ),
    Algorithm(
        "perceptron-ss", DRIFT, "a Perceptron, asks near its boundary", "a", lambda a: (Perceptron(), MarginRule(a))
    ),
    Algorithm(
        "sop-ss",
        DRIFT,
        "second order, asks near its boundary",
        "a",
        lambda b, a: (SecondOrderPerceptron(b), MarginRule(a)),
    ),
    Algorithm(
        "lasec-ss",
        DRIFT,
        "follows a drift of level c, asks near its boundary",
        "a",
        lambda b, c, a: (Lasec(b, c), MarginRule(a)),
    ),
    Algorithm("bbq", SWITCH, "least squares that asks where it is uncertain", "kappa", _bbq),
    Algorithm(
        "bbq-i",
        DRIFT,
        "BBQ that learns from mistakes only",
        "kappa",
        lambda kappa: (SecondOrderPerceptron(1.0), BBQRule(kappa)),
    ),
    Algorithm("bbq-switch", SWITCH, "BBQ that restarts when the target has switched", "kappa", _bbq_switch(True)),
    Algorithm(
        "bbq-switch-free", SWITCH, "the same without extra questions for its window", "kappa", _bbq_switch(False)
    ),
    Algorithm(
        "pa-active",
        LINEAR,
        "PA, asks near its boundary",
        "delta",
        lambda delta: (PassiveAggressive(), MarginRule(delta)),
    ),
    Algorithm(
        "pa-i-active",
        LINEAR,
        "PA-I, asks near its boundary",
        "delta",
        lambda C, delta: (PassiveAggressive1(C), MarginRule(delta)),
    ),
    Algorithm(
        "pa-ii-active",
        LINEAR,
        "PA-II, asks near its boundary",
        "delta",
        lambda C, delta: (PassiveAggressive2(C), MarginRule(delta)),
    ),
)


def algorithms() -> dict[str, Algorithm]:
    """All algorithms by name, ours first."""
    return {each.name: each for each in _TABLE}


def algorithm(name: str) -> Algorithm:
    """An algorithm by its name, in any case."""
    found = algorithms().get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise InputError(f"there is no {name!r}; askwhen algorithms lists them all.", owner="algorithm")
    return found
