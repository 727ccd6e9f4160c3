"""Are probabilities right, and do costs pay? Real streams, 10 % of the labels, all rounds scored by the true labels.

    python benchmarks/probabilities.py [--seeds 3]

Calibration error: rounds by their P(y = +1), before its random draw, in ten groups of equal size; the mean distance of
the predicted from the observed share. ``uncalibrated`` reads the margin itself as 2 P - 1. Costs: a stream of rare
positives (w8a, 3 %, and a made one, 1 %), where a miss costs as much as twenty false alarms, with the default and with
the default told so.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import askwhen as aw
from askwhen.evaluate import accuracy
from streams import DRIFTING, STILL

STREAMS = DRIFTING | STILL
NAMES = ("elec2", "usenet2", "spam", "a9a", "spambase", "svmguide1")
COSTS = (1.0, 20.0)


def said(sampler: aw.Sampler, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(y = +1) and the margin of every round, before its random draw."""
    chances, margins = np.zeros(len(y)), np.zeros(len(y))
    for i, label in enumerate(y.tolist()):
        ask = sampler.ask(X[i])
        right = 0.5 if ask.certainty is None else ask.certainty
        chances[i], margins[i] = right if ask.prediction > 0 else 1.0 - right, ask.margin
        if ask.query:
            sampler.tell(ask, label)
    return chances, margins


def calibration_error(chance: np.ndarray, y: np.ndarray) -> float:
    groups = np.array_split(np.argsort(chance, kind="stable"), 10)
    return float(sum(len(g) * abs(chance[g].mean() - (y[g] > 0).mean()) for g in groups) / len(y))


def log_loss(chance: np.ndarray, y: np.ndarray) -> float:
    right = np.clip(np.where(y > 0, chance, 1.0 - chance), 1e-6, 1.0)
    return float(-np.log(right).mean())


def rare(rng: np.random.Generator, n: int = 40_000) -> tuple[np.ndarray, np.ndarray]:
    """Ten features; one instance in a hundred is positive, and they overlap with the others."""
    y = np.where(rng.random(n) < 0.01, 1.0, -1.0)
    X = rng.standard_normal((n, 10))
    X[y > 0, :3] += 1.6
    return X, y


def costs_of(made: Any, seed: int, costs: tuple[float, float] | None) -> list[float]:
    X, y = made[0], np.asarray(made[1], float)
    sampler = aw.Sampler(costs=costs, seed=seed)
    trace = sampler.run(X, y)
    fp, fn = (trace.mistaken & (y < 0)).mean(), (trace.mistaken & (y > 0)).mean()
    found = accuracy(sampler).cost
    known = (found.low, found.value, found.high) if found is not None else (np.nan,) * 3
    return [
        fp * COSTS[0] + fn * COSTS[1],
        fp / (y < 0).mean(),
        1 - fn / (y > 0).mean(),
        trace.questions / len(y),
        *known,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibration and costs.")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print("| stream | calibration error | uncalibrated | log loss | uncalibrated |\n|---|---|---|---|---|")
    for name in NAMES:
        rows = []
        for seed in range(options.seeds):
            X, y = STREAMS[name](np.random.default_rng(1000 + seed))
            X, y = X[:20_000], np.asarray(y, float)[:20_000]
            chance, margin = said(aw.Sampler(seed=seed), X, y)
            plain = np.clip((margin + 1.0) / 2.0, 0.0, 1.0)
            later = slice(500, None)
            rows.append([f(c[later], y[later]) for f in (calibration_error, log_loss) for c in (chance, plain)])
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)) + " |", flush=True)
    print(f"\nA false positive costs {COSTS[0]:g}, a false negative {COSTS[1]:g}.\n")
    print("| stream | given | cost of a round | false alarms | found | labels | from asked labels |")
    print("|---|---|---|---|---|---|---|")
    for name, make in (("made, 1 % positive", rare), ("w8a, 3 % positive", STREAMS["w8a"])):
        for costs in (None, COSTS):
            rows = [costs_of(make(np.random.default_rng(1000 + s)), s, costs) for s in range(options.seeds)]
            cost, alarms, hits, asked, low, value, high = np.mean(rows, axis=0)
            alone = "" if costs is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
            told = "nothing" if costs is None else "the costs"
            print(f"| {name} | {told} | {cost:.3f} | {alarms:.1%} | {hits:.1%} | {asked:.1%} | {alone} |", flush=True)


if __name__ == "__main__":
    main()
