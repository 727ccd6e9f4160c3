"""The algorithms of the papers, by the papers' names and letters.

000 is Moroshko, Crammer 2014; 001 Ezukwoke, Zareian; 002 Kravchik 2014; 003 Cesa-Bianchi, Gentile, Zaniboni 2006. In
the SEL- names b is the scale of asking and the matrix starts at I; in the SOP and LASEC names b and c belong to the
learner and a is the scale.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from .drift import SwitchDetector
from .errors import InputError
from .learners import (
    BudgetPerceptron,
    Lasec,
    LeastSquares,
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
from .rules import AdaptiveMarginRule, Always, BBQRule, FixedRate, MarginRule
from .sampler import Sampler

Parts = tuple[Any, ...]


def _bbq(kappa: float, *, regression: bool = False) -> Parts:
    return LeastSquares(1.0, regression=regression), BBQRule(kappa)


def _bbq_switch(extra_queries: bool) -> Callable[..., Parts]:
    def build(
        kappa: float,
        L0: int = 400,
        K: int = 6,
        delta: float = 0.05,
        *,
        regression: bool = False,
        Z: float | None = None,
    ) -> Parts:
        return *_bbq(kappa, regression=regression), SwitchDetector(L0, K, delta, extra_queries, Z)

    return build


DRIFT = "Moroshko, Crammer 2014"
LINEAR = "Ezukwoke, Zareian"
SWITCH = "Kravchik 2014"
WORST_CASE = "Cesa-Bianchi, Gentile, Zaniboni 2006"


class Entry(NamedTuple):
    """How to build an algorithm, the letter that says how much it asks (None: every label), its paper, and a line."""

    build: Callable[..., Parts]
    scale: str | None
    source: str
    line: str


PAPERS: dict[str, Entry] = {
    "PERCEPTRON": Entry(lambda: (Perceptron(), Always()), None, DRIFT, "moves on every mistake"),
    "SHIFTING": Entry(lambda lam: (ShiftingPerceptron(lam), Always()), None, DRIFT, "a Perceptron that forgets slowly"),
    "MODIFIED": Entry(lambda: (ModifiedPerceptron(), Always()), None, DRIFT, "a Perceptron whose norm does not change"),
    "RBP": Entry(lambda B: (BudgetPerceptron(B), Always()), None, DRIFT, "a Perceptron that keeps B instances"),
    "SOP": Entry(lambda b: (SecondOrderPerceptron(b), Always()), None, DRIFT, "the second-order Perceptron"),
    "LASEC": Entry(lambda b, c: (Lasec(b, c), Always()), None, DRIFT, "second order, and follows a drift of level c"),
    "WINNOW": Entry(lambda eta: (Winnow(eta), Always()), None, WORST_CASE, "multiplicative updates"),
    "PA": Entry(lambda: (PassiveAggressive(), Always()), None, LINEAR, "the least move that gets the label right"),
    "PA-I": Entry(lambda C: (PassiveAggressive1(C), Always()), None, LINEAR, "passive-aggressive, moves at most C"),
    "PA-II": Entry(lambda C: (PassiveAggressive2(C), Always()), None, LINEAR, "passive-aggressive, softened by C"),
    "SEL-P": Entry(lambda b: (Perceptron(), MarginRule(b)), "b", WORST_CASE, "a Perceptron, asks near its boundary"),
    "SEL-P-FIXED": Entry(
        lambda rate: (Perceptron(), FixedRate(rate)), "rate", WORST_CASE, "a Perceptron, asks at random"
    ),
    "SEL-ADA": Entry(
        lambda beta: (Perceptron(), AdaptiveMarginRule(beta)),
        "beta",
        WORST_CASE,
        "SEL-P whose scale finds itself",
    ),
    "SEL-2ND": Entry(
        lambda b: (SecondOrderPerceptron(1.0), MarginRule(b)), "b", WORST_CASE, "second order, asks near its boundary"
    ),
    "SEL-2ND-FIXED": Entry(
        lambda rate: (SecondOrderPerceptron(1.0), FixedRate(rate)), "rate", WORST_CASE, "second order, asks at random"
    ),
    "SEL-WINNOW": Entry(lambda eta, b: (Winnow(eta), MarginRule(b)), "b", WORST_CASE, "Winnow, asks near its boundary"),
    "PERCEPTRON-SS": Entry(lambda a: (Perceptron(), MarginRule(a)), "a", DRIFT, "a Perceptron, asks near its boundary"),
    "SOP-SS": Entry(
        lambda b, a: (SecondOrderPerceptron(b), MarginRule(a)), "a", DRIFT, "second order, asks near its boundary"
    ),
    "LASEC-SS": Entry(
        lambda b, c, a: (Lasec(b, c), MarginRule(a)), "a", DRIFT, "follows a drift of level c, asks near its boundary"
    ),
    "BBQ": Entry(_bbq, "kappa", SWITCH, "least squares that asks where it is uncertain"),
    "BBQ-I": Entry(
        lambda kappa: (SecondOrderPerceptron(1.0), BBQRule(kappa)), "kappa", DRIFT, "BBQ that learns from mistakes only"
    ),
    "BBQ-SWITCH": Entry(_bbq_switch(True), "kappa", SWITCH, "BBQ that restarts when the target has switched"),
    "BBQ-SWITCH-FREE": Entry(_bbq_switch(False), "kappa", SWITCH, "the same without extra questions for its window"),
    "PA-ACTIVE": Entry(
        lambda delta: (PassiveAggressive(), MarginRule(delta)), "delta", LINEAR, "PA, asks near its boundary"
    ),
    "PA-I-ACTIVE": Entry(
        lambda C, delta: (PassiveAggressive1(C), MarginRule(delta)), "delta", LINEAR, "PA-I, asks near its boundary"
    ),
    "PA-II-ACTIVE": Entry(
        lambda C, delta: (PassiveAggressive2(C), MarginRule(delta)),
        "delta",
        LINEAR,
        "PA-II, asks near its boundary",
    ),
}


def paper_names() -> list[str]:
    """The names that :func:`paper` knows."""
    return list(PAPERS)


def paper_letters(name: str) -> dict[str, bool]:
    """The letters of an algorithm in the paper's order, and whether each must be given."""
    parameters = inspect.signature(_builder(name)).parameters.values()
    return {parameter.name: parameter.default is parameter.empty for parameter in parameters}


def paper(
    name: str, *, seed: int | None = None, kernel: Any = None, prepare: Prepare | None = None, **letters: Any
) -> Sampler:
    """A sampler for an algorithm of the papers, by its own name and letters.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`, in any case.
    seed : int, optional
        Seeds the coins.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    prepare : Prepare, optional
        Scale raw features before the learner sees them; the papers take instances as they are.
    **letters
        The algorithm's parameters as its paper writes them.

    Examples
    --------
    >>> import askwhen as aw
    >>> aw.paper("LASEC-SS", b=1.0, c=300.0, a=0.05, seed=7)
    <Sampler(Lasec(b=1.0, c=300.0), MarginRule(scale=0.05)) in round 0 with 0 questions open>
    """
    expected = paper_letters(name)
    wanted = ", ".join(expected) or "no letters"
    for letter in letters:
        if letter not in expected:
            raise InputError(f"{name.upper()} takes {wanted}, got {letter!r}.", owner="paper")
    for letter, required in expected.items():
        if required and letter not in letters:
            raise InputError(f"{name.upper()} takes {wanted}, and {letter!r} is missing.", owner="paper")
    try:
        learner, rule, drift = (*_builder(name)(**letters), None)[:3]
        if kernel is not None:
            learner = dataclasses.replace(learner, kernel=kernel)
        return Sampler(learner, rule, drift, prepare, seed=seed)
    except InputError as error:
        raise InputError(f"{name.upper()}: {error}", owner="paper") from None


def _builder(name: str) -> Callable[..., Parts]:
    entry = PAPERS.get(name.upper()) if isinstance(name, str) else None
    if entry is None:
        raise InputError(f"name must be one of {', '.join(PAPERS)}, got {name!r}.", owner="paper")
    return entry.build
