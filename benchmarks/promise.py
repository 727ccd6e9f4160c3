"""Promises on delivered labels: how many labels they save, what they cost, and whether they hold.

    python benchmarks/promise.py [--seeds 5] [--quick]
    python benchmarks/promise.py --validity [--streams 500] [--rounds 4000] [--jobs 2]

The first needs the folder of ASKWHEN_DATA. Labels saved and delivered errors of elec2 (20,000 rounds) and a9a (10,000),
with the default learner. imagenetv2_advice and stance have a model's answers with its confidence, and no learner: the
margin is the odds of the confidence. PAC Labels is what its authors' method saves, run once over the whole pile. The
cost of a round is a ratio.

``--validity`` plays streams that drift, and labels of adversaries who see the account before every round. A promise
with 95 % confidence may be broken in at most 37 of 500 lives: one that holds is above that in one try of a hundred.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import load
from askwhen.evaluate.comparison.known_margins import KnownMargins

ERRORS = (0.02, 0.05, 0.1)
PILES = {"imagenetv2_advice": (38.6, 51.3), "stance": (25.4, 38.3)}


def stream(name: str, seed: int, quick: bool) -> tuple[Any, np.ndarray]:
    data = load(name)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    rows, order = 20_000 if name == "elec2" else 10_000, np.arange(len(data.y))
    if name != "elec2":
        order = np.random.default_rng(seed).permutation(len(data.y))
    order = order[: rows // 10 if quick else rows]
    return X[order], data.y[order]


def pile(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Margins of a model's answers, and whether they are right, in a random order."""
    with gzip.open(Path(os.environ["ASKWHEN_DATA"]) / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    model = next(column for column in ("model", "gpt4o") if column in rows[0])
    sure = np.clip([float(row[f"{model}_confidence"]) for row in rows], 1e-3, 1.0 - 1e-4)
    right = np.array([row[model] == row["label"] for row in rows])
    order = np.random.default_rng(seed).permutation(len(rows))
    return (sure / (1.0 - sure))[order, None], np.where(right, 1.0, -1.0)[order]


def played(sampler: aw.Sampler, X: Any, y: np.ndarray) -> list[float]:
    trace = sampler.run(X, y)
    promise = sampler.promise
    wrong = float((trace.delivered != y).mean())
    assert wrong <= promise.error
    assert promise.certified <= promise.error
    return [1.0 - trace.questions / trace.rounds, wrong, promise.certified, 1.0 - float(trace.mistaken.mean())]


def table(seeds: int, quick: bool) -> None:
    print("| stream | errors promised | length | labels saved | delivered errors | certified | right predictions |")
    print("|---|---|---|---|---|---|---|")
    for name in ("elec2", "a9a"):
        for error in ERRORS:
            for known in (False, True):
                rows = []
                for seed in range(seeds):
                    X, y = stream(name, seed, quick)
                    rule = aw.PromiseRule(error, length=len(y) if known else None)
                    rows.append(played(aw.Sampler(rule=rule, seed=seed), X, y))
                cells = [f"{100 * cell:.1f} %" for cell in np.mean(rows, axis=0)]
                print(
                    f"| {name} | {error:.0%} | {'known' if known else 'not known'} | {' | '.join(cells)} |", flush=True
                )
    print("\n| pile, without a learner | errors promised | saved, length known | not known | PAC Labels, once |")
    print("|---|---|---|---|---|")
    for name, theirs in PILES.items():
        for error, saved in zip(ERRORS[1:], theirs, strict=True):
            shares = []
            for known in (True, False):
                found: list[float] = []
                for seed in range(seeds):
                    X, y = pile(name, seed)
                    rule = aw.PromiseRule(error, length=len(y) if known else None)
                    found.append(played(aw.Sampler(KnownMargins(), rule, seed=seed), X, y)[0])
                shares.append(f"{100 * np.mean(found):.1f} %")
            print(f"| {name} | {error:.0%} | {shares[0]} | {shares[1]} | {saved} % |", flush=True)


def seconds(make: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Time of a round: the best of five runs."""
    times = []
    make().run(X[:200], y[:200])
    for _ in range(5):
        sampler = make()
        began = time.perf_counter()
        sampler.run(X, y, trace=False)
        times.append(time.perf_counter() - began)
    return min(times) / len(y)


def cost() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    print("\n| time of a round, over that of BudgetRule(0.1) | ratio |\n|---|---|")
    for name, learner in (("Perceptron", aw.Perceptron()), ("the default", None)):
        promise, budget = (
            seconds(lambda rule=rule, learner=learner: aw.Sampler(learner, rule, seed=1), X, y)
            for rule in (aw.PromiseRule(0.05), aw.BudgetRule(0.1))
        )
        print(f"| {name}, 50 features | {promise / budget:.2f} |", flush=True)


def drifting(seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features; the target turns slowly and jumps now and then, and one label in twenty is wrong."""
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((rounds, 5))
    targets = np.cumsum(0.01 * rng.standard_normal((rounds, 5)), axis=0) + rng.standard_normal(5)
    jumps = np.cumsum(rng.random(rounds) < 2.0 / rounds)
    targets += 3.0 * rng.standard_normal((jumps[-1] + 1, 5))[jumps]
    y = np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.02, -y, y)


def room(sampler: aw.Sampler) -> float:
    """How far the account is from breaking the promise: above 1 where it is kept."""
    return float(sampler.engine.rule.standing.sum())


ADVERSARIES: dict[str, Any] = {
    "drifting labels": None,
    "wrong while there is room": lambda sampler, ask, rng: room(sampler) > 5.0,
    "wrong where it is sure": lambda sampler, ask, rng: ask.probability < 0.1,
    "wrong where it asks least, after a quiet time": lambda sampler, ask, rng: (
        ask.probability < 0.3 and sampler.round % 400 > 300
    ),
    "at random": lambda sampler, ask, rng: rng.random() < 0.1,
    "right while the wealth is low": lambda sampler, ask, rng: room(sampler) > 2.0 and rng.random() < 0.5,
}


def life(name: str, seed: int, rounds: int, error: float, late: int) -> tuple[bool, bool, float]:
    """Whether delivered errors ever exceed the promise; whether the certificate does; and the share of questions."""
    X, y = drifting(seed, rounds)
    rng, adversary = np.random.default_rng([seed, 2]), ADVERSARIES[name]
    sampler = aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(error), seed=seed)
    wrong, broken, above, waiting = 0, False, False, []
    for i in range(rounds):
        ask = sampler.ask(X[i])
        if adversary is None:
            is_wrong = ask.prediction != y[i]
        else:  # the label is a function of what was known before the draw: P, and the account
            is_wrong = bool(adversary(sampler, ask, rng))
        if ask.query:
            waiting.append((ask, -ask.prediction if is_wrong else ask.prediction))
        elif not ask.withheld:
            wrong += is_wrong
        if len(waiting) > late:
            number = int(rng.integers(len(waiting)))
            sampler.tell(*waiting.pop(number))
        delivered = sampler.promise.delivered
        broken |= wrong > error * delivered + 1e-9 and delivered > 0
        above |= i % 20 == 0 and delivered > 0 and not sampler.promise.is_met
    return broken, above, sampler.questions / rounds


def validity(streams: int, rounds: int, jobs: int) -> None:
    print(f"{streams} streams of {rounds} rounds, 10 % errors promised with 95 % confidence\n")
    print("| labels | answers | broken | certificate above it | questions |\n|---|---|---|---|---|")
    with ProcessPoolExecutor(jobs) as pool:
        for name in ADVERSARIES:
            for late in (0, 10):
                work = [pool.submit(life, name, seed, rounds, 0.1, late) for seed in range(streams)]
                found = np.array([each.result() for each in work], float)
                broken, above, asked = found.mean(axis=0)
                when = f"up to {late} waiting, in any order" if late else "at once"
                print(f"| {name} | {when} | {broken:.1%} | {above:.1%} | {asked:.1%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Promises on delivered labels.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds, two seeds")
    parser.add_argument("--validity", action="store_true")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.validity:
        validity(options.streams, options.rounds, options.jobs)
        return
    table(2 if options.quick else options.seeds, options.quick)
    cost()


if __name__ == "__main__":
    main()
