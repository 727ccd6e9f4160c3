"""The algorithms of the papers, by the papers' names and letters.

000 is Moroshko, Crammer 2014; 001 Ezukwoke, Zareian; 002 Kravchik 2014; 003 Cesa-Bianchi, Gentile, Zaniboni 2006. In
the SEL- names b is the scale of asking and the matrix starts at I; in the SOP and LASEC names b and c belong to the
learner and a is the scale.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

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


_PAPERS: dict[str, Callable[..., Parts]] = {
    "PERCEPTRON": lambda: (Perceptron(), Always()),
    "SHIFTING": lambda lam: (ShiftingPerceptron(lam), Always()),
    "MODIFIED": lambda: (ModifiedPerceptron(), Always()),
    "RBP": lambda B: (BudgetPerceptron(B), Always()),
    "SOP": lambda b: (SecondOrderPerceptron(b), Always()),
    "LASEC": lambda b, c: (Lasec(b, c), Always()),
    "WINNOW": lambda eta: (Winnow(eta), Always()),
    "PA": lambda: (PassiveAggressive(), Always()),
    "PA-I": lambda C: (PassiveAggressive1(C), Always()),
    "PA-II": lambda C: (PassiveAggressive2(C), Always()),
    "SEL-P": lambda b: (Perceptron(), MarginRule(b)),
    "SEL-P-FIXED": lambda rate: (Perceptron(), FixedRate(rate)),
    "SEL-ADA": lambda beta: (Perceptron(), AdaptiveMarginRule(beta)),
    "SEL-2ND": lambda b: (SecondOrderPerceptron(1.0), MarginRule(b)),
    "SEL-2ND-FIXED": lambda rate: (SecondOrderPerceptron(1.0), FixedRate(rate)),
    "SEL-WINNOW": lambda eta, b: (Winnow(eta), MarginRule(b)),
    "PERCEPTRON-SS": lambda a: (Perceptron(), MarginRule(a)),
    "SOP-SS": lambda b, a: (SecondOrderPerceptron(b), MarginRule(a)),
    "LASEC-SS": lambda b, c, a: (Lasec(b, c), MarginRule(a)),
    "BBQ": _bbq,
    "BBQ-I": lambda kappa: (SecondOrderPerceptron(1.0), BBQRule(kappa)),
    "BBQ-SWITCH": _bbq_switch(True),
    "BBQ-SWITCH-FREE": _bbq_switch(False),
    "PA-ACTIVE": lambda delta: (PassiveAggressive(), MarginRule(delta)),
    "PA-I-ACTIVE": lambda C, delta: (PassiveAggressive1(C), MarginRule(delta)),
    "PA-II-ACTIVE": lambda C, delta: (PassiveAggressive2(C), MarginRule(delta)),
}


def paper_names() -> list[str]:
    """The names that :func:`paper` knows."""
    return list(_PAPERS)


def paper_letters(name: str) -> dict[str, bool]:
    """The letters of an algorithm in the paper's order, and whether each must be given."""
    parameters = inspect.signature(_builder(name)).parameters.values()
    return {parameter.name: parameter.default is parameter.empty for parameter in parameters}


def paper(name: str, *, seed: int | None = None, kernel: Any = None, **letters: Any) -> Sampler:
    """A sampler for an algorithm of the papers, by its own name and letters.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`, in any case.
    seed : int, optional
        Seeds the coins.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
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
            raise InputError(f"paper: {name.upper()} takes {wanted}, got {letter!r}.")
    for letter, required in expected.items():
        if required and letter not in letters:
            raise InputError(f"paper: {name.upper()} takes {wanted}, and {letter!r} is missing.")
    try:
        learner, rule, drift = (*_builder(name)(**letters), None)[:3]
        if kernel is not None:
            learner = dataclasses.replace(learner, kernel=kernel)
        return Sampler(learner, rule, drift, seed=seed)
    except InputError as error:
        raise InputError(f"paper: {name.upper()}: {error}") from None


def _builder(name: str) -> Callable[..., Parts]:
    builder = _PAPERS.get(name.upper()) if isinstance(name, str) else None
    if builder is None:
        raise InputError(f"paper: name must be one of {', '.join(_PAPERS)}, got {name!r}.")
    return builder
