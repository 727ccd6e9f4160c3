"""Moroshko, Crammer 2014, Figure 2: drifting streams, supervised and with few labels.

Gaussian instances whose target is replaced every 500 rounds, and USPS digits of which a random group is +1, another one
every 500 rounds. b and c of LASEC and b of SOP are tuned on one more draw of the data, supervised, as in the paper; the
selective versions take the same, and their scale is matched to each share of labels on that draw. SOP is shown with its
own b, tuned over all switches, and with that of LASEC, of which it is the limit without drift.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..algorithms import algorithm
from ..data import load, regrouped, switching
from ..evaluate.comparison.comparing import half_width
from ..evaluate.comparison.rate_matching import matched
from ..report.figures import FigureLine, line_figure
from .outcome import NO, WITHIN, YES, ExperimentResult, Play, ResultTable, is_here, listed, plus_minus, share_shown

SOP_LIKE_LASEC = "sop, with the b of lasec"
SUPERVISED = ("lasec", "sop", SOP_LIKE_LASEC, "perceptron", "shifting", "modified", "rbp")
SELECTIVE = ("lasec-ss", "sop-ss", "perceptron-ss", "bbq", "bbq-i")
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
EVERY, POINTS, TUNING_SEED, AT_ONCE = 500, 100, 10_000, 5
B_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
C_GRID = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)

Stream = Callable[[int], tuple[Any, np.ndarray]]
HyperparametersByName = dict[str, dict[str, Any]]


SIZES = {"tiny": (3, (0.4,)), "quick": (5, SHARES), "full": (50, SHARES)}
"""Number of repeats, and the shares of labels."""


def synthetic(play: Play, size: str) -> ExperimentResult:
    """Figure 2 a, b, c and e."""
    stream = partial(switching, 10_000, 50, EVERY)
    fixed: HyperparametersByName = {"shifting": {"lam": 0.01}, "rbp": {"B": 500}}
    return _study(play, lambda seed: stream(seed), fixed, size, "the synthetic stream", [])


def usps(play: Play, size: str) -> ExperimentResult:
    """Figure 2 d and f."""
    found, remarks = load("usps" if is_here("usps") else "digits"), []
    if not is_here("usps"):
        remarks.append("USPS is not here: these are scikit-learn's digits (1,797 of 8 x 8), so levels differ from it.")
    X, y = found.X, found.y
    if found.X_test is not None:
        X, y = np.concatenate([X, found.X_test]), np.concatenate([y, found.y_test])
    fixed: HyperparametersByName = {"shifting": {"lam": 0.0001}, "rbp": {"B": 1000}}
    stream = partial(_regrouped, X, y)
    return _study(play, stream, fixed, size, "USPS" if not remarks else "the digits", remarks)


def _regrouped(X: Any, y: Any, seed: int) -> tuple[Any, np.ndarray]:
    return regrouped(X, y, EVERY, seed)


def _study(
    play: Play, stream: Stream, fixed: HyperparametersByName, size: str, where: str, remarks: list[str]
) -> ExperimentResult:
    repeats, shares = SIZES[size]
    remarks = [
        *remarks,
        f"{repeats} repeats; accuracies with 95 % intervals. b of LASEC and SOP is the best of {listed(B_GRID)}, c of "
        f"LASEC of {listed(C_GRID)}, with every label of one more draw; the scale of each selective algorithm is "
        "matched to the share on that draw. rbp is the randomised budget Perceptron.",
    ]
    grid = {f"tune lasec b={b:g} c={c:g}": ("lasec", {"b": b, "c": c}) for b in B_GRID for c in C_GRID if b < c}
    grid |= {f"tune sop b={b:g}": ("sop", {"b": b}) for b in B_GRID}
    scores = play({cell: partial(_score, stream, *plan) for cell, plan in grid.items()})
    best = {
        name: grid[max((cell for cell in grid if grid[cell][0] == name), key=scores.__getitem__)][1]
        for name in ("lasec", "sop")
    }
    best[SOP_LIKE_LASEC] = {"b": best["lasec"]["b"]}
    hyperparameters = fixed | best | {"lasec-ss": best["lasec"], "sop-ss": best["sop"]}
    scales = play(
        {
            f"match {name} to {share:g}": partial(_match, stream, name, share, hyperparameters.get(name, {}))
            for name in SELECTIVE
            for share in shares
        }
    )
    plans = {(name, 1.0): hyperparameters.get(name, {}) for name in SUPERVISED}
    plans |= {(name, share): scales[f"match {name} to {share:g}"] for name in SELECTIVE for share in shares}
    blocks = [range(first, min(first + AT_ONCE, repeats)) for first in range(0, repeats, AT_ONCE)]
    cells = {
        f"{name} at {share:g} of {block}": partial(_runs, stream, name, plan, block)
        for (name, share), plan in plans.items()
        for block in blocks
    }
    runs = play(cells)
    found = {
        (name, share): _Runs([run for block in blocks for run in runs[f"{name} at {share:g} of {block}"]])
        for name, share in plans
    }
    return _result(found, plans, shares, where, remarks)


def _score(stream: Stream, name: str, hyperparameters: dict[str, Any]) -> float:
    X, y = stream(TUNING_SEED)
    return 1.0 - float(algorithm(name).build(hyperparameters).run(X, y, margins=False, trace=False).mistakes) / len(y)


def _match(stream: Stream, name: str, share: float, hyperparameters: dict[str, Any]) -> dict[str, Any]:
    X, y = stream(TUNING_SEED)
    return matched(algorithm(name), X, y, share, hyperparameters)


def _runs(stream: Stream, name: str, hyperparameters: dict[str, Any], seeds: range) -> list[dict[str, Any]]:
    """Of every repeat: rounds, the share asked, and the accuracy so far at some of the rounds."""
    found = []
    for seed in seeds:
        X, y = stream(seed)
        trace = algorithm(name.partition(",")[0]).build(hyperparameters, seed=seed).run(X, y, margins=False)
        ends = np.linspace(0, len(y), POINTS + 1).astype(int)[1:]
        so_far = 1.0 - np.cumsum(trace.mistaken)[ends - 1] / ends
        found.append(
            {
                "asked": trace.questions / len(y),
                "so_far": so_far.tolist(),
                "first": 1.0 - float(trace.mistaken[:EVERY].mean()),
                "after": 1.0 - float(trace.mistaken[EVERY:].mean()),
                "rounds": ends.tolist(),
            }
        )
    return found


class _Runs:
    """The repeats of one algorithm at one share."""

    def __init__(self, runs: list[dict[str, Any]]) -> None:
        self.rounds = runs[0]["rounds"]
        self.asked = float(np.mean([run["asked"] for run in runs]))
        self.so_far = np.array([run["so_far"] for run in runs])
        self.first, self.after = (np.array([run[part] for run in runs]) for part in ("first", "after"))

    @property
    def final(self) -> np.ndarray:
        return self.so_far[:, -1]

    def line(self, name: str) -> FigureLine:
        return FigureLine(name, self.rounds, self.so_far.mean(axis=0).tolist(), half_width(self.so_far).tolist())


def _result(
    found: dict[tuple[str, float], _Runs],
    plans: dict[tuple[str, float], dict[str, Any]],
    shares: tuple[float, ...],
    where: str,
    remarks: list[str],
) -> ExperimentResult:
    tables = [_table("Supervised", found, plans, [(name, 1.0) for name in SUPERVISED])]
    figures = {
        "supervised": line_figure(
            [found[name, 1.0].line(name) for name in SUPERVISED],
            title=f"Every label, on {where}: accuracy so far",
            across="rounds",
            up="mean accuracy, 95 % intervals",
        )
    }
    supervised = {name: found[name, 1.0] for name in SUPERVISED}
    claims = {
        "lasec is best after the first switch, with every label": _best(supervised, "lasec", "after"),
        "sop is best before the first switch, with every label": _best(supervised, "sop", "first", SOP_LIKE_LASEC),
        f"{SOP_LIKE_LASEC}, is best before the first switch": _best(supervised, SOP_LIKE_LASEC, "first", "sop"),
    }
    for share in shares:
        here = [(name, share) for name in SELECTIVE]
        tables.append(_table(f"At {share_shown(share, 0)} of the labels", found, plans, here))
        if share in (0.1, 0.4):
            figures[f"share-{share:g}"] = line_figure(
                [found[plan].line(plan[0]) for plan in here],
                title=f"{share_shown(share, 0)} of the labels, on {where}: accuracy so far",
                across="rounds",
                up="mean accuracy, 95 % intervals",
            )
            at, selective = (
                f"at {share_shown(share, 0)} of the labels",
                {name: found[name, share] for name in SELECTIVE},
            )
            claims[f"lasec-ss is best after the first switch, {at}"] = _best(selective, "lasec-ss", "after")
            claims[f"bbq is best before the first switch, {at}"] = _best(selective, "bbq", "first")
    figures["against-labels"] = line_figure(
        [
            FigureLine(
                name,
                [found[name, share].asked for share in shares],
                [found[name, share].final.mean() for share in shares],
                [float(half_width(found[name, share].final)) for share in shares],
            )
            for name in SELECTIVE
        ],
        title=f"On {where}: accuracy against labels",
        across="share of labels asked for",
        up="mean accuracy, 95 % intervals",
        shares_across=True,
    )
    return ExperimentResult(tables, figures, remarks, claims)


def _best(found: dict[str, _Runs], winner: str, part: str, *but: str) -> str:
    """Whether one has the highest accuracy in a part of the rounds; the runs are paired by their seeds."""
    values = {name: getattr(runs, part) for name, runs in found.items() if name not in but}
    second = max((name for name in values if name != winner), key=lambda name: float(values[name].mean()))
    lead = values[winner] - values[second]
    if lead.mean() <= 0.0:
        return NO
    return YES if lead.mean() > half_width(lead) else WITHIN


def _table(
    title: str,
    found: dict[tuple[str, float], _Runs],
    plans: dict[tuple[str, float], dict[str, Any]],
    rows: list[tuple[str, float]],
) -> ResultTable:
    columns = ["algorithm", "asked", "before the first switch", "after it", "all rounds", "parameters"]
    lines = []
    for plan in sorted(rows, key=lambda plan: -found[plan].final.mean()):
        runs = found[plan]
        hyperparameters = " ".join(f"{each}={value:.4g}" for each, value in plans[plan].items())
        parts = (plus_minus(each.mean(), float(half_width(each))) for each in (runs.first, runs.after, runs.final))
        lines.append([plan[0], share_shown(runs.asked), *parts, hyperparameters])
    return ResultTable(title, columns, lines)
