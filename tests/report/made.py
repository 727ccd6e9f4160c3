"""Runs and comparisons put together by hand, for the tests of reports."""

import dataclasses

import numpy as np

from askwhen import Trace
from askwhen.evaluate import Accuracy, Curve, Estimate, Progress
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
