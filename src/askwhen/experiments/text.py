"""Cesa-Bianchi, Gentile, Zaniboni 2006, section 4: selective sampling on newswire stories, one task for each topic.

The paper has the first 40,000 stories of RCV1 in their order; here are the 27,613 of a public subset, which is not in
order, and Reuters-21578 in the order of its dates, the logarithms of its word counts scaled to unit norm. All numbers
are means over the 50 most frequent topics.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import load
from ..papers import paper
from ..report.figures import FigureLine, line_figure
from .outcome import ExperimentResult, NumberText, Play, ResultTable, holds, is_here, none_here, share_shown

RATES = (0.292, 0.438, 0.533, 0.600, 0.649, 0.688, 0.718)
B = {
    "SEL-P": (0.250, 0.500, 0.750, 1.000, 1.250, 1.500, 1.750),
    "SEL-2ND": (0.040, 0.085, 0.125, 0.168, 0.210, 0.236, 0.240),
}
"""The paper's table: b for each sampling rate."""
BETAS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
TARGET, BLOCK, NOT_TOPICS = 0.55, 4000, ("M143", "MCAT")
SETS = {"rcv1": "RCV1 subset", "reuters": "Reuters-21578"}


SIZES = {"tiny": (600, 3), "quick": (4000, 8), "full": (1 << 30, 50)}
"""Numbers of stories and of topics."""


def study(play: Play, size: str) -> ExperimentResult:
    """Figures 5 to 8 and the table of b."""
    rows, topics = SIZES[size]
    made = ExperimentResult([])
    remarks = ["F is averaged over the topics, where a topic that is never predicted counts 0. One run for each row."]
    if size == "full":
        remarks.append(
            f"The paper's target of 0.65 for F is out of reach on this subset; Figure 8 has {TARGET} instead."
        )
    else:
        remarks.append(f"Not in full: the first {rows:,} stories and the {topics} most frequent topics.")
    for name, called in SETS.items():
        if is_here(name):
            made += _of_set(play, name, called, rows, topics, blocks=name == "rcv1")
        else:
            remarks.append(f"{called} is left out: its file is not in the folder that ASKWHEN_DATA names.")
    if not made.tables:
        raise none_here("selective-text", SETS)
    return made + ExperimentResult([], {}, remarks, {})


def _of_set(play: Play, name: str, called: str, rows: int, topics: int, blocks: bool) -> ExperimentResult:
    size = (name, rows, topics)
    plans: dict[Any, Any] = {(each, b): (each, {"b": b}) for each, bs in B.items() for b in bs}
    plans |= {("SEL-ADA", beta): ("SEL-ADA", {"beta": beta}) for beta in BETAS}
    plans |= {("SEL-P", "all"): ("PERCEPTRON", {}), ("SEL-2ND", "all"): ("SOP", {"b": 1.0})}
    found = _played(play, size, plans)
    random = {(each, b): (f"{each}-FIXED", {"rate": found[each, b]["rate"]}) for each, bs in B.items() for b in bs}
    at_random = _played(play, size, random)
    tables, claims, figures = [], {}, {}
    for each, bs in B.items():
        full = found[each, "all"]["f"]
        rates, fs, others = (
            [found[each, b]["rate"] for b in bs],
            [found[each, b]["f"] for b in bs],
            [at_random[each, b]["f"] for b in bs],
        )
        lines = [
            [
                f"{b:g}",
                share_shown(published),
                share_shown(rate),
                NumberText(f"{f:.3f}", f),
                NumberText(f"{other:.3f}", other),
            ]
            for b, published, rate, f, other in zip(bs, RATES, rates, fs, others, strict=True)
        ]
        lines.append(
            ["all labels", "", share_shown(1.0), NumberText(f"{full:.3f}", full), NumberText(f"{full:.3f}", full)]
        )
        columns = ["b", "published rate", "measured rate", f"F of {each}", "F at random, same rate"]
        tables.append(ResultTable(f"{called}: {each}", columns, lines))
        beats = all(f > other for f, other in zip(fs, others, strict=True))
        claims[f"{called}: {each} beats sampling at random at all seven rates"] = holds(beats)
        figures[f"{name}-{each.lower()}-against-random"] = line_figure(
            [
                FigureLine(each, rates, fs),
                FigureLine("at random", rates, others),
                FigureLine("all labels", rates, [full] * len(rates)),
            ],
            title=f"{called}, {each}: margin against random sampling (Figure 5)",
            across="sampling rate",
            up="F",
            shares=False,
            shares_across=True,
        )
        figures[f"{name}-{each.lower()}-by-b"] = line_figure(
            [FigureLine("F", bs, fs), FigureLine("sampling rate", bs, rates)],
            title=f"{called}, {each}: F and sampling rate against b (Figure 6)",
            across="b",
            up="F, sampling rate",
            shares=False,
        )
    made = ExperimentResult(tables, figures, [], claims) + _figure_7(found, name, called)
    return made + _figure_8(play, size, called) if blocks else made


def _figure_7(found: dict[Any, Any], name: str, called: str) -> ExperimentResult:
    """F of the three algorithms against the sampling rate."""
    points = {
        each: sorted((run["rate"], run["f"]) for (whose, what), run in found.items() if whose == each and what != "all")
        for each in (*B, "SEL-ADA")
    }
    figure = line_figure(
        [FigureLine(each, [rate for rate, _ in pairs], [f for _, f in pairs]) for each, pairs in points.items()],
        title=f"{called}: three algorithms against the sampling rate (Figure 7)",
        across="sampling rate",
        up="F",
        shares=False,
        shares_across=True,
    )
    common = max(pairs[0][0] for pairs in points.values()), min(pairs[-1][0] for pairs in points.values())
    rate = min(max(0.5, common[0]), common[1])  # half of the labels, or what all three have nearest to it
    level = {each: float(np.interp(rate, *np.array(pairs).T)) for each, pairs in points.items()}
    shown: list[list[str]] = [[NumberText(f"{value:.3f}", value) for value in level.values()]]
    table = ResultTable(f"{called}: F at {share_shown(rate, 0)} of the labels (Figure 7)", list(level), shown)
    best = max(level, key=level.__getitem__)
    claim = f"{called}: SEL-2ND has the best F at {share_shown(rate, 0)} of the labels"
    return ExperimentResult([table], {f"{name}-three": figure}, [], {claim: holds(best == "SEL-2ND")})


def _played(play: Play, size: tuple[str, int, int], plans: dict[Any, tuple[str, dict[str, Any]]]) -> dict[Any, Any]:
    """The runs of these plans."""
    named = {f"{size} {plan}": partial(_run, size, *plan) for plan in plans.values()}
    found = play(named)
    return {key: found[f"{size} {plan}"] for key, plan in plans.items()}


def _figure_8(play: Play, size: tuple[str, int, int], called: str) -> ExperimentResult:
    """Sampling rates that the target F takes, block by block."""
    scales = {"SEL-P": "b", "SEL-ADA": "beta", "SEL-2ND": "b"}
    found = play({f"target {each}": partial(_reach, size, each, scale) for each, scale in scales.items()})
    runs = {each: found[f"target {each}"] for each in scales}
    published = {"SEL-P": "60 %", "SEL-ADA": "74 %", "SEL-2ND": "9 %"}
    lines = [
        [
            each,
            f"{scales[each]}={run['scale']:.4g}",
            NumberText(f"{run['f']:.3f}", run["f"]),
            published[each],
            share_shown(run["rate"]),
        ]
        for each, run in runs.items()
    ]
    columns = ["", "parameter", "F reached", "published rate (for F 0.65)", "measured rate"]
    figures = {
        f"target-{what}": line_figure(
            [FigureLine(each, run["ends"], run[f"block_{what}"]) for each, run in runs.items()],
            title=f"{called}: {called_what} in blocks of 4,000 stories, tuned to F = {TARGET} (Figure 8)",
            across="stories",
            up=called_what,
            shares=what == "rate",
        )
        for what, called_what in {"f": "F", "rate": "sampling rate"}.items()
    }
    rates = {each: run["rate"] for each, run in runs.items()}
    fewest = holds(min(rates, key=rates.__getitem__) == "SEL-2ND")
    if any(abs(run["f"] - TARGET) > 0.01 for run in runs.values()):
        fewest = "not known: the target was not met"
    claims = {f"{called}: SEL-2ND needs the fewest labels for the target": fewest}
    table = ResultTable(f"{called}: labels needed for F = {TARGET} (Figure 8)", columns, lines)
    return ExperimentResult([table], figures, [], claims)


def _reach(size: tuple[str, int, int], name: str, scale: str) -> dict[str, Any]:
    """The run whose F is nearest to the target, by bisection."""
    low, high = np.log(0.001), np.log(4.0)
    best: dict[str, Any] = {}
    for _ in range(8):
        z = 0.5 * (low + high)
        run = _run(size, name, {scale: float(np.exp(z))}) | {"scale": float(np.exp(z))}
        low, high = (z, high) if run["f"] < TARGET else (low, z)
        if not best or abs(run["f"] - TARGET) < abs(best["f"] - TARGET):
            best = run
    return best


@cache
def _stories(name: str, rows: int, topics: int) -> tuple[Any, np.ndarray]:
    data = load(name)
    counts = (data.y > 0).sum(axis=0).astype(int)
    ranked = [j for j in np.argsort(-counts, kind="stable") if data.names[j] not in NOT_TOPICS]
    X = data.X[:rows].copy()
    if name == "reuters":  # counts of words; RCV1 comes with rows of unit norm
        X.data = np.log1p(X.data)
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sp.csr_matrix(sp.diags(1.0 / np.maximum(norms, 1e-12)) @ X)
    return X, np.ascontiguousarray(data.y[:rows][:, ranked[:topics]])


def _run(size: tuple[str, int, int], name: str, hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """F and sampling rate, as means over the topics: of the whole stream, and of every block of 4,000."""
    X, Y = _stories(*size)
    traces = paper(name, seed=0, **hyperparameters).run_tasks(X, Y, margins=False)
    predicted = np.column_stack([trace.prediction for trace in traces]) > 0
    asked = np.column_stack([trace.queried for trace in traces])
    ends = [*range(BLOCK, len(Y), BLOCK), len(Y)]
    parts = list(zip([0, *ends[:-1]], ends, strict=True))
    return {
        "f": _f(predicted, Y > 0),
        "rate": float(asked.mean()),
        "ends": ends,
        "block_f": [_f(predicted[a:b], Y[a:b] > 0) for a, b in parts],
        "block_rate": [float(asked[a:b].mean()) for a, b in parts],
    }


def _f(predicted: np.ndarray, true: np.ndarray) -> float:
    """The mean over topics of 2 tp / (2 tp + fp + fn), 0 where a topic has neither."""
    right = (predicted & true).sum(axis=0)
    sums = predicted.sum(axis=0) + true.sum(axis=0)
    return float(np.mean(np.divide(2.0 * right, sums, out=np.zeros(len(sums)), where=sums > 0)))
