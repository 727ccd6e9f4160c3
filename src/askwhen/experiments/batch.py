"""The notes "Batch learning via online prediction": one classifier from a run, and bounds on its error.

A noisy linear target in 20 dimensions, a tenth of the labels turned over, so that no classifier errs less often than
one time in ten. The error of every classifier is measured on 20,000 further examples.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from ..batch import online_to_batch
from ..data import noisy_linear
from ..evaluate import bounds
from ..evaluate.comparison.comparing import half_width
from ..papers import paper
from ..report.figures import FigureLine, line_figure
from .outcome import ExperimentResult, Play, ResultTable, holds, plus_minus, share_shown

HOWS = ("random", "vote", "average", "last")
LEARNERS: dict[str, dict[str, Any]] = {"PERCEPTRON": {}, "WINNOW": {"eta": 0.1}}
SIZES = (100, 300, 1000, 3000, 10_000, 30_000)
HELD_OUT, D, NOISE, DELTA, AT_ONCE = 20_000, 20, 0.1, 0.05, 5


def study(play: Play, size: str) -> ExperimentResult:
    """Errors of the four ways over growing n, with Theorem 1 and Propositions 1 and 2."""
    repeats, most = {"tiny": (10, 2), "quick": (10, 6), "full": (50, 6)}[size]
    sizes = SIZES[:most]
    blocks = [range(first, first + AT_ONCE) for first in range(0, repeats, AT_ONCE)]
    cells = {
        f"{name} n={n} of {block}": partial(_runs, name, n, block)
        for name in LEARNERS
        for n in sizes
        for block in blocks
    }
    played = play(cells)
    tables, figures = [], {}
    claims: dict[str, str] = {}
    for name in LEARNERS:
        rows: list[list[str]] = []
        means: dict[str, list[np.ndarray]] = {how: [] for how in (*HOWS, "bound")}
        for n in sizes:
            runs = [run for block in blocks for run in played[f"{name} n={n} of {block}"]]
            errors = {how: np.array([run[how] for run in runs]) for how in HOWS}
            before, bound = (np.array([run[what] for run in runs]) for what in ("progressive", "bound"))
            held, held_bound = (np.array([run[what] for run in runs]) for what in ("held_out_fails", "held_out_bound"))
            for how in HOWS:
                means[how].append(errors[how])
            means["bound"].append(bound)
            broken = float(np.mean(np.array([run["mean"] for run in runs]) > bound))
            rows.append(
                [
                    f"{n:,}",
                    *(plus_minus(errors[how].mean(), float(half_width(errors[how]))) for how in HOWS),
                    plus_minus(before.mean(), float(half_width(before))),
                    share_shown(bound.mean()),
                    share_shown(broken, 0),
                    share_shown(held_bound.mean()),
                    share_shown(float(held.mean()), 0),
                ]
            )
            claims |= _claims(f"{name}, n = {n:,}", errors, before, held, broken)
        columns = ["n", *HOWS, "mistakes of the run", "bound", "it fails", "hold-out bound", "it fails"]
        given = "".join(f", {each} = {value}" for each, value in LEARNERS[name].items())
        tables.append(ResultTable(f"{name}{given}: error on {HELD_OUT:,} further examples", columns, rows))
        lines = [
            FigureLine(how, list(sizes), [each.mean() for each in found], [float(half_width(e)) for e in found])
            for how, found in means.items()
        ]
        figures[name.lower()] = line_figure(
            lines, title=f"{name}: error against examples", across="examples", up="mean error, 95 % intervals", log=True
        )
    remarks = [
        "The notes hold no measurements: their theorem and propositions are what is checked.",
        f"{repeats} repeats, 95 % intervals. The bound is that of Proposition 2 on the mean error of all hypotheses, "
        "from the mistakes of the run; the hold-out bound is that of Proposition 1 on the last hypothesis, from a "
        f"tenth of the examples held out. Either may fail in {share_shown(DELTA, 0)} of the runs; as so few are "
        "counted, two standard errors more are allowed.",
    ]
    return ExperimentResult(tables, figures, remarks, claims)


def _claims(
    where: str, errors: dict[str, np.ndarray], before: np.ndarray, held: np.ndarray, broken: float
) -> dict[str, str]:
    """Whether Theorem 1 and Propositions 1 and 2 hold in these runs."""
    off = errors["random"] - before
    near = abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(len(off))
    twice = errors["vote"].mean() <= 2 * errors["random"].mean()
    allowed = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / len(before))  # two standard errors above delta
    return {
        f"{where}: the pick errs as often as the run did (Theorem 1)": holds(near),
        f"{where}: the vote errs at most twice as often as the pick": holds(twice),
        f"{where}: the hold-out bound fails no more often than allowed (Proposition 1)": holds(held.mean() <= allowed),
        f"{where}: the bound fails no more often than allowed (Proposition 2)": holds(broken <= allowed),
    }


def _stream(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Winnow's weights are never negative, so it sees every feature with both signs."""
    X, y = noisy_linear(n, D, NOISE, seed)
    return (np.hstack([X, -X]) if name == "WINNOW" else X), y


def _runs(name: str, n: int, seeds: range) -> list[dict[str, float]]:
    found = []
    for seed in seeds:
        X, y = _stream(name, n + HELD_OUT, seed)
        held = X[n:], y[n:]
        run: dict[str, float] = {}
        for how in HOWS:
            model = online_to_batch(paper(name, seed=seed, **LEARNERS[name]), X[:n], y[:n], how, seed=seed)
            run[how] = 1.0 - model.score(*held)
        run["progressive"] = model.mistakes / n
        run["bound"] = float(bounds.progressive_validation(model.mistakes, n, DELTA))
        run["mean"] = _mean_error(name, X[:n], y[:n], held, seed)
        last_part = max(n // 10, 10)
        first = online_to_batch(
            paper(name, seed=seed, **LEARNERS[name]), X[: n - last_part], y[: n - last_part], "last"
        )
        wrong = int(np.count_nonzero(first.predict(X[n - last_part : n]) != y[n - last_part : n]))
        run["held_out_bound"] = float(bounds.hold_out(wrong, last_part, DELTA))
        run["held_out_fails"] = float(1.0 - first.score(*held) > run["held_out_bound"])
        found.append(run)
    return found


def _mean_error(name: str, X: np.ndarray, y: np.ndarray, held: tuple[np.ndarray, np.ndarray], seed: int) -> float:
    """The error of the uniform pick itself: the mean over up to 400 hypotheses, evenly spread over the run."""
    sampler = paper(name, seed=seed, **LEARNERS[name])
    ends = np.unique(np.linspace(0, len(y), 401).astype(int)).tolist()
    weights = []
    for first, last in itertools.pairwise(ends):
        sampler.run(X[first:last], y[first:last], trace=False)
        weights.append(sampler.weights)
    predicted = held[0] @ np.array(weights).T > 0
    return float(np.mean(predicted != (held[1] > 0)[:, None]))
