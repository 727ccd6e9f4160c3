"""One table of everything that can be sampled with, so that a new algorithm is tested the day it is named."""

import askwhen as aw

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


def letters_of(name):
    return {letter: LETTERS[letter] for letter in aw.paper_letters(name) if letter in LETTERS}


def _paper(name):
    return lambda seed: aw.paper(name, seed=seed, **letters_of(name))


def _sampler(*parts):
    return lambda seed: aw.Sampler(*parts, seed=seed)


BUILDERS = {name: _paper(name) for name in aw.paper_names()} | {
    "p-norm": _sampler(aw.PNormPerceptron(3.5), aw.MarginRule(0.5)),
    "p-norm of 2": _sampler(aw.PNormPerceptron(2), aw.MarginRule(0.5)),
    "shifting, selective": _sampler(aw.ShiftingPerceptron(2.0), aw.AdaptiveMarginRule(0.2)),
    "budget, selective": _sampler(aw.BudgetPerceptron(4), aw.MarginRule(1.0)),
    "modified, selective": _sampler(aw.ModifiedPerceptron(), aw.FixedRate(0.5)),
    "lasec, queried": _sampler(aw.Lasec(0.5, 20.0, update="queried"), aw.MarginRule(0.3)),
    "lasec, bbq": _sampler(aw.Lasec(0.5, 20.0), aw.BBQRule(0.6)),
    "lasec, switch": _sampler(aw.Lasec(0.5, 20.0, update="queried"), aw.BBQRule(0.6), aw.SwitchDetector(12, 3, 0.5)),
    "second order, queried, adaptive": _sampler(
        aw.SecondOrderPerceptron(0.5, update="queried"), aw.AdaptiveMarginRule(0.2)
    ),
    "least squares, margin, switch": _sampler(
        aw.LeastSquares(), aw.MarginRule(0.2), aw.SwitchDetector(12, 3, 0.5, extra_queries=False)
    ),
    "budget of one": _sampler(aw.BudgetPerceptron(1), aw.MarginRule(1.0)),
    "perceptron, linear kernel": _sampler(aw.Perceptron(kernel=aw.Linear()), aw.AdaptiveMarginRule(0.2)),
    "perceptron, gaussian": _sampler(aw.Perceptron(kernel=aw.Gaussian(0.5)), aw.MarginRule(0.5)),
    "shifting, polynomial": _sampler(aw.ShiftingPerceptron(2.0, kernel=aw.Polynomial(2)), aw.MarginRule(0.5)),
    "modified, gaussian, oldest": _sampler(
        aw.ModifiedPerceptron(kernel=aw.Gaussian(0.5), budget=6, evict="oldest"), aw.FixedRate(0.7)
    ),
    "budget, gaussian": _sampler(aw.BudgetPerceptron(5, kernel=aw.Gaussian(0.5)), aw.Always()),
    "pa-1, gaussian": _sampler(aw.PassiveAggressive1(0.5, kernel=aw.Gaussian(0.5)), aw.MarginRule(0.5)),
    "pa-2, gaussian, budget": _sampler(
        aw.PassiveAggressive2(0.5, kernel=aw.Gaussian(0.5), budget=7), aw.MarginRule(0.5)
    ),
    "second order, gaussian": _sampler(aw.SecondOrderPerceptron(0.5, kernel=aw.Gaussian(0.5)), aw.MarginRule(0.3)),
    "second order, dual": _sampler(aw.SecondOrderPerceptron(0.5, form="dual"), aw.MarginRule(0.3)),
    "lasec, dual": _sampler(aw.Lasec(0.5, 20.0, form="dual"), aw.MarginRule(0.3)),
    "lasec, gaussian, budget, oldest": _sampler(
        aw.Lasec(0.5, 20.0, "queried", kernel=aw.Gaussian(0.5), budget=8, evict="oldest"), aw.MarginRule(0.3)
    ),
    "least squares, linear kernel, budget": _sampler(
        aw.LeastSquares(0.5, kernel=aw.Linear(), budget=8), aw.BBQRule(0.8)
    ),
    "least squares, gaussian, switch": _sampler(
        aw.LeastSquares(0.5, kernel=aw.Gaussian(0.5)), aw.BBQRule(0.6), aw.SwitchDetector(12, 3, 0.5)
    ),
    "default": lambda seed: aw.Sampler(seed=seed),
    "auto, margin, raw": _sampler(aw.AutoLasec(b=0.5), aw.MarginRule(0.3)),
    "auto, mistake, switch": _sampler(
        aw.AutoLasec(update="mistake"), aw.BudgetRule(0.4), aw.SwitchDetector(12, 3, 0.5), aw.Prepare("unit")
    ),
    "auto, dual": _sampler(aw.AutoLasec(form="dual"), aw.BudgetRule(0.3, floor=0.05), None, aw.Prepare()),
    "auto, gaussian, budget": _sampler(
        aw.AutoLasec(kernel=aw.Gaussian(0.5), budget=8), aw.BudgetRule(0.5), None, aw.Prepare("standard")
    ),
    "auto, linear, random": _sampler(aw.AutoLasec(budget=8, evict="random"), aw.FocusedRule(0.5), None, aw.Prepare()),
    "focused, floor": _sampler(aw.Lasec(0.5, 20.0), aw.FocusedRule(0.3, floor=0.1)),
    "margin, floor, audit": _sampler(
        aw.SecondOrderPerceptron(0.5), aw.MarginRule(0.1, floor=0.1), None, None, aw.Audit(0.2)
    ),
    "bbq, silent audit": _sampler(aw.LeastSquares(), aw.BBQRule(0.5), None, None, aw.Audit(0.2, learn=False)),
    "budget, first order": _sampler(aw.Perceptron(), aw.BudgetRule(0.2), None, aw.Prepare("none")),
    "budget, by uncertainty": _sampler(aw.LeastSquares(), aw.BudgetRule(0.2, by="uncertainty")),
    "adaptive, floor, standard": _sampler(
        aw.PassiveAggressive1(0.5), aw.AdaptiveMarginRule(0.1, floor=0.05), None, aw.Prepare("standard", bias=False)
    ),
}
"""Classifiers by name; each takes a seed and gives a sampler."""

REGRESSORS = {
    "regression, gaussian": _sampler(aw.LeastSquares(regression=True, kernel=aw.Gaussian(0.5)), aw.BBQRule(0.6)),
    "regression": _sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.4)),
    "regression, bbq": lambda seed: aw.paper("BBQ", kappa=0.6, regression=True, seed=seed),
    "regression, switch": lambda seed: aw.paper(
        "BBQ-SWITCH", kappa=0.6, L0=12, K=3, delta=0.5, regression=True, Z=0.8, seed=seed
    ),
    "regression, switch, free": lambda seed: aw.paper(
        "BBQ-SWITCH-FREE", kappa=0.6, L0=12, delta=0.5, regression=True, Z=0.8, seed=seed
    ),
    "regression, budget": _sampler(
        aw.LeastSquares(regression=True), aw.BudgetRule(0.3, by="uncertainty"), None, aw.Prepare()
    ),
}
"""Regressors by name."""


def kind_of(sampler):
    """What steps are compiled for: the types of the learner's state and of the drift guard."""
    state = sampler.learner.start(2, False)
    return f"{type(state).__name__}-{type(state.w).__name__}-{type(sampler.drift).__name__}"
