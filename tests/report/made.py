"""Runs and comparisons put together by hand, for the tests of reports."""

import dataclasses

import numpy as np

import askwhen as aw
from askwhen import Trace
from askwhen.evaluate import Accuracy, AdviserCell, AdviserEstimate, Curve, Estimate, Progress, progressive
from askwhen.evaluate.comparison.comparing import Cell, Comparison

FACTS = {"file": "stream.csv", "seed": "7"}
COMMAND = "askwhen run stream.csv --seed 7"


def trace_of(n, *, queried=None, margin=None, levels=0, switches=(), start=0, seed=0):
    rng = np.random.default_rng(seed)
    queried = rng.random(n) < 0.2 if queried is None else np.broadcast_to(queried, n)
    margin = rng.standard_normal(n) if margin is None else np.broadcast_to(margin, n)
    mistaken = rng.random(n) < 0.1
    return Trace(
        start=start,
        rounds=n,
        questions=int(queried.sum()),
        updates=int(queried.sum()),
        mistakes=int(mistaken.sum()),
        margin=margin,
        prediction=np.where(margin > 0, 1.0, -1.0),
        probability=np.full(n, 0.2),
        coin=rng.random(n),
        queried=queried,
        updated=queried,
        mistaken=mistaken,
        switches=np.array(switches, int) + start,
        drift_weights=rng.dirichlet(np.ones(levels), n) if levels else np.zeros((n, 0)),
    )


def progress_of(trace, window, *, regression=False, known=True):
    rounds = np.append(np.arange(window, trace.rounds, window), trace.rounds)
    starts = np.append(0, rounds[:-1])

    def per_window(values):
        return np.add.reduceat(np.asarray(values, float), starts)

    counts = np.zeros((len(rounds), 1, 7))
    counts[:, 0, 4], counts[:, 0, 5] = per_window(trace.queried), per_window(trace.updated)
    if regression:
        counts[:, 0, 6] = per_window(np.random.default_rng(1).random(trace.rounds))
    else:
        counts[:, 0, 1], counts[:, 0, 3] = per_window(trace.mistaken), per_window(~trace.mistaken)
    unknown = np.full(len(rounds), np.nan)
    so_far = 1 - counts[:, 0, 1].cumsum() / rounds
    value = so_far - 0.01 if known else unknown
    one = Estimate(float(value[-1]), 0.0 if not known else 0.7, 1.0, float(value[-1]), trace.rounds)
    estimate = Accuracy(one, one, one, one, one, trace.rounds, trace.questions, trace.questions, 0, 0.0, 0.95)
    curve = Curve(rounds, value, np.maximum(value - 0.1, 0), np.minimum(value + 0.1, 1))
    return Progress(
        rounds=rounds,
        counts=counts,
        switches=(trace.switches - trace.start).tolist(),
        estimate=None if regression else estimate,
        curve=None if regression else curve,
        delta=0.05,
        several=False,
        baseline_counts=baseline_counts_of(rounds, regression),
    )


def baseline_counts_of(rounds, regression):
    """The simple rules are right in 60 and 70 % of every window, or off by 6 and 7."""
    sizes = np.diff(rounds, prepend=0)[:, None]
    if regression:
        return {"mean so far": 6.0 * sizes, "last label told": 7.0 * sizes}
    return {"majority so far": 0.6 * sizes, "last label told": 0.7 * sizes}


def comparison_of(names, full=(), shares=(0.05, 0.1, 0.2), repeats=5, windows=30, seed=0):
    rng = np.random.default_rng(seed)
    cells = []
    for part, who in [(part, names) for part in shares] + ([(1.0, full)] if full else []):
        for k, name in enumerate(who):
            accuracy = 0.8 + 0.01 * k + 0.03 * rng.standard_normal((repeats, windows))
            asked = np.full(repeats, part) if part == 1 else part + 0.001 * rng.standard_normal(repeats)
            letters = {"b": 1.0, "a": part / 3}
            cells.append(Cell(name, letters, part, asked, accuracy.mean(axis=1), accuracy, 0.25 * (k + 1)))
    rounds = 500 * np.arange(1, windows + 1)
    simple = [("last label told", part, 0.65) for part in shares] + [("majority so far", 1.0, 0.55)]
    if names:
        simple.append((f"{names[0]}, all labels", 1.0, 0.9))
    baselines = [
        Cell(
            name, {}, part, np.full(repeats, part), np.full(repeats, right), np.full((repeats, windows), right), np.nan
        )
        for name, part, right in simple
    ]
    return Comparison(cells, [*names, *full], list(shares), rounds, repeats, baselines)


REFITTED = [
    f"{model}, refitted, labels {rule}"
    for model in ("logistic regression", "gradient boosting")
    for rule in ("at random", "by margin")
]


def advisers_of(y, window=50):
    """Nine advisers of a run with these labels: one falls, one is mostly silent, and one may know the label."""
    rng = np.random.default_rng(9)
    n = len(y)
    names = [
        "gpt",
        "falls & <rises>",
        "a long name of an adviser that says little",
        "leak",
        *(f"a{k}" for k in range(5)),
    ]
    says = {name: np.where(rng.random(n) < 0.8, y, -y) for name in names}
    says[names[1]] = np.where(rng.random(n) < np.where(np.arange(n) < n // 2, 0.95, 0.1), y, -y)
    says[names[2]] = np.where(rng.random(n) < 0.1, says[names[2]], np.nan)
    says[names[3]] = y
    sampler = aw.Sampler(rule=aw.FixedRate(0.9), seed=1, labels=(-1, 1), advisers=names)
    X = np.zeros((n, 1))
    return progressive(sampler, [(X, y, None, says)], window=window).advisers


def with_advisers(comparison):
    """The same comparison with two advisers, of which one is often silent."""
    windows = np.full(len(comparison.rounds), 0.75)
    gone = np.where(np.arange(len(windows)) < 9, 0.5, np.nan)
    some = [AdviserEstimate("default", part, 0.74, 0.6, 0.85, 4) for part in comparison.shares]
    few = [AdviserEstimate("default", part, np.nan, 0.2, 0.8, 5) for part in comparison.shares]
    cells = [AdviserCell("gpt", 0.75, 0.0, windows, some), AdviserCell("old & <new>", 0.5, 0.7, gone, few)]
    first = comparison.cells[0]
    alone = dataclasses.replace(first, algorithm=f"{first.algorithm}, without advice")
    return dataclasses.replace(comparison, advisers=cells, baselines=[*comparison.baselines, alone])


def with_refitted(comparison, left_out=()):
    """The same comparison with refitted models, accurate in 71, 72, 73 and 74 %."""
    windows, repeats = len(comparison.rounds), comparison.repeats
    cells = [
        Cell(
            name,
            {},
            part,
            np.full(repeats, part),
            np.full(repeats, 0.71 + 0.01 * k),
            np.full((repeats, windows), 0.71 + 0.01 * k),
            2.5,
            refits=20 + k,
        )
        for part in comparison.shares
        for k, name in enumerate(REFITTED)
    ]
    return dataclasses.replace(comparison, refitted=cells, left_out=list(left_out))


TWELVE = [
    *("SEL-P", "SEL-ADA", "SEL-2ND", "SEL-WINNOW", "PERCEPTRON-SS", "SOP-SS", "LASEC-SS", "BBQ", "BBQ-SWITCH-FREE"),
    "PA-II-ACTIVE",
]
"""With the two that ask for everything, twelve."""


def twelve(**more):
    return comparison_of(TWELVE, full=["PERCEPTRON", "LASEC"], **more)
